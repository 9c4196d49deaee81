//! The table `trees`: the nodes of the different call trees, in preorder.

use arrow_array::RecordBatch;
use petal_analysis::elements::Element;
use petal_analysis::sites::Sites;
use petal_metadata::{Id as _, Metadata, SiteId};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Node, instance_path};

use super::schema::BATCH;
use super::schema::Table;
use petal_table::arrow::TableError;
use petal_table::arrow::{Dictionary, numbers};

/// Makes the rows.
pub(super) struct Trees<'a> {
    metadata: &'a Metadata,
    sites: Sites<'a>,
    instances: Vec<Instance>,
    /// The number of the next tree.
    next: u64,
    rows: TreeRows,
    kinds: Dictionary,
    components: Dictionary,
    paths: Dictionary,
    numbers: Dictionary,
}

#[derive(Default)]
struct TreeRows {
    tree: Vec<Option<u64>>,
    node: Vec<Option<u64>>,
    parent: Vec<Option<u64>>,
    depth: Vec<Option<u64>>,
    kind: Vec<i32>,
    component: Vec<i32>,
    path: Vec<i32>,
    site: Vec<Option<i32>>,
}

impl<'a> Trees<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            sites: Sites::new(metadata),
            instances: Vec::new(),
            next: 0,
            rows: TreeRows::default(),
            kinds: Dictionary::new(),
            components: Dictionary::new(),
            paths: Dictionary::new(),
            numbers: Dictionary::new(),
        }
    }

    pub fn event(&mut self, event: &Event) -> Result<Option<RecordBatch>, TableError> {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                self.tree(tree)?;
                if self.rows.tree.len() >= BATCH {
                    return self.batch().map(Some);
                }
            }
            Event::End { .. } if !self.rows.tree.is_empty() => return self.batch().map(Some),
            _ => {}
        }
        Ok(None)
    }

    fn tree(&mut self, tree: &CallTree) -> Result<(), TableError> {
        for ((depth, node, holder), (id, _)) in tree.with_holders().zip(tree.nodes()) {
            let rows = &mut self.rows;
            rows.tree.push(Some(self.next));
            rows.node.push(Some(id.index() as u64));
            let parent = tree.parent(id).map(|parent| parent.index() as u64);
            rows.parent.push(parent);
            rows.depth.push(Some(depth as u64));
            let (kind, component, path) = self.describe(node, holder);
            self.rows.kind.push(self.kinds.number(kind)?);
            let component = &self.metadata.component(component).name;
            self.rows.component.push(self.components.number(component)?);
            self.rows.path.push(self.paths.number(&path)?);
            let site = self.site(node, holder);
            let site = site.map(|site| self.numbers.number(&site.to_string()));
            self.rows.site.push(site.transpose()?);
        }
        self.next += 1;
        Ok(())
    }

    /// The number of a node that is held by this cell.
    fn site(&self, node: Node, holder: Option<InstanceId>) -> Option<SiteId> {
        let element = Element::of(node, holder)?;
        let component = self.instances[element.instance.index()].component;
        let holder = instance_path(self.metadata, &self.instances, element.instance);
        Some(self.sites.of(component, &holder, element.kind).id)
    }

    /// The kind of a node that is held by this cell, the component that it is of or in, and its path.
    fn describe(
        &self,
        node: Node,
        holder: Option<InstanceId>,
    ) -> (&'static str, petal_metadata::ComponentId, String) {
        let path = |instance| instance_path(self.metadata, &self.instances, instance);
        let holder = holder.map_or_else(String::new, path);
        match node {
            Node::Cell { instance, .. } => {
                let component = self.instances[instance.index()].component;
                ("cell", component, path(instance))
            }
            Node::Control { component, control } => {
                let label = self.sites.labels().control(component, control);
                ("control", component, format!("{holder}.{label}"))
            }
            Node::Group {
                component, group, ..
            } => {
                let name = self.sites.labels().group(component, group);
                ("group", component, format!("{holder}.{name}"))
            }
            Node::Continuous { component } => ("continuous", component, holder),
            Node::Primitive {
                component, cell, ..
            } => {
                let name = &self.metadata.component(component).cell(cell).name;
                ("primitive", component, format!("{holder}.{name}"))
            }
        }
    }

    fn batch(&mut self) -> Result<RecordBatch, TableError> {
        let rows = std::mem::take(&mut self.rows);
        let columns = vec![
            numbers(rows.tree)?,
            numbers(rows.node)?,
            numbers(rows.parent)?,
            numbers(rows.depth)?,
            self.kinds.column(rows.kind)?,
            self.components.column(rows.component)?,
            self.paths.column(rows.path)?,
            self.numbers.column(rows.site)?,
        ];
        Ok(RecordBatch::try_new(Table::Trees.schema(), columns)?)
    }
}
