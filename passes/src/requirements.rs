//! Which passes a design needs: constructs that control compilation can't take have to be compiled
//! away before, else the Calyx compiler fails without naming a place.

use std::fmt::Write as _;

use calyx_ir as ir;
use calyx_utils::WithPos;
use petal_metadata::ControlKind;

use crate::error::PassesError;
use crate::tree::View;

/// A construct, and the passes of which one has to run.
struct Requirement {
    construct: &'static str,
    passes: &'static [&'static str],
    applies: fn(View<'_>) -> bool,
}

const REQUIREMENTS: [Requirement; 4] = [
    Requirement {
        construct: "`repeat`",
        passes: &["compile-repeat"],
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
