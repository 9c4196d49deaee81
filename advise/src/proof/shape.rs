//! Statements and groups as text, without what does not matter to what they do.

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::ports_of;
use petal_program::tree::View;

/// The body of a group, of any kind.
pub(super) fn body(component: &ir::Component, name: ir::Id) -> Option<String> {
    if let Some(group) = component.find_group(name) {
        return Some(written(|to| {
            ir::Printer::write_group(&group.borrow(), 0, to)
        }));
    }
    if let Some(group) = component.find_static_group(name) {
        let group = group.borrow();
        return Some(written(|to| ir::Printer::write_static_group(&group, 0, to)));
    }
    component.find_comb_group(name).as_ref().map(comb_text)
}

pub(super) fn comb_text(group: &ir::RRC<ir::CombGroup>) -> String {
    written(|to| ir::Printer::write_comb_group(&group.borrow(), 0, to))
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut text = Vec::new();
    // Nothing fails that writes to memory.
    let _ = write(&mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

pub(super) fn texts(views: &[View<'_>]) -> String {
    views
        .iter()
        .map(|view| shape(*view))
        .collect::<Vec<_>>()
        .join(" ")
}

/// In the order of names, which is the same in each run.
pub(super) fn by_name(names: BTreeSet<ir::Id>) -> Vec<ir::Id> {
    let mut names: Vec<ir::Id> = names.into_iter().collect();
    names.sort_by(|one, other| one.as_ref().cmp(other.as_ref()));
    names
}

/// The bodies of the groups and comb groups that statements name.
pub(super) fn bodies(component: &ir::Component, views: &[View<'_>]) -> String {
    let mut names = BTreeSet::new();
    for view in views {
        view.walk(&mut |view| {
            names.extend(view.group().map(|group| group.name()));
            names.extend(view.comb_group().map(|group| group.borrow().name()));
        });
    }
    let bodies = by_name(names).into_iter();
    let bodies = bodies.filter_map(|name| body(component, name));
    bodies.collect::<Vec<_>>().join("\n")
}

/// A statement as text, with the bodies of its groups and all continuous assignments.
pub(super) fn whole(component: &ir::Component, view: View<'_>) -> String {
    let wires = component.continuous_assignments.iter();
    let wires: Vec<String> = wires.map(ir::Printer::assignment_to_str).collect();
    let bodies = bodies(component, &[view]);
    format!("{}\n{bodies}\n{}", shape(view), wires.join("\n"))
}

/// A letter for what a statement is, static or not.
pub(super) fn kind(view: View<'_>) -> char {
    match view.kind() {
        ControlKind::Seq | ControlKind::StaticSeq => 's',
        ControlKind::Par | ControlKind::StaticPar => 'p',
        ControlKind::If | ControlKind::StaticIf => 'i',
        ControlKind::While => 'w',
        ControlKind::Repeat | ControlKind::StaticRepeat => 'r',
        ControlKind::Enable | ControlKind::StaticEnable => 'e',
        ControlKind::Empty => '-',
        _ => 'v',
    }
}

pub(super) fn is_list(view: View<'_>) -> bool {
    matches!(kind(view), 's' | 'p')
}

pub(super) fn is_conditional(view: View<'_>) -> bool {
    matches!(kind(view), 'i' | 'w')
}

pub(super) fn has_loops(view: View<'_>) -> bool {
    let mut found = false;
    view.walk(&mut |view| found |= matches!(kind(view), 'w' | 'r'));
    found
}

/// Whether one may have become the other, with something else in it.
pub(super) fn is_like(one: View<'_>, other: View<'_>) -> bool {
    shape(one) == shape(other) || kind(one) == kind(other) && !matches!(kind(one), 'e' | 'v')
}

/// A statement without what is below it.
pub(super) fn head(view: View<'_>) -> String {
    let port = |view: View<'_>| {
        let (read, _) = ports_of(view);
        let ports = read.iter().map(|port| {
            let port = port.borrow();
            format!("{}.{}", port.get_parent_name(), port.name)
        });
        ports.collect::<Vec<_>>().join(", ")
    };
    let with = view.comb_group().map_or_else(String::new, |comb| {
        format!(" with {}", comb.borrow().name())
    });
    match kind(view) {
        's' => "seq".to_owned(),
        'p' => "par".to_owned(),
        'i' => format!("if {}{with}", port(view)),
        'w' => format!("while {}{with}", port(view)),
        'r' => format!("repeat {}", view.repeats().unwrap_or(0)),
        'e' => view
            .group()
            .map_or_else(String::new, |group| format!("{};", group.name())),
        '-' => String::new(),
        _ => {
            let cell = view.invoked().map(|cell| cell.borrow().name().to_string());
            let handed = view.handed_over().into_iter();
            let handed: Vec<String> = handed
                .map(|(one, other)| format!("{one} = {other}"))
                .collect();
            let [inputs, outputs] = bound(view);
            let (cell, handed) = (cell.unwrap_or_default(), handed.join(", "));
            format!("invoke {cell}[{handed}]({inputs})({outputs}){with};")
        }
    }
}

/// What a call binds the inputs and outputs of what it runs to.
fn bound(view: View<'_>) -> [String; 2] {
    let (inputs, outputs) = match view {
        View::Dynamic(ir::Control::Invoke(of)) => (&of.inputs, &of.outputs),
        View::Static(ir::StaticControl::Invoke(of)) => (&of.inputs, &of.outputs),
        _ => return Default::default(),
    };
    [inputs, outputs].map(|all| {
        let all = all.iter().map(|(name, port)| {
            let port = port.borrow();
            format!("{name} = {}.{}", port.get_parent_name(), port.name)
        });
        all.collect::<Vec<_>>().join(", ")
    })
}

/// A statement with all that is below it.
pub(super) fn shape(view: View<'_>) -> String {
    let children = view.children();
    let head = head(view);
    if children.is_empty() {
        return head;
    }
    let inner: Vec<String> = children.into_iter().map(shape).collect();
    match (kind(view), &*inner) {
        ('i', [then, otherwise]) if otherwise.is_empty() => format!("{head} {{ {then} }}"),
        ('i', [then, otherwise]) => format!("{head} {{ {then} }} else {{ {otherwise} }}"),
        _ => format!("{head} {{ {} }}", inner.join(" ")),
    }
}
