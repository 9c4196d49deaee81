//! When an assignment drives, as far as facts tell.

use std::collections::BTreeMap;

use calyx_ir as ir;

/// Something that holds or does not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    Port(ir::Id, ir::Id),
    Equal((ir::Id, ir::Id), (ir::Id, ir::Id)),
    Less((ir::Id, ir::Id), (ir::Id, ir::Id)),
    /// The cycle of a static group is one of these.
    Cycle(u64, u64),
}

/// When an assignment drives.
pub(super) enum When {
    Always,
    Atom(Atom, Vec<ir::RRC<ir::Port>>),
    Not(Box<When>),
    And(Box<When>, Box<When>),
    Or(Box<When>, Box<When>),
}

/// What is known to hold, or not to.
pub(super) type Facts = BTreeMap<Atom, bool>;

/// What a guard may know of beside ports.
pub(super) trait Timing {
    fn when(&self) -> When;
}

impl Timing for ir::Nothing {
    fn when(&self) -> When {
        When::Always
    }
}

impl Timing for ir::StaticTiming {
    fn when(&self) -> When {
        let (start, end) = self.get_interval();
        When::Atom(Atom::Cycle(start, end), Vec::new())
    }
}

pub(crate) fn key(port: &ir::RRC<ir::Port>) -> (ir::Id, ir::Id) {
    let port = port.borrow();
    (port.get_parent_name(), port.name)
}

impl When {
    pub fn of<T: Timing>(guard: &ir::Guard<T>) -> Self {
        let both = |a: &ir::Guard<T>, b: &ir::Guard<T>| (Self::of(a).into(), Self::of(b).into());
        match guard {
            ir::Guard::True => Self::Always,
            ir::Guard::Info(timing) => timing.when(),
            ir::Guard::Not(inner) => Self::Not(Self::of(inner).into()),
            ir::Guard::And(a, b) => {
                let (a, b) = both(a, b);
                Self::And(a, b)
            }
            ir::Guard::Or(a, b) => {
                let (a, b) = both(a, b);
                Self::Or(a, b)
            }
            ir::Guard::Port(port) => Self::port(port),
            ir::Guard::CompOp(how, a, b) => {
                let ports = vec![a.clone(), b.clone()];
                let (a, b) = (key(a), key(b));
                let (atom, is_negated) = match how {
                    ir::PortComp::Eq => (Atom::Equal(a, b), false),
                    ir::PortComp::Neq => (Atom::Equal(a, b), true),
                    ir::PortComp::Lt => (Atom::Less(a, b), false),
                    ir::PortComp::Geq => (Atom::Less(a, b), true),
                    ir::PortComp::Gt => (Atom::Less(b, a), false),
                    ir::PortComp::Leq => (Atom::Less(b, a), true),
                };
                let atom = Self::Atom(atom, ports);
                if is_negated {
                    Self::Not(atom.into())
                } else {
                    atom
                }
            }
        }
    }

    pub fn port(port: &ir::RRC<ir::Port>) -> Self {
        if port.borrow().is_constant(1, 1) {
            Self::Always
        } else if port.borrow().is_constant(0, 1) {
            Self::Not(Self::Always.into())
        } else {
            let (cell, name) = key(port);
            Self::Atom(Atom::Port(cell, name), vec![port.clone()])
        }
    }

    /// Whether it holds, if the facts tell.
    pub fn holds(&self, facts: &Facts) -> Option<bool> {
        match self {
            Self::Always => Some(true),
            Self::Atom(Atom::Cycle(start, end), _) => facts.iter().find_map(|(fact, holds)| {
                let Atom::Cycle(first, last) = fact else {
                    return None;
                };
                let inside = start <= first && last <= end;
                let apart = last <= start || end <= first;
                (*holds && (inside || apart)).then_some(inside)
            }),
            Self::Atom(atom, _) => facts.get(atom).copied(),
            Self::Not(inner) => inner.holds(facts).map(|holds| !holds),
            Self::And(a, b) => match (a.holds(facts), b.holds(facts)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(a, b) => match (a.holds(facts), b.holds(facts)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    /// Adds what follows if it holds, or does not.
    pub fn imply(&self, holds: bool, facts: &mut Facts) {
        match self {
            Self::Atom(atom, _) => {
                facts.insert(atom.clone(), holds);
            }
            Self::Not(inner) => inner.imply(!holds, facts),
            Self::And(a, b) if holds => {
                a.imply(true, facts);
                b.imply(true, facts);
            }
            Self::Or(a, b) if !holds => {
                a.imply(false, facts);
                b.imply(false, facts);
            }
            Self::Always | Self::And(..) | Self::Or(..) => {}
        }
    }

    /// Something that decides it, and the ports that decide that.
    pub fn undecided(&self, facts: &Facts) -> Option<(&Atom, &[ir::RRC<ir::Port>])> {
        match self {
            Self::Always => None,
            Self::Atom(atom, ports) => self
                .holds(facts)
                .is_none()
                .then_some((atom, ports.as_slice())),
            Self::Not(inner) => inner.undecided(facts),
            Self::And(a, b) | Self::Or(a, b) => a.undecided(facts).or_else(|| b.undecided(facts)),
        }
    }
}

pub(super) fn with(facts: &Facts, when: &When) -> Facts {
    let mut facts = facts.clone();
    when.imply(true, &mut facts);
    facts
}
