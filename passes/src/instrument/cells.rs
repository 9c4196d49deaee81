//! Probes as cells: their primitive, their names and the cells themselves.
//!
//! A probe is a cell of an inline primitive with one input and no output. It is no `comb`
//! primitive, so assignments to it are kept; it is `@external`, so the cell is kept.

use calyx_frontend::{PortDef, Primitive, Width};
use calyx_ir as ir;
use petal_metadata::{ProbeKind, ProbeName, ProbePrefix};

/// All names that a probe must not be mistaken for.
pub(super) fn all_names(ctx: &ir::Context) -> Vec<String> {
    let mut names: Vec<String> = ctx
        .lib
        .signatures()
        .map(|primitive| primitive.name.to_string())
        .collect();
    for component in &ctx.components {
        names.push(component.name.to_string());
        names.extend(
            component
                .cells
                .iter()
                .map(|cell| cell.borrow().name().to_string()),
        );
        names.extend(
            component
                .get_groups()
                .iter()
                .map(|g| g.borrow().name().to_string()),
        );
        names.extend(
            component
                .get_static_groups()
                .iter()
                .map(|g| g.borrow().name().to_string()),
        );
        names.extend(
            component
                .signature
                .borrow()
                .ports
                .iter()
                .map(|port| port.borrow().name.to_string()),
        );
    }
    names
}

fn primitive_name(prefix: &ProbePrefix) -> String {
    prefix.named("probe")
}

/// Whether a cell is of the probes' primitive.
pub(crate) fn is_probe(cell: &ir::Cell, prefix: &ProbePrefix) -> bool {
    cell.is_primitive(Some(primitive_name(prefix)))
}

/// Adds the probes' primitive to the library.
pub(super) fn add_primitive(ctx: &mut ir::Context, prefix: &ProbePrefix) {
    // Not parsed from text: the parser writes to a table of positions that other threads may read.
    ctx.lib.add_inline_primitive(Primitive {
        name: primitive_name(prefix).into(),
        params: Vec::new(),
        signature: vec![PortDef::new(
            "in",
            Width::Const { value: 1 },
            ir::Direction::Input,
            ir::Attributes::default(),
        )],
        attributes: ir::Attributes::default(),
        is_comb: false,
        latency: None,
        body: Some(String::new()),
    });
}

/// Adds a cell of the probes' primitive to the component of `builder`.
pub(crate) fn add_cell(
    builder: &mut ir::Builder<'_>,
    name: &str,
    prefix: &ProbePrefix,
) -> ir::RRC<ir::Cell> {
    let cell = builder.add_primitive(name, primitive_name(prefix), &[]);
    cell.borrow_mut().add_attribute(ir::BoolAttr::External, 1);
    cell
}

/// Adds a probe cell to the component of `builder`.
pub(super) fn add_probe(
    builder: &mut ir::Builder<'_>,
    count: &mut u32,
    kind: ProbeKind,
    prefix: &ProbePrefix,
) -> (ProbeName, ir::RRC<ir::Port>) {
    let probe = ProbeName {
        kind,
        number: *count,
    };
    *count += 1;
    let cell = add_cell(builder, &probe.cell(prefix), prefix);
    let port = cell.borrow().get("in");
    (probe, port)
}

/// Adds a probe cell to the component of `builder`, with the assignment that drives it while `guard`
/// holds: for the caller to put where it is to hold.
pub(crate) fn add_guarded_probe<T>(
    builder: &mut ir::Builder<'_>,
    count: &mut u32,
    kind: ProbeKind,
    prefix: &ProbePrefix,
    guard: ir::Guard<T>,
) -> (ProbeName, ir::Assignment<T>) {
    let number = *count;
    *count += 1;
    let probe = ProbeName { kind, number };
    (probe, add_named_probe(builder, probe, prefix, guard))
}

/// The same for a probe that has its name already.
pub(crate) fn add_named_probe<T>(
    builder: &mut ir::Builder<'_>,
    probe: ProbeName,
    prefix: &ProbePrefix,
    guard: ir::Guard<T>,
) -> ir::Assignment<T> {
    let cell = add_cell(builder, &probe.cell(prefix), prefix);
    let on = builder.add_constant(1, 1);
    let port = cell.borrow().get("in");
    let mut assignment = ir::Assignment::new(port, on.borrow().get("out"));
    *assignment.guard = guard;
    assignment
}
