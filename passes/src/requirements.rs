//! Which passes a design needs: constructs that control compilation can't take have to be compiled
//! away before, else the Calyx compiler fails without naming a place.

use std::fmt::Write as _;

use calyx_ir as ir;
use calyx_utils::WithPos;
use petal_metadata::ControlKind;
use petal_program::tree::View;

use crate::error::PassesError;

/// A construct, and the passes of which one has to run.
struct Requirement {
    construct: &'static str,
    passes: &'static [&'static str],
    applies: fn(View<'_>) -> bool,
}

const REQUIREMENTS: [Requirement; 4] = [
    Requirement {
        construct: "`repeat`",
        passes: &[REPEAT],
        applies: |view| view.kind() == ControlKind::Repeat,
    },
    Requirement {
        construct: "`invoke`",
        passes: &["compile-invoke"],
        applies: |view| matches!(view.kind(), ControlKind::Invoke | ControlKind::StaticInvoke),
    },
    Requirement {
        construct: "`with`",
        passes: &["simplify-with-control"],
        applies: |view| {
            matches!(view.kind(), ControlKind::If | ControlKind::While)
                && view.comb_group().is_some()
        },
    },
    Requirement {
        construct: "`@sync`",
        passes: &["compile-sync", "compile-sync-without-sync-reg"],
        applies: |view| {
            view.kind() == ControlKind::Empty && view.attributes().has(ir::NumAttr::Sync)
        },
    },
];

/// The pass that compiles `repeat`. `no-opt` lacks it.
pub(crate) const REPEAT: &str = "compile-repeat";

/// The passes of the stock pipeline without optimisations, with one more if the design has what it can't take; that one.
pub(crate) fn completed(
    ctx: &ir::Context,
    passes: &[String],
    before: &[&str],
) -> (Vec<String>, Option<&'static str>) {
    let mut repeats = false;
    for component in &ctx.components {
        View::of(&component.control.borrow())
            .walk(&mut |view| repeats |= view.kind() == ControlKind::Repeat);
    }
    let mut passes = passes.to_vec();
    let at = passes.iter().position(|pass| before.contains(&&**pass));
    match at {
        Some(at) if repeats && !passes.iter().any(|pass| pass == REPEAT) => {
            passes.insert(at, REPEAT.to_owned());
            (passes, Some(REPEAT))
        }
        _ => (passes, None),
    }
}

/// Checks that `passes` can take all constructs of the design.
///
/// # Errors
/// With every place of every construct that they can't.
pub(crate) fn check(ctx: &ir::Context, passes: &[String]) -> Result<(), PassesError> {
    let mut problems = String::new();
    for requirement in REQUIREMENTS {
        if requirement
            .passes
            .iter()
            .any(|needed| passes.iter().any(|pass| pass == needed))
        {
            continue;
        }
        for component in &ctx.components {
            View::of(&component.control.borrow()).walk(&mut |view| {
                if (requirement.applies)(view) {
                    let message = format!(
                        "{} needs the pass {}",
                        requirement.construct,
                        requirement.passes.join(" or ")
                    );
                    let _ = match view.attributes().copy_span().into_option() {
                        Some(place) => writeln!(problems, "{}", place.format(message)),
                        None => writeln!(problems, "{}: {message}", component.name),
                    };
                }
            });
        }
    }
    if !problems.is_empty() {
        return Err(PassesError::Unsupported {
            places: problems.trim_end().to_owned(),
        });
    }
    if passes.iter().any(|pass| pass == "inline") {
        check_inlining(ctx)?;
    }
    if passes.iter().any(|pass| pass == "cell-share") {
        for component in &ctx.components {
            check_loops(View::of(&component.control.borrow()), 0)?;
        }
    }
    Ok(())
}

/// `inline` copies an invoke, but what the copy hands over are still the cells of the original.
fn check_inlining(ctx: &ir::Context) -> Result<(), PassesError> {
    let is_inlined = |cell: &ir::Cell| cell.get_attribute(ir::BoolAttr::Inline).is_some();
    let hands_over = |component: &ir::Component| {
        let mut hands_over = false;
        View::of(&component.control.borrow()).walk(&mut |view| {
            let stays = |cell: &ir::RRC<ir::Cell>| !is_inlined(&cell.borrow());
            hands_over |= !view.handed_over().is_empty() && view.invoked().is_some_and(stays);
        });
        hands_over
    };
    let broken: Vec<ir::Id> = ctx
        .components
        .iter()
        .filter(|c| hands_over(c))
        .map(|c| c.name)
        .collect();
    for component in &ctx.components {
        for cell in component.cells.iter().map(|cell| cell.borrow()) {
            if is_inlined(&cell) && cell.type_name().is_some_and(|name| broken.contains(&name)) {
                let place = cell.attributes.copy_span().into_option();
                return Err(PassesError::Inlined {
                    cell: cell.name().to_string(),
                    place: place
                        .map_or_else(String::new, |place| place.format("").trim_end().to_owned()),
                });
            }
        }
    }
    Ok(())
}

/// How many intervals `cell-share` may list, in all: these take seconds and a quarter of a gigabyte.
const MAX_INTERVALS: u128 = 1 << 24;

/// Checks that a pass comes to an end with the control that it gets.
///
/// # Errors
/// [`PassesError::Unrolled`] for the first component with which it does not.
pub(crate) fn check_pass(ctx: &ir::Context, pass: &str) -> Result<(), PassesError> {
    if pass != "cell-share" {
        return Ok(());
    }
    for component in &ctx.components {
        // It lists for each cell when it is in use. To go through a statement takes as long as one more cell.
        let cells = component.cells.iter().count() as u128;
        let steps = steps(&component.control.borrow());
        if steps.saturating_mul(cells + 1) > MAX_INTERVALS {
            return Err(PassesError::Unrolled {
                component: component.name.to_string(),
                steps,
            });
        }
    }
    Ok(())
}

/// How many statements `cell-share` goes through below the `static par`s: each iteration anew.
fn steps(control: &ir::Control) -> u128 {
    let all = |stmts: &[ir::Control]| stmts.iter().map(steps).fold(0, u128::saturating_add);
    match control {
        ir::Control::Static(control) => static_steps(control, false),
        ir::Control::Seq(ir::Seq { stmts, .. }) | ir::Control::Par(ir::Par { stmts, .. }) => {
            all(stmts)
        }
        ir::Control::If(ir::If {
            tbranch, fbranch, ..
        }) => steps(tbranch).saturating_add(steps(fbranch)),
        ir::Control::While(ir::While { body, .. })
        | ir::Control::Repeat(ir::Repeat { body, .. }) => steps(body),
        _ => 0,
    }
}

fn static_steps(control: &ir::StaticControl, in_par: bool) -> u128 {
    let all = |stmts: &[ir::StaticControl], in_par| {
        let steps = stmts.iter().map(|stmt| static_steps(stmt, in_par));
        steps.fold(0, u128::saturating_add)
    };
    match control {
        ir::StaticControl::Repeat(ir::StaticRepeat {
            body, num_repeats, ..
        }) => {
            let times = if in_par { u128::from(*num_repeats) } else { 1 };
            static_steps(body, in_par).saturating_mul(times)
        }
        ir::StaticControl::Seq(ir::StaticSeq { stmts, .. }) => all(stmts, in_par),
        ir::StaticControl::Par(ir::StaticPar { stmts, .. }) => all(stmts, true),
        ir::StaticControl::If(ir::StaticIf {
            tbranch, fbranch, ..
        }) => static_steps(tbranch, in_par).saturating_add(static_steps(fbranch, in_par)),
        ir::StaticControl::Enable(_) | ir::StaticControl::Invoke(_) => u128::from(in_par),
        ir::StaticControl::Empty(_) => 0,
    }
}

/// How many loops may be around one another for `cell-share`: these take seconds.
const MAX_LOOPS: u32 = 20;

fn check_loops(view: View<'_>, around: u32) -> Result<(), PassesError> {
    let depth = around + u32::from(view.kind() == ControlKind::While);
    if depth > MAX_LOOPS {
        let depth = depth_of_loops(view, around);
        let place = view.attributes().copy_span().into_option();
        return Err(PassesError::Loops {
            depth,
            place: place.map_or_else(String::new, |place| place.format("").trim_end().to_owned()),
        });
    }
    view.children()
        .into_iter()
        .try_for_each(|child| check_loops(child, depth))
}

/// The number of loops around one another at and below `view`, with those around it.
fn depth_of_loops(view: View<'_>, around: u32) -> u32 {
    let depth = around + u32::from(view.kind() == ControlKind::While);
    let below = view.children().into_iter();
    below
        .map(|child| depth_of_loops(child, depth))
        .max()
        .unwrap_or(depth)
}
