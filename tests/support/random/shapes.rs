//! Which control programs are generated.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::support::rng;

/// What is generated: the shape of a control program.
#[derive(Debug, Clone)]
pub enum Shape {
    Group(u64),
    /// A group that the compiler may make static.
    Quick,
    Static(StaticShape),
    Seq(Vec<Shape>),
    Par(Vec<Shape>),
    /// Arms that wait for one another between their halves.
    Meet(Vec<(Shape, Shape)>),
    If {
        test: Test,
        with: bool,
        then: Option<Box<Shape>>,
        otherwise: Option<Box<Shape>>,
    },
    While {
        times: u64,
        with: bool,
        body: Box<Shape>,
    },
    Repeat {
        times: u64,
        body: Box<Shape>,
    },
}

impl Shape {
    /// Whether arms wait for one another in it.
    pub fn meets(&self) -> bool {
        match self {
            Self::Group(_) | Self::Quick | Self::Static(_) => false,
            Self::Seq(parts) | Self::Par(parts) => parts.iter().any(Self::meets),
            Self::Meet(_) => true,
            Self::If {
                then, otherwise, ..
            } => then.iter().chain(otherwise).any(|branch| branch.meets()),
            Self::While { body, .. } | Self::Repeat { body, .. } => body.meets(),
        }
    }
}

#[derive(Debug, Clone)]
pub enum StaticShape {
    Group(u64),
    /// A group that does nothing that can be read.
    Idle(u64),
    Seq(Vec<StaticShape>),
    Par(Vec<StaticShape>),
    If(bool, Box<StaticShape>, Option<Box<StaticShape>>),
    Repeat(u64, Box<StaticShape>),
}

/// The condition of an `if`.
#[derive(Debug, Clone, Copy)]
pub enum Test {
    Always(bool),
    /// Whether the innermost loop around it is in an odd iteration, counted from 0.
    Odd,
}

/// What of Calyx is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// What the interpreter knows cycle by cycle.
    Exact,
    /// All of it: what the compiler may make static or remove, barriers, branches and loops that may be empty.
    Whole,
}

/// It, or where nothing will do as well, sometimes nothing.
fn sometimes<T: Clone + std::fmt::Debug + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
    is_optional: bool,
) -> BoxedStrategy<Option<T>> {
    if is_optional {
        prop::option::weighted(0.75, strategy).boxed()
    } else {
        strategy.prop_map(Some).boxed()
    }
}

fn static_shape(grammar: Grammar) -> impl Strategy<Value = StaticShape> {
    let is_whole = grammar == Grammar::Whole;
    let group = prop_oneof![
        4 => (1..4u64).prop_map(StaticShape::Group),
        u32::from(is_whole) => (1..3u64).prop_map(StaticShape::Idle),
    ];
    let least = if is_whole { 1 } else { 2 };
    group.prop_recursive(2, 6, 3, move |inner| {
        let some =
            || prop::collection::vec(inner.clone(), usize::try_from(least).expect("small")..4);
        let otherwise = sometimes(inner.clone(), is_whole);
        prop_oneof![
            some().prop_map(StaticShape::Seq),
            some().prop_map(StaticShape::Par),
            (any::<bool>(), inner.clone(), otherwise).prop_map(|(test, a, b)| StaticShape::If(
                test,
                a.into(),
                b.map(Box::new)
            )),
            (least..4u64, inner).prop_map(|(times, body)| StaticShape::Repeat(times, body.into())),
        ]
    })
}

fn shape(grammar: Grammar) -> impl Strategy<Value = Shape> {
    let is_whole = grammar == Grammar::Whole;
    let leaf = prop_oneof![
        4 => (1..5u64).prop_map(Shape::Group),
        4 * u32::from(is_whole) => Just(Shape::Quick),
        1 + u32::from(is_whole) => static_shape(grammar).prop_map(Shape::Static),
    ];
    leaf.prop_recursive(4, 16, 3, move |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..3);
        let test = prop_oneof![any::<bool>().prop_map(Test::Always), Just(Test::Odd)];
        let seq = some().prop_map(move |parts| {
            if is_whole {
                Shape::Seq(parts)
            } else {
                started(parts)
            }
        });
        let arms = if is_whole { 1..4 } else { 2..4 };
        let par = prop::collection::vec(some(), arms).prop_map(move |arms| {
            let exact = arms.into_iter().map(|mut parts| match parts.len() {
                1 if is_whole => parts.remove(0),
                _ if is_whole => Shape::Seq(parts),
                _ => arm(parts),
            });
            Shape::Par(exact.collect())
        });
        let then = sometimes(inner.clone(), is_whole);
        let branches = (test, any::<bool>(), then, prop::option::of(inner.clone()));
        let fewest = u64::from(!is_whole);
        let meet = prop::collection::vec((inner.clone(), inner.clone()), 2..4);
        prop_oneof![
            2 => seq,
            2 => par,
            u32::from(is_whole) => meet.prop_map(Shape::Meet),
            2 => branches.prop_map(|(test, with, then, otherwise)| Shape::If {
                test,
                with,
                then: then.map(Box::new),
                otherwise: otherwise.map(Box::new),
            }),
            2 => (fewest..4u64, any::<bool>(), inner.clone()).prop_map(|(times, with, body)| {
                Shape::While { times, with, body: body.into() }
            }),
            2 => (2 * fewest..4u64, inner.clone()).prop_map(move |(times, body)| {
                let body = Box::new(body);
                if is_whole {
                    Shape::Repeat { times, body }
                } else {
                    Shape::While { times, with: false, body }
                }
            }),
        ]
    })
}

/// A sequence that begins with a group: what a state machine begins with is unconditional.
fn started(mut rest: Vec<Shape>) -> Shape {
    rest.insert(0, Shape::Group(1));
    Shape::Seq(rest)
}

/// An arm of a `par`: a group, or something with a state machine of its own.
fn arm(mut parts: Vec<Shape>) -> Shape {
    match &parts[..] {
        [Shape::Group(_)] => parts.remove(0),
        _ => started(parts),
    }
}

/// A random program, and how often main invokes it.
#[derive(Debug, Clone)]
pub struct Random {
    pub shape: Shape,
    pub calls: usize,
}

fn random(grammar: Grammar) -> impl Strategy<Value = Random> {
    let is_whole = grammar == Grammar::Whole;
    let (bare, twice) = (any::<bool>(), prop::bool::weighted(0.3));
    (shape(grammar), bare, twice).prop_map(move |(shape, bare, twice)| Random {
        shape: if is_whole && bare {
            Shape::Seq(vec![Shape::Quick, shape])
        } else {
            started(vec![shape, Shape::Group(1)])
        },
        calls: 1 + usize::from(is_whole && twice),
    })
}

/// Random programs of a grammar that `is_fine` takes.
pub fn randoms(grammar: Grammar, count: usize, is_fine: impl Fn(&Random) -> bool) -> Vec<Random> {
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng());
    let strategy = random(grammar);
    let mut next = || {
        let tree = strategy.new_tree(&mut runner);
        tree.expect("nothing is rejected").current()
    };
    let mut taken = Vec::new();
    for _ in 0..4 * count {
        let random = next();
        if is_fine(&random) {
            taken.push(random);
        }
        if taken.len() == count {
            break;
        }
    }
    assert_eq!(taken.len(), count, "most programs can't be compiled");
    taken
}
