//! Why a cycle is what it is: computation, conditions alone, or overhead of some kind, and what ran before and after it.

use petal_analysis::Class;
use petal_analysis::hotspots::reason;
use petal_metadata::Id as _;
use petal_reconstruct::{Activity, Charge, InstanceId, Node, instance_path};
use petal_table::terms::Term;

use crate::recording::Recording;
use crate::threads::Thread;

/// What a cycle is, in a word or two: `overhead: FSM update of seq@L12`.
pub(crate) fn class(recording: &Recording, cycle: u64) -> String {
    let Some(tree) = recording.tree(cycle) else {
        return "not kept".to_owned();
    };
    match Class::of(recording.metadata(), tree) {
        Class::Computation => "computation".to_owned(),
        Class::Conditions => "conditions".to_owned(),
        Class::Overhead(instance, charge) => {
            let component = recording.instances()[instance.index()].component;
            let charge = recording.labels().charge(component, charge);
            format!("overhead: {charge}")
        }
    }
}

/// Why, in sentences. `threads` are those of the cycle, of the stretch before it, and of the one after it.
pub(crate) fn why(
    recording: &Recording,
    cycle: u64,
    [now, before, after]: [&[Thread]; 3],
) -> Vec<String> {
    let Some(tree) = recording.tree(cycle) else {
        let text = "the trace does not have this cycle: windows were asked for, and none keeps it";
        return vec![text.to_owned()];
    };
    let span = recording.span(recording.stretch(cycle));
    let names = |threads: &[Thread]| {
        let names = threads.iter().filter_map(|thread| thread.frames.first());
        let names: Vec<String> = names.map(|frame| format!("`{}`", frame.label)).collect();
        names.join(" and ")
    };
    let class = Class::of(recording.metadata(), tree);
    let mut sentences = vec![match class {
        Class::Computation => format!("it is computation, by {}", names(now)),
        Class::Conditions => format!("nothing but a condition is computed, by {}", names(now)),
        Class::Overhead(instance, charge) => overhead(recording, instance, charge),
    }];
    let charged = match class {
        Class::Overhead(instance, _) => Some(instance),
        Class::Computation | Class::Conditions => None,
    };
    // What other cells do beside it.
    for (_, node) in tree.nodes() {
        if let Node::Cell {
            instance,
            activity: Activity::Overhead(charge),
            ..
        } = node
            && Some(instance) != charged
        {
            let component = recording.instances()[instance.index()].component;
            let path = instance_path(recording.metadata(), recording.instances(), instance);
            let charge = recording.labels().charge(component, charge);
            sentences.push(format!(
                "beside it, control moves along in {path}, which costs the run nothing: {charge}"
            ));
        }
    }
    if span.end - span.start > 1 {
        let (first, last) = (span.start, span.end - 1);
        sentences.push(format!("it is the same from cycle {first} to {last}"));
    }
    if let Some(last) = span.start.checked_sub(1) {
        sentences.push(match before {
            [] => format!("cycle {last} before it was not kept"),
            before => format!("before it, in cycle {last}: {}", names(before)),
        });
    }
    sentences.push(match after {
        _ if span.end == recording.cycles() => "the run ends after it".to_owned(),
        [] => format!("cycle {} after it was not kept", span.end),
        after => format!("after it, in cycle {}: {}", span.end, names(after)),
    });
    sentences
}

/// What an overhead cycle is lost for.
fn overhead(recording: &Recording, instance: InstanceId, charge: Charge) -> String {
    let metadata = recording.metadata();
    let id = recording.instances()[instance.index()].component;
    let component = metadata.component(id);
    let path = instance_path(metadata, recording.instances(), instance);
    let text = recording.labels().charge(id, charge);
    let mut sentence = format!("it is overhead, {text} in {path}");
    if let Some(statement) = charge.statement {
        let (section, reason) = reason(component.node(statement).kind, charge.kind);
        sentence = format!("{sentence}: {reason} ({})", section.link());
    }
    match Term::find(charge.kind.title()) {
        Some(term) => format!("{sentence}. {}", term.meaning.trim_end_matches('.')),
        None => sentence,
    }
}
