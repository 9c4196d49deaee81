//! The table `cycles`: which call tree the run had when, and what its cycles went to. The lengths of its rows add up to the run.

use arrow_array::{Int32Array, RecordBatch};
use petal_analysis::Class;
use petal_analysis::sites::Sites;
use petal_metadata::{Id as _, Metadata, labels};
use petal_reconstruct::{Event, Instance, Run, instance_path};

use super::schema::BATCH;
use super::schema::Table;
use petal_table::arrow::TableError;
use petal_table::arrow::{Dictionary, numbers};

/// Makes the rows.
pub(super) struct Cycles<'a> {
    metadata: &'a Metadata,
    sites: Sites<'a>,
    instances: Vec<Instance>,
    /// What the cycles of each tree went to.
    costs: Vec<Cost>,
    rows: Vec<Run>,
    kinds: Dictionary,
    cells: Dictionary,
    components: Dictionary,
    statements: Dictionary,
    numbers: Dictionary,
}

/// What a cycle went to: numbers of texts.
#[derive(Debug, Clone, Copy)]
struct Cost {
    kind: i32,
    cell: Option<i32>,
    component: Option<i32>,
    statement: Option<i32>,
    line: Option<u64>,
    site: Option<i32>,
}

impl<'a> Cycles<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            sites: Sites::new(metadata),
            instances: Vec::new(),
            costs: Vec::new(),
            rows: Vec::new(),
            kinds: Dictionary::new(),
            cells: Dictionary::new(),
            components: Dictionary::new(),
            statements: Dictionary::new(),
            numbers: Dictionary::new(),
        }
    }

    pub fn event(&mut self, event: &Event) -> Result<Option<RecordBatch>, TableError> {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let cost = self.cost(Class::of(self.metadata, tree))?;
                self.costs.push(cost);
            }
            Event::Run(run) => {
                self.rows.push(*run);
                if self.rows.len() >= BATCH {
                    return self.batch().map(Some);
                }
            }
            Event::End { .. } if !self.rows.is_empty() => return self.batch().map(Some),
            _ => {}
        }
        Ok(None)
    }

    fn cost(&mut self, class: Class) -> Result<Cost, TableError> {
        let (instance, charge) = match class {
            Class::Computation => return self.useful("computation"),
            Class::Conditions => return self.useful("conditions"),
            Class::Overhead(instance, charge) => (instance, charge),
        };
        let id = self.instances[instance.index()].component;
        let component = self.metadata.component(id);
        let cell = instance_path(self.metadata, &self.instances, instance);
        let mut cost = Cost {
            kind: self.kinds.number(&charge.kind.to_string())?,
            cell: Some(self.cells.number(&cell)?),
            component: Some(self.components.number(&component.name)?),
            statement: None,
            line: None,
            site: None,
        };
        if let Some(statement) = charge.statement {
            let node = component.node(statement);
            // As the table of statements calls it.
            let name = match node.group {
                Some(group) => labels::group_labels(component).swap_remove(group.index()),
                None => {
                    labels::control_labels(self.metadata, component).swap_remove(statement.index())
                }
            };
            cost.statement = Some(self.statements.number(&name)?);
            cost.line = node.span.map(|span| span.line.into());
            let site = self.sites.statement(id, &cell, statement);
            let site = site.map(|site| self.numbers.number(&site.to_string()));
            cost.site = site.transpose()?;
        }
        Ok(cost)
    }

    fn useful(&mut self, kind: &str) -> Result<Cost, TableError> {
        Ok(Cost {
            kind: self.kinds.number(kind)?,
            cell: None,
            component: None,
            statement: None,
            line: None,
            site: None,
        })
    }

    fn batch(&mut self) -> Result<RecordBatch, TableError> {
        let rows = std::mem::take(&mut self.rows);
        let costs: Vec<Cost> = rows
            .iter()
            .map(|run| self.costs[run.tree.index()])
            .collect();
        let all = |of: fn(&Cost) -> Option<i32>| costs.iter().map(of).collect::<Int32Array>();
        let columns = vec![
            numbers(rows.iter().map(|run| Some(run.start.cycles())))?,
            numbers(rows.iter().map(|run| Some(run.cycles)))?,
            numbers(rows.iter().map(|run| Some(run.tree.index() as u64)))?,
            self.kinds.column(all(|cost| Some(cost.kind)))?,
            self.cells.column(all(|cost| cost.cell))?,
            self.components.column(all(|cost| cost.component))?,
            self.statements.column(all(|cost| cost.statement))?,
            numbers(costs.iter().map(|cost| cost.line))?,
            self.numbers.column(all(|cost| cost.site))?,
        ];
        Ok(RecordBatch::try_new(Table::Cycles.schema(), columns)?)
    }
}
