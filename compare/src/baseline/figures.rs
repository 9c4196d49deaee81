//! The figures of a run, gathered by source identity: what inlining copied counts for its original.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{
    Component, ComponentId, ControlId, GroupId, Id, Metadata, Origin, Span, labels,
};
use petal_reconstruct::{FrameLabels, Node};

use super::{
    Baseline, CellFigures, FileIdentity, FlameNode, Frame, FrontEndPlace, GroupFigures,
    SourcePlace, StatementFigures, VERSION,
};
use petal_analysis::Analysis;
use petal_analysis::activations::Activations;
use petal_analysis::control::Counts;
use petal_analysis::front_end::front_end_file;
use petal_analysis::leaves::overhead_label;
use petal_analysis::leaves::{Leaf, OverheadLeaf, Weighting, leaves, units};
use petal_analysis::ledger::{ByKind, Class, Ledger};
use petal_analysis::profile::Profile;
use petal_analysis::sources::{Sources, digest};
use petal_analysis::{cells, groups};

impl Baseline {
    /// The baseline of a run of the design `design`, which ended early if `stopped` tells why.
    pub fn new(analysis: &Analysis<'_>, design: &str, stopped: Option<String>) -> Self {
        let (metadata, profile) = (analysis.metadata(), analysis.profile());
        let (ledger, activations) = (analysis.ledger(), analysis.activations());
        let sources = Sources::new(metadata);
        let groups = GroupIndex::new(metadata, &sources, activations);
        let statements = StatementIndex::new(metadata, &sources, ledger, activations);
        let (frames, flame) = flame(metadata, profile, &groups, &statements);
        Self {
            version: VERSION,
            petal: metadata.petal.clone(),
            calyx: metadata.calyx.clone(),
            design: design.to_owned(),
            passes: metadata.pipeline.clone(),
            data: None,
            data_digest: None,
            stopped,
            verified: metadata.verified,
            warnings: profile.warnings().len() as u64,
            cycles: profile.total(),
            useful: ledger.useful(),
            conditions: ledger.conditions,
            overhead: ledger.overhead,
            unplaced: ledger.unplaced,
            files: metadata
                .files
                .iter()
                .map(|file| FileIdentity {
                    name: file.name.clone(),
                    digest: digest(&file.text),
                })
                .collect(),
            cells: cell_figures(metadata, profile, activations),
            groups: groups.figures,
            statements: statements.figures,
            frames,
            flame,
            latencies: Vec::new(),
            counters: Vec::new(),
            accesses: Vec::new(),
            checkpoints: Vec::new(),
            stamps: Vec::new(),
            period: None,
            synthesis: None,
        }
    }
}

fn cell_figures(
    metadata: &Metadata,
    profile: &Profile,
    activations: &Activations<'_>,
) -> Vec<CellFigures> {
    let instances = profile.instances();
    cells::sums(profile, activations)
        .into_iter()
        .map(|(id, sums)| CellFigures {
            path: cells::path(metadata, instances, id),
            component: metadata
                .component(instances[id.index()].component)
                .name
                .clone(),
            times: sums.times,
            cycles: sums.cycles(),
            busy: sums.busy,
            control: sums.control,
        })
        .collect()
}

/// The component in whose source something of `component` is written.
fn definer<'a>(component: &'a Component, origin: &'a Origin) -> &'a str {
    match origin {
        Origin::Inlined(from) => from,
        Origin::Source | Origin::Compiler => &component.name,
    }
}

/// The groups of the source.
struct GroupIndex {
    figures: Vec<GroupFigures>,
    positions: BTreeMap<(ComponentId, GroupId), usize>,
}

impl GroupIndex {
    fn new(metadata: &Metadata, sources: &Sources<'_>, activations: &Activations<'_>) -> Self {
        let mut by_name: BTreeMap<(&str, &str), Vec<_>> = BTreeMap::new();
        for (key, durations) in groups::durations(metadata, activations) {
            let component = metadata.component(key.0);
            let group = component.group(key.1);
            // Groups that the compiler made have no identity but the statement that they serve.
            if group.origin != Origin::Compiler {
                let name = (definer(component, &group.origin), group.name.as_str());
                by_name.entry(name).or_default().push((key, durations));
            }
        }
        let mut index = Self {
            figures: Vec::new(),
            positions: BTreeMap::new(),
        };
        let all_effects = groups::Effects::new(metadata);
        for ((component, name), copies) in by_name {
            // There is no entry without a copy.
            let (first, group) = copies[0].0;
            let group = metadata.component(first).group(group);
            let mut effects: Vec<String> = Vec::new();
            for &((id, group), _) in &copies {
                for effect in all_effects.of(id, group) {
                    if !effects.contains(effect) {
                        effects.push(effect.clone());
                    }
                }
            }
            for (key, _) in &copies {
                index.positions.insert(*key, index.figures.len());
            }
            index.figures.push(GroupFigures {
                component: component.to_owned(),
                name: name.to_owned(),
                kind: groups::keyword(group.kind).to_owned(),
                body: group.span.map(|span| sources.digest_of_body(span, name)),
                times: copies.iter().map(|(_, durations)| durations.count).sum(),
                cycles: copies.iter().map(|(_, durations)| durations.total).sum(),
                effects,
            });
        }
        index
    }
}

/// The statements of the source.
struct StatementIndex {
    figures: Vec<StatementFigures>,
    positions: BTreeMap<(ComponentId, ControlId), usize>,
}

/// What tells a statement from the others of its component.
type Identity<'a> = (&'a str, Option<(usize, u32, u32)>, &'static str);

impl StatementIndex {
    fn new(
        metadata: &Metadata,
        sources: &Sources<'_>,
        ledger: &Ledger,
        activations: &Activations<'_>,
    ) -> Self {
        let mut by_identity: BTreeMap<Identity<'_>, Vec<(ComponentId, ControlId)>> =
            BTreeMap::new();
        for id in metadata.component_ids() {
            let component = metadata.component(id);
            for (at, node) in component.control.iter().enumerate() {
                let place = |span: Span| (span.file.index(), span.line, span.column);
                let identity = (
                    definer(component, &node.origin),
                    node.span.map(place),
                    node.kind.keyword(),
                );
                by_identity
                    .entry(identity)
                    .or_default()
                    .push((id, ControlId::from_index(at)));
            }
        }
        let positions: BTreeMap<(ComponentId, ControlId), usize> = by_identity
            .values()
            .enumerate()
            .flat_map(|(at, copies)| copies.iter().map(move |&copy| (copy, at)))
            .collect();
        let counts = Counts::of(metadata, activations);
        let written: Vec<Vec<String>> = metadata
            .components
            .iter()
            .map(|component| labels::control_places(metadata, component))
            .collect();
        let figures = by_identity
            .iter()
            .map(|(&(name, _, kind), copies)| {
                // There is no entry without a copy. The original has the shortest label.
                let original = copies
                    .iter()
                    .find(|(id, _)| metadata.component(*id).name == name)
                    .unwrap_or(&copies[0]);
                let component = metadata.component(original.0);
                let node = component.node(original.1);
                let head = node
                    .group
                    .map_or(kind, |group| &component.group(group).name);
                let written = &written[original.0.index()][original.1.index()];
                let mut figures = StatementFigures {
                    component: name.to_owned(),
                    label: format!("{head}@{written}"),
                    kind: kind.to_owned(),
                    text: node.span.map_or(String::new(), |span| sources.head(span)),
                    place: node.span.map(|span| SourcePlace {
                        file: span.file.index(),
                        line: span.line,
                        column: span.column,
                    }),
                    front_end: metadata.front_end.front(&node.positions).map(|position| {
                        let text = metadata.front_end.file(position.file).line(position.line);
                        FrontEndPlace {
                            file: front_end_file(metadata, position.file).to_owned(),
                            line: position.line,
                            text: text.map(str::to_owned),
                        }
                    }),
                    parent: parent(metadata, *original).map(|above| positions[&above]),
                    times: 0,
                    cycles: 0,
                    overhead: ByKind::default(),
                };
                for copy in copies {
                    figures.times += counts.active(copy.0, copy.1);
                    let Some(costs) = ledger.statements.get(copy) else {
                        continue;
                    };
                    figures.cycles += costs.cycles;
                    for (sum, cycles) in figures.overhead.iter_mut().zip(costs.overhead) {
                        *sum += cycles;
                    }
                }
                figures
            })
            .collect();
        Self { figures, positions }
    }
}

/// The statement of the same component's source that contains a statement.
fn parent(
    metadata: &Metadata,
    (id, at): (ComponentId, ControlId),
) -> Option<(ComponentId, ControlId)> {
    let component = metadata.component(id);
    let above = component.node(at).parent?;
    (component.node(above).origin == component.node(at).origin).then_some((id, above))
}

/// The flame graph that adds up to the run, with overhead as leaves of its own.
fn flame(
    metadata: &Metadata,
    profile: &Profile,
    groups: &GroupIndex,
    statements: &StatementIndex,
) -> (Vec<Frame>, Vec<FlameNode>) {
    let labels = FrameLabels::new(metadata);
    let frame = |node: Node| {
        let listed = match node {
            Node::Control { component, control } => statements
                .positions
                .get(&(component, control))
                .map(|&at| Frame::Statement(at)),
            Node::Group {
                component, group, ..
            } => groups
                .positions
                .get(&(component, group))
                .map(|&at| Frame::Group(at)),
            _ => None,
        };
        listed.unwrap_or_else(|| Frame::Label(labels.label(node, profile.instances()).to_owned()))
    };
    let instances = profile.instances();
    let units = units(profile, Weighting::Scaled);
    let mut stacks: BTreeMap<Vec<Frame>, u128> = BTreeMap::new();
    for (tree, cycles) in profile.trees().filter(|&(_, cycles)| cycles > 0) {
        let class = Class::of(metadata, tree);
        let overhead = OverheadLeaf::new(metadata, instances, tree, class);
        let whole = u128::from(cycles) * units;
        let path = |id| tree.path(id).into_iter().map(|id| frame(tree.node(id)));
        for (leaf, weight) in leaves(tree, overhead.as_ref(), Weighting::Scaled, whole) {
            let stack: Vec<Frame> = match (leaf, &overhead) {
                (Leaf::Node(id), _) => path(id).collect(),
                (Leaf::Overhead, Some(overhead)) => path(overhead.above)
                    .chain(overhead.missing.iter().map(|&node| frame(node)))
                    .chain([Frame::Label(overhead_label(overhead.kind))])
                    .collect(),
                (Leaf::Overhead, None) => continue,
            };
            *stacks.entry(stack).or_default() += weight;
        }
    }
    let frames: Vec<Frame> = stacks
        .keys()
        .flatten()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .cloned()
        .collect();
    let positions: BTreeMap<&Frame, usize> = frames.iter().zip(0..).collect();
    let mut nodes: Vec<FlameNode> = Vec::new();
    let mut above: &[Frame] = &[];
    // Rounded so that all together are the cycles.
    let mut sum = 0;
    let thousandths = |weight: u128| u64::try_from(weight * 1000 / units).unwrap_or(u64::MAX);
    for (stack, &weight) in &stacks {
        let before = thousandths(sum);
        sum += weight;
        let common = above.iter().zip(stack).take_while(|(a, b)| a == b).count();
        for (depth, frame) in stack.iter().enumerate().skip(common) {
            nodes.push(FlameNode(depth, positions[frame], 0));
        }
        // Stacks differ and none comes before one that it continues, so the last node is this one's.
        if let Some(last) = nodes.last_mut() {
            last.2 = thousandths(sum) - before;
        }
        above = stack;
    }
    (frames, nodes)
}
