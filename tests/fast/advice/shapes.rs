//! Random programs made for edits.
//!
//! Owns how often which statements come. Numbers choose among what there is to choose from; what they choose is the
//! writer's.

use proptest::prelude::*;

/// What a group does, with which registers.
#[derive(Debug, Clone)]
pub struct Act {
    pub kind: usize,
    pub to: usize,
    pub from: usize,
    pub with: usize,
}

/// A condition.
#[derive(Debug, Clone)]
pub struct Test {
    pub op: usize,
    pub left: usize,
    pub right: usize,
    /// Whether a comb group computes it, with a comparator of its own or one that other conditions or groups use, or continuous
    /// assignments.
    pub mode: usize,
    /// As it is, negated, or together with a second one.
    pub form: usize,
}

#[derive(Debug, Clone)]
pub struct Call {
    pub component: usize,
    pub cell: usize,
    pub actuals: [usize; 3],
    pub input: usize,
}

#[derive(Debug, Clone)]
pub enum Shape {
    Act(Act),
    If(Test, Box<Shape>, Option<Box<Shape>>),
    /// How often, whether the condition is continuous, and whether the body counts beside its work.
    While(u64, Option<Test>, bool, bool, Box<Shape>),
    Seq(Vec<Shape>),
    Par(Vec<Shape>),
    /// `if`s at once that look at the same.
    Switch(Test, Vec<(usize, usize, Shape)>),
    Invoke(Call),
    Static(bool, Vec<Act>),
    /// Arms that wait for one another, each between two statements.
    Sync(Vec<(Shape, Shape)>),
}

/// Components, main last, and how the text is laid out.
#[derive(Debug, Clone)]
pub struct Random {
    pub bodies: Vec<Shape>,
    pub layout: usize,
    /// Whether it may do what hardly anyone does.
    pub odd: bool,
    /// Whether arms of a `par` have cells of their own.
    pub tidy: bool,
}

fn act() -> impl Strategy<Value = Act> {
    // What everyone writes is more frequent than what hardly anyone does.
    let kind = prop_oneof![6 => 0..PLAIN, 3 => PLAIN..ODD, 1 => ODD..KINDS];
    (kind, 0..REGISTERS, 0..REGISTERS + 2, 0..8usize).prop_map(|(kind, to, from, with)| Act {
        kind,
        to,
        from,
        with,
    })
}

fn test() -> impl Strategy<Value = Test> {
    let left = prop_oneof![8 => 0..REGISTERS, 2 => REGISTERS..REGISTERS + 4];
    let op = prop_oneof![4 => 0..2usize, 3 => 0..OPS.len()];
    let mode =
        prop_oneof![5 => Just(0usize), 1 => Just(1usize), 2 => Just(2usize), 1 => Just(3usize)];
    let form = prop_oneof![4 => Just(0usize), 1 => 1..4usize];
    (op, left, 0..12usize, mode, form).prop_map(|(op, left, right, mode, form)| Test {
        op,
        left,
        right,
        mode,
        form,
    })
}

fn call() -> impl Strategy<Value = Call> {
    let actuals = [0..REGISTERS, 0..REGISTERS, 0..2usize];
    (0..3usize, 0..2usize, actuals, 0..11usize).prop_map(|(component, cell, actuals, input)| Call {
        component,
        cell,
        actuals,
        input,
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        9 => act().prop_map(Shape::Act),
        1 => (any::<bool>(), prop::collection::vec(act(), 1..3)).prop_map(|(par, acts)| Shape::Static(par, acts)),
        1 => call().prop_map(Shape::Invoke),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let some = || prop::collection::vec(inner.clone(), 2..5);
        let chained = (test(), inner.clone(), prop::option::weighted(0.5, inner.clone()))
            .prop_map(|(test, then, otherwise)| Shape::If(test, then.into(), otherwise.map(Box::new)));
        let otherwise = prop_oneof![inner.clone(), chained].prop_map(Box::new);
        let otherwise = prop::option::weighted(0.4, otherwise);
        let synced = prop::collection::vec((inner.clone(), inner.clone()), 2..4);
        let arms = prop::collection::vec((0..OPS.len(), 0..6usize, inner.clone()), 2..4);
        prop_oneof![
            5 => some().prop_map(Shape::Seq),
            3 => some().prop_map(Shape::Par),
            3 => (test(), inner.clone(), otherwise)
                .prop_map(|(test, then, otherwise)| Shape::If(test, then.into(), otherwise)),
            2 => (1..4u64, prop::option::weighted(0.3, test()), any::<bool>(), any::<bool>(), inner.clone())
                .prop_map(|(times, test, continuous, beside, body)| {
                    Shape::While(times, test, continuous, beside, body.into())
                }),
            3 => (test(), arms).prop_map(|(test, arms)| Shape::Switch(test, arms)),
            1 => synced.prop_map(Shape::Sync),
        ]
    })
}

/// A program: several components that others call, then main.
pub fn random() -> impl Strategy<Value = Random> {
    let bodies = prop_oneof![
        2 => prop::collection::vec(shape(), 1..2),
        3 => prop::collection::vec(shape(), 2..4),
    ];
    (
        bodies,
        0..4usize,
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.7),
    )
        .prop_map(|(bodies, layout, odd, tidy)| Random {
            bodies,
            layout,
            odd,
            tidy,
        })
}

/// How many registers there are to choose from.
pub const REGISTERS: usize = 6;

pub const OPS: [&str; 12] = [
    "std_eq", "std_neq", "std_lt", "std_gt", "std_le", "std_ge", "std_slt", "std_sgt", "std_sle",
    "std_sge", "std_seq", "std_sneq",
];

/// The kinds of groups below this are what everyone writes,
const PLAIN: usize = 8;
/// and those from here on are what hardly anyone does.
pub const ODD: usize = 17;
const KINDS: usize = 24;
