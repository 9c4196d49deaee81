//! Runs the stock pass `well-formed` so that it does not decide how long a compilation takes.
//!
//! For every enable, the pass sorts all continuous assignments and those of the group and of the
//! comb groups around it, and looks each one up in the source, to find ports with two unconditional
//! assignments: in a systolic array of 16 × 16 that takes 100 times as long as all else. Most
//! assignments can't be in such a pair, whatever is enabled. They are left out while the pass runs.
//!
//! Decides nothing itself: what the pass refuses, and how it says so, stays as it is.

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use calyx_utils::CalyxResult;
use ir::{Assignment, Canonical, Nothing, StaticTiming};

/// Runs `pass`, which is the stock `well-formed`, on a program without the assignments that do not
/// matter to it.
///
/// # Errors
/// Those of the pass. The program is then of no use, as after an error of any pass.
pub(crate) fn check(
    ctx: &mut ir::Context,
    pass: impl FnOnce(&mut ir::Context) -> CalyxResult<()>,
) -> CalyxResult<()> {
    let components = ctx.components.iter_mut();
    let mut all: HashMap<ir::Id, All> = components
        .map(|component| (component.name, leave_out(component)))
        .collect();
    pass(ctx)?;
    for component in &mut ctx.components {
        if let Some(all) = all.remove(&component.name) {
            all.restore(component);
        }
    }
    Ok(())
}

/// All assignments of a component, those of groups in the order of the groups.
struct All {
    continuous: Vec<Assignment<Nothing>>,
    groups: Vec<Vec<Assignment<Nothing>>>,
    comb_groups: Vec<Vec<Assignment<Nothing>>>,
    static_groups: Vec<Vec<Assignment<StaticTiming>>>,
}

impl All {
    fn restore(self, component: &mut ir::Component) {
        component.continuous_assignments = self.continuous;
        for (group, all) in component.get_groups().iter().zip(self.groups) {
            group.borrow_mut().assignments = all;
        }
        for (group, all) in component.comb_groups.iter().zip(self.comb_groups) {
            group.borrow_mut().assignments = all;
        }
        let static_groups = component.get_static_groups().iter();
        for (group, all) in static_groups.zip(self.static_groups) {
            group.borrow_mut().assignments = all;
        }
    }
}

/// Leaves out of a component what does not matter, and returns all that was there.
fn leave_out(component: &mut ir::Component) -> All {
    let at_once = at_once(component);
    // Of what is not in a group, the pass looks at conditions only for holes.
    let continuous = replace(&mut component.continuous_assignments, |a| {
        matters_alone(a) || a.guard.is_true() && matters(a, &at_once)
    });
    let groups = component.get_groups().iter();
    let comb_groups = component.comb_groups.iter();
    let static_groups = component.get_static_groups().iter();
    All {
        continuous,
        groups: groups
            .map(|group| {
                replace(&mut group.borrow_mut().assignments, |a| {
                    matters(a, &at_once)
                })
            })
            .collect(),
        comb_groups: comb_groups
            .map(|group| {
                replace(&mut group.borrow_mut().assignments, |a| {
                    matters(a, &at_once)
                })
            })
            .collect(),
        static_groups: static_groups
            .map(|group| {
                replace(&mut group.borrow_mut().assignments, |a| {
                    matters(a, &at_once)
                })
            })
            .collect(),
    }
}

/// Keeps what `matters`, and returns the whole list.
fn replace<T: Clone>(
    list: &mut Vec<Assignment<T>>,
    matters: impl Fn(&Assignment<T>) -> bool,
) -> Vec<Assignment<T>> {
    let kept = list.iter().filter(|a| matters(a)).cloned().collect();
    std::mem::replace(list, kept)
}

/// Whether an assignment of a group matters to the pass.
fn matters<T>(assignment: &Assignment<T>, at_once: &HashMap<Canonical, usize>) -> bool {
    // The name of a hole can't be asked for: its group is being changed.
    matters_alone(assignment)
        || !assignment.guard.is_true()
        || at_once[&assignment.dst.borrow().canonical()] > 1
}

/// Whether an assignment uses a hole, or drives a primitive that only static groups may drive.
fn matters_alone<T>(assignment: &Assignment<T>) -> bool {
    let dst = assignment.dst.borrow();
    dst.is_hole()
        || assignment.src.borrow().is_hole()
        || assignment
            .guard
            .all_ports()
            .iter()
            .any(|port| port.borrow().is_hole())
        || matches!(
            dst.cell_parent().borrow().prototype,
            ir::CellType::Primitive {
                latency: Some(_),
                ..
            }
        )
}

/// For each port, how many unconditional assignments to it may at most be active at once: the
/// continuous ones, those of all comb groups and those of one group.
fn at_once(component: &ir::Component) -> HashMap<Canonical, usize> {
    let mut nested = HashSet::new();
    find_nested(&component.control.borrow(), &mut Vec::new(), &mut nested);
    let mut at_once = count(&component.continuous_assignments);
    for group in component.comb_groups.iter() {
        let group = group.borrow();
        // A condition inside of itself is a conflict.
        let times = if nested.contains(&group.name()) { 2 } else { 1 };
        for (port, number) in count(&group.assignments) {
            *at_once.entry(port).or_default() += times * number;
        }
    }
    let mut in_one_group: HashMap<Canonical, usize> = HashMap::new();
    let groups = component.get_groups().iter();
    let groups = groups.map(|group| count(&group.borrow().assignments));
    let static_groups = component.get_static_groups().iter();
    let static_groups = static_groups.map(|group| count(&group.borrow().assignments));
    for (port, number) in groups.chain(static_groups).flatten() {
        let most = in_one_group.entry(port).or_default();
        *most = number.max(*most);
    }
    for (port, number) in in_one_group {
        *at_once.entry(port).or_default() += number;
    }
    at_once
}

/// How many unconditional assignments there are to each port.
fn count<T>(assignments: &[Assignment<T>]) -> HashMap<Canonical, usize> {
    let mut counts = HashMap::new();
    for assignment in assignments.iter().filter(|a| a.guard.is_true()) {
        *counts
            .entry(assignment.dst.borrow().canonical())
            .or_default() += 1;
    }
    counts
}

/// Finds the comb groups that are a condition inside of a statement whose condition they are, too.
fn find_nested(control: &ir::Control, around: &mut Vec<ir::Id>, nested: &mut HashSet<ir::Id>) {
    let (condition, parts): (_, Vec<&ir::Control>) = match control {
        ir::Control::Seq(ir::Seq { stmts, .. }) | ir::Control::Par(ir::Par { stmts, .. }) => {
            (None, stmts.iter().collect())
        }
        ir::Control::If(branch) => (
            branch.cond.as_ref(),
            vec![&*branch.tbranch, &*branch.fbranch],
        ),
        ir::Control::While(ir::While { cond, body, .. }) => (cond.as_ref(), vec![&**body]),
        ir::Control::Repeat(ir::Repeat { body, .. }) => (None, vec![&**body]),
        ir::Control::Invoke(_)
        | ir::Control::Enable(_)
        | ir::Control::Empty(_)
        | ir::Control::Static(_) => return,
    };
    let condition = condition.map(|group| group.borrow().name());
    if let Some(name) = condition {
        if around.contains(&name) {
            nested.insert(name);
        }
        around.push(name);
    }
    for part in parts {
        find_nested(part, around, nested);
    }
    if condition.is_some() {
        around.pop();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use calyx_opt::pass_manager::PassManager;
    use proptest::prelude::Rng as _;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;
    use crate::frontend::Program;
    use crate::guard::guarded;
    use crate::library::Library;

    /// A program with some of everything that the pass looks at.
    const RICH: &str = r#"
import "primitives/core.futil";
import "primitives/memories/comb.futil";
static<1> primitive fast[WIDTH](left: WIDTH) -> (out: WIDTH) { assign out = left; };
comb component twice(x: 8) -> (y: 8) {
  cells { plus = std_add(8); }
  wires { plus.left = x; plus.right = x; y = plus.out; }
  control { }
}
static<2> component fixed(x: 8) -> (out: 8) {
  cells { r = std_reg(8); }
  wires { out = r.out; static<1> group load { r.in = x; r.write_en = 1'd1; } }
  control { static seq { load; load; } }
}
component callee(x: 8) -> (out: 8) {
  cells { ref total = std_reg(8); ref sum = std_add(8); r = std_reg(8); less = std_lt(8); }
  wires {
    out = r.out;
    group keep { r.in = x; r.write_en = 1'd1; keep[done] = r.done; }
    group more { sum.left = total.out; sum.right = x; total.in = sum.out; total.write_en = 1'd1; more[done] = total.done; }
    comb group is_less { less.left = x; less.right = 8'd3; }
  }
  control { if less.out with is_less { seq { keep; more; } } else { more; } }
}
component main() -> () {
  cells {
    @external memory = comb_mem_d1(8, 4, 2);
    a = std_reg(8); b = std_reg(8); on = std_reg(1); i = std_reg(8);
    plus = std_add(8); next = std_add(8); less = std_lt(8); more = std_lt(8); f = fast(8);
    c = callee(); d = fixed(); t = twice(); total = std_reg(8); sum = std_add(8);
  }
  wires {
    t.x = a.out; next.left = i.out; next.right = 8'd1; on.in = 1'd1; on.write_en = less.out ? 1'd1;
    comb group is_less { less.left = i.out; less.right = 8'd3; }
    comb group is_more { more.left = i.out; more.right = 8'd1; }
    group count { i.in = next.out; i.write_en = 1'd1; count[done] = i.done; }
    group inner { b.in = t.y; b.write_en = !b.done ? 1'd1; inner[done] = b.done; }
    group outer { inner[go] = !inner[done] ? 1'd1; outer[done] = inner[done]; }
    group store { memory.addr0 = 2'd0; memory.write_data = a.out; memory.write_en = 1'd1; store[done] = memory.done; }
    static<2> group add { plus.left = a.out; plus.right = b.out; a.in = plus.out; a.write_en = %[0:1] ? 1'd1; }
    static<1> group set { f.left = b.out; b.in = f.out; b.write_en = %0 ? 1'd1; }
  }
  control {
    seq {
      while less.out with is_less {
        seq { count; if more.out with is_more { par { outer; add; } } else { static seq { add; set; } } }
      }
      if more.out with is_more { invoke c[total = total, sum = sum](x = a.out)(); }
      static invoke d(x = a.out)();
      store;
    }
  }
}
"#;

    /// A change of `RICH` for each rule of the pass, and what it says then.
    const REFUSED: [(&str, &str, &str); 30] = [
        (
            "@external memory",
            "reg = std_reg(1); @external memory",
            "reserved",
        ),
        ("control { }", "control { par { } }", "non-empty control"),
        (
            "wires { plus.left",
            "wires { group g { g[done] = 1'd1; } plus.left",
            "contains a group",
        ),
        (
            "cells { plus = std_add(8); }",
            "cells { plus = std_add(8); r = std_reg(8); }",
            "non-combinational cell",
        ),
        (
            "callee(x: 8)",
            "callee(x: 8, @interval(2) @go go: 1)",
            "dynamic control",
        ),
        (
            "fixed(x: 8)",
            "fixed(x: 8, @interval(3) @go go: 1)",
            "expected @interval 3",
        ),
        (
            "count[done] = i.done;",
            "count[done] = i.done; count[done] = i.done;",
            "multiple done",
        ),
        (
            "{ inner[go]",
            "{ inner[done] = 1'd1; inner[go]",
            "done condition of another group",
        ),
        ("count[done] = i.done;", "", "No writes to the `done' hole"),
        (
            "{ i.in = next.out;",
            "{ f.left = a.out; i.in = next.out;",
            "Static cell `f`",
        ),
        (
            "{ more.left",
            "{ f.left = a.out; more.left",
            "Static cell `f`",
        ),
        ("%[0:1]", "%[1:1]", "improper interval"),
        ("%[0:1]", "%[0:4]", "out of bounds"),
        (
            "t.x = a.out;",
            "t.x = a.out; t.x = b.out;",
            "Obviously conflicting",
        ),
        (
            "{ more.left",
            "{ next.left = a.out; more.left",
            "Obviously conflicting",
        ),
        (
            "{ i.in = next.out;",
            "{ t.x = a.out; i.in = next.out;",
            "activated by group enable",
        ),
        (
            "{ i.in = next.out;",
            "{ less.left = a.out; i.in = next.out;",
            "activated by group enable",
        ),
        (
            "{ i.in = next.out;",
            "{ i.in = a.out; i.in = next.out;",
            "activated by group enable",
        ),
        (
            "{ plus.left = a.out;",
            "{ t.x = a.out; plus.left = a.out;",
            "activated by group enable",
        ),
        (
            "{ plus.left = a.out;",
            "{ more.left = a.out; plus.left = a.out;",
            "activated by group enable",
        ),
        (
            "{ plus.left = a.out;",
            "{ plus.left = b.out; plus.left = a.out;",
            "activated by group enable",
        ),
        (
            "{ more.left",
            "{ less.left = a.out; more.left",
            "Assignments from `is_more'",
        ),
        (
            "if more.out with is_more { par",
            "if less.out with is_less { par",
            "Assignments from `is_less'",
        ),
        (
            "count[done] = i.done;",
            "count[done] = 1'd1;",
            "constant done",
        ),
        (
            "group store {",
            "group store<\"promotable\"=0> {",
            "\"promotable\"=0",
        ),
        (", sum = sum]", "]", "unmentioned ref cell"),
        (
            "sum = sum]",
            "sum = sum, sun = sum]",
            "does not have ref cell",
        ),
        (
            "total = total,",
            "total = sum,",
            "Unexpected type for ref cell",
        ),
        ("      store;\n", "", "Unused group"),
        (
            "@external memory",
            "ref memory",
            "ref cells are not allowed for main",
        ),
    ];

    /// What may come before a word or in its place.
    const SPICES: [&str; 14] = [
        "ref",
        "@external",
        "comb",
        "static",
        "static<3>",
        "%[1:1] ?",
        "%[0:4] ?",
        "1'd1 ?",
        "1'd1",
        "@promotable(0)",
        "@interval(2)",
        "with is_less",
        "with is_more",
        "",
    ];

    struct Random(TestRng);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            usize::try_from(self.0.next_u64() % end as u64).unwrap()
        }

        /// One to three changes of the statements of `RICH`.
        fn program(&mut self) -> String {
            let mut statements: Vec<String> = RICH
                .split_inclusive([';', '{', '}'])
                .map(str::to_owned)
                .collect();
            for _ in 0..=self.below(2) {
                let at = self.below(statements.len());
                // Near enough to be of the same component, mostly.
                let other = (at + self.below(40))
                    .saturating_sub(20)
                    .min(statements.len() - 1);
                match self.below(6) {
                    0 => statements.insert(at, statements[other].clone()),
                    1 if statements[at].ends_with(';') => drop(statements.remove(at)),
                    2 => statements.swap(at, other),
                    3 => {
                        if let (Some((dst, _)), Some((_, src))) = (
                            statements[other].split_once('='),
                            statements[at].split_once('='),
                        ) {
                            statements[at] = format!("{dst}={src}");
                        }
                    }
                    4 => {
                        if let (Some((dst, _)), Some((_, src))) = (
                            statements[at].split_once('='),
                            statements[at].split_once('?'),
                        ) {
                            statements[at] = format!("{dst}={src}");
                        }
                    }
                    _ => {
                        let mut words: Vec<&str> = statements[at].split(' ').collect();
                        let place = self.below(words.len());
                        let spice = SPICES[self.below(SPICES.len())];
                        if self.below(2) == 0 {
                            words.insert(place, spice);
                        } else {
                            words[place] = spice;
                        }
                        statements[at] = words.join(" ");
                    }
                }
            }
            statements.concat()
        }
    }

    fn printed(ctx: &ir::Context) -> String {
        let mut text = Vec::new();
        for component in &ctx.components {
            ir::Printer::write_component(component, &mut text).unwrap();
        }
        String::from_utf8(text).unwrap()
    }

    /// What the pass says of a program, and the program afterwards.
    fn verdict(
        mut program: Program,
        pass: impl FnOnce(&mut ir::Context) -> CalyxResult<()>,
    ) -> Result<String, String> {
        guarded(&program.path, "well-formed", || pass(&mut program.ctx))
            .map(|()| printed(&program.ctx))
            .map_err(|error| error.to_string())
    }

    /// The verdict on a program, if it is one; fails where petal's way makes a difference.
    fn compare(file: &Path, library: &Library) -> Option<Result<String, String>> {
        let manager = PassManager::default_passes().unwrap();
        let stock = |ctx: &mut ir::Context| {
            manager.execute_plan(ctx, &["well-formed".to_owned()], &[], false)
        };
        let expected = verdict(Program::read(file, library).ok()?, stock);
        let verdict_here = verdict(Program::read(file, library).unwrap(), |ctx| {
            check(ctx, stock)
        });
        let unused = |verdict: &Result<String, String>| {
            let message = verdict.as_ref().err();
            message.is_some_and(|message| message.contains("Unused "))
        };
        // Of several unused groups, the pass reports any.
        if !(unused(&expected) && unused(&verdict_here)) {
            assert_eq!(verdict_here, expected);
        }
        Some(expected)
    }

    /// One test, because threads must not share the Calyx crates' table of positions.
    #[test]
    fn verdicts_and_programs_are_those_of_the_stock_pass() {
        let library = Library::new(&[]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("design.futil");
        let compare = |program: &str| {
            std::fs::write(&file, program).unwrap();
            compare(&file, &library)
        };
        assert!(matches!(compare(RICH), Some(Ok(_))));
        let mut rich = Program::read(&file, &library).unwrap();
        check(&mut rich.ctx, |ctx| {
            let main = ctx.components.iter().find(|c| c.name == "main").unwrap();
            assert!(main.continuous_assignments.is_empty());
            let add = main.find_static_group("add").unwrap();
            assert_eq!(
                add.borrow().assignments.len(),
                1,
                "the one with a condition"
            );
            Ok(())
        })
        .unwrap();
        for (old, new, message) in REFUSED {
            assert!(RICH.contains(old), "{old}");
            match compare(&RICH.replacen(old, new, 1)) {
                Some(Err(error)) => assert!(error.contains(message), "{new}: {error}"),
                other => panic!("{old} -> {new}: {other:?}"),
            }
        }
        let mut random = Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let verdicts = (0..1000).filter_map(|_| compare(&random.program()));
        let (fine, refused): (Vec<_>, Vec<_>) = verdicts.partition(Result::is_ok);
        assert!(
            fine.len() > 100 && refused.len() > 20,
            "{} {}",
            fine.len(),
            refused.len()
        );
    }
}
