//! Guards of steps that run in other cycles.

use calyx_ir as ir;

/// A guard that holds in these cycles, when it does as a guard of a group that begins with them.
pub(super) fn within(
    guard: &ir::Guard<ir::StaticTiming>,
    slots: (u64, u64),
) -> ir::Guard<ir::StaticTiming> {
    let later = later(guard, slots.0);
    match later {
        ir::Guard::Info(_) => later,
        ir::Guard::True => ir::Guard::Info(ir::StaticTiming::new(slots)),
        _ => ir::Guard::Info(ir::StaticTiming::new(slots)).and(later),
    }
}

/// The same guard, so many cycles later.
fn later(guard: &ir::Guard<ir::StaticTiming>, by: u64) -> ir::Guard<ir::StaticTiming> {
    let both = |a, b| (Box::new(later(a, by)), Box::new(later(b, by)));
    match guard {
        ir::Guard::Info(timing) => {
            let (from, to) = timing.get_interval();
            ir::Guard::Info(ir::StaticTiming::new((from + by, to + by)))
        }
        ir::Guard::Or(a, b) => {
            let (a, b) = both(a, b);
            ir::Guard::Or(a, b)
        }
        ir::Guard::And(a, b) => {
            let (a, b) = both(a, b);
            ir::Guard::And(a, b)
        }
        ir::Guard::Not(inner) => ir::Guard::Not(Box::new(later(inner, by))),
        ir::Guard::True | ir::Guard::Port(_) | ir::Guard::CompOp(..) => guard.clone(),
    }
}

/// A guard without what it says of cycles, if that is that it holds in all of them.
pub(super) fn always(
    guard: &ir::Guard<ir::StaticTiming>,
    cycles: u64,
) -> Option<ir::Guard<ir::StaticTiming>> {
    Some(match guard {
        ir::Guard::Info(timing) => {
            (timing.get_interval() == (0, cycles)).then_some(ir::Guard::True)?
        }
        ir::Guard::And(a, b) => match (always(a, cycles)?, always(b, cycles)?) {
            (ir::Guard::True, other) | (other, ir::Guard::True) => other,
            (a, b) => ir::Guard::And(Box::new(a), Box::new(b)),
        },
        ir::Guard::Or(a, b) => {
            let (a, b) = (always(a, cycles)?, always(b, cycles)?);
            ir::Guard::Or(Box::new(a), Box::new(b))
        }
        ir::Guard::Not(inner) => ir::Guard::Not(Box::new(always(inner, cycles)?)),
        ir::Guard::True | ir::Guard::Port(_) | ir::Guard::CompOp(..) => guard.clone(),
    })
}
