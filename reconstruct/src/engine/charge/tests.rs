//! The sentences of `docs/guide/overhead.md`, each on a small program that is put together by hand.

use petal_metadata::{
    ControlNode, ControlRegister, FrontEnd, Group, GroupId, GroupKind, GroupRun, Origin, ProbeKind,
    ProbeName, ProbePrefix, Schedule, Thread, VERSION,
};

use super::*;

fn id<I: Id>(index: usize) -> I {
    I::from_index(index)
}

/// Main, as the tests put it together.
struct Program(Metadata);

impl Program {
    /// A program with this control, in preorder: kinds, each with its parent.
    fn new(control: &[(ControlKind, Option<usize>)]) -> Self {
        let control = control.iter().map(|&(kind, parent)| ControlNode {
            kind,
            span: None,
            positions: Vec::new(),
            checkpoint: None,
            parent: parent.map(id),
            origin: Origin::Source,
            thread: id(0),
            group: None,
            cell: None,
            bindings: Vec::new(),
            latency: None,
            repeats: None,
            merged: false,
        });
        let main = Component {
            lacks_cells: false,
            name: "main".to_owned(),
            span: None,
            positions: Vec::new(),
            latency: None,
            cells: Vec::new(),
            groups: Vec::new(),
            control: control.collect(),
            runs: Vec::new(),
            calls: Vec::new(),
            threads: vec![Thread { arm: None }],
            compiled: Vec::new(),
            root: None,
            schedule: None,
            registers: Vec::new(),
            lookups: Vec::new(),
            continuous: Vec::new(),
            sequences: Vec::new(),
        };
        Self(Metadata {
            version: VERSION,
            petal: String::new(),
            calyx: String::new(),
            fingerprint: String::new(),
            verified: false,
            pipeline: Vec::new(),
            files: Vec::new(),
            front_end: FrontEnd::default(),
            prefix: ProbePrefix::avoiding(&[]),
            scope: vec!["toplevel".to_owned(), "main".to_owned()],
            main: id(0),
            components: vec![main],
        })
    }

    fn main(&mut self) -> &mut Component {
        &mut self.0.components[0]
    }

    fn run(&mut self, role: RunRole, origin: Origin, control: Option<usize>) -> GroupRunId {
        let main = self.main();
        let group: GroupId = id(main.groups.len());
        main.groups.push(Group {
            name: format!("group{}", group.index()),
            kind: GroupKind::Dynamic,
            origin,
            span: None,
            positions: Vec::new(),
            done: None,
        });
        main.runs.push(GroupRun {
            group,
            part: None,
            control: control.map(id),
            role,
            thread: id(0),
            latency: None,
            probe: probe(ProbeKind::GA, group.index()),
            enable: None,
        });
        id(main.runs.len() - 1)
    }

    fn register(&mut self, kind: RegisterKind) -> RegisterId {
        let registers = &mut self.main().registers;
        registers.push(ControlRegister {
            name: format!("register{}", registers.len()),
            kind,
        });
        id(registers.len() - 1)
    }

    /// Adds a compilation group. The last one is the root.
    fn compiled(&mut self, node: usize, kind: CompiledKind) -> CompiledId {
        let main = self.main();
        let at = main.compiled.len();
        main.compiled.push(CompiledGroup {
            name: format!("compiled{at}"),
            node: Some(id(node)),
            probe: probe(ProbeKind::CA, at),
            schedule: None,
            kind,
        });
        main.root = Some(id(at));
        id(at)
    }

    fn leaf(&mut self, node: usize) -> CompiledId {
        self.compiled(node, CompiledKind::Leaf)
    }

    /// A state machine that runs `children` in states 0, 1, ….
    fn fsm(&mut self, node: usize, children: &[CompiledId]) -> (CompiledId, RegisterId) {
        let register = self.register(RegisterKind::Fsm);
        let states = (0..).zip(children);
        let states = states.map(|(value, &child)| FsmState { value, child });
        let kind = CompiledKind::Fsm {
            register,
            states: states.collect(),
            last: children.len() as u64,
        };
        (self.compiled(node, kind), register)
    }

    fn par(&mut self, node: usize, children: &[CompiledId]) -> (CompiledId, Vec<RegisterId>) {
        let done = children
            .iter()
            .map(|_| self.register(RegisterKind::ParDone));
        let done: Vec<RegisterId> = done.collect();
        let arms = done.iter().zip(children);
        let arms = arms.map(|(&register, &child)| Arm { register, child });
        let arms = arms.collect();
        (self.compiled(node, CompiledKind::Par { arms }), done)
    }

    /// What main does in a cycle in which `runs` are active and these compilation groups are:
    /// each with whether it continues in the next cycle. All other compilation groups are low in
    /// both, and all other registers keep their 0.
    fn activity(
        &self,
        runs: &[GroupRunId],
        compiled: &[(CompiledId, bool)],
        registers: &[(RegisterId, u64, u64)],
    ) -> Activity {
        self.after(1, runs, compiled, registers)
    }

    /// The same in the cycle `cycles`, counted from 1, of such cycles.
    fn after(
        &self,
        cycles: usize,
        runs: &[GroupRunId],
        compiled: &[(CompiledId, bool)],
        registers: &[(RegisterId, u64, u64)],
    ) -> Activity {
        let metadata = &self.0;
        let layout = Layout::of(metadata);
        let hardware = layout.physical(Layout::main());
        let mut now = vec![0; layout.table.watched.len()];
        let mut next = now.clone();
        for &(group, goes_on) in compiled {
            now[hardware.compiled[group.index()].index()] = 1;
            next[hardware.compiled[group.index()].index()] = u64::from(goes_on);
        }
        for &(register, from, to) in registers {
            let slot = hardware.registers[register.index()].index();
            (now[slot], next[slot]) = (from, to);
        }
        let mut programs = StaticProgram::all(metadata, &layout);
        for _ in 0..cycles {
            for program in &mut programs {
                program.advance(&now);
            }
        }
        let cycle = CycleView {
            metadata,
            layout: &layout,
            now: &now,
            next: &next,
            programs: &programs,
            pending: &[],
        };
        cycle.activity(Layout::main(), runs, std::iter::empty(), None)
    }
}

fn probe(kind: ProbeKind, number: usize) -> ProbeName {
    ProbeName {
        kind,
        number: u32::try_from(number).unwrap(),
    }
}

fn overhead(kind: Overhead, statement: usize) -> Activity {
    Activity::Overhead(Charge {
        kind,
        statement: Some(id(statement)),
    })
}

use ControlKind::{Empty, Enable, If, Par, Repeat, Seq, StaticEnable, StaticSeq, While};

/// `seq { a; b; }`, its state machine and the register of that.
fn two_steps() -> (Program, CompiledId, RegisterId) {
    let mut program = Program::new(&[(Seq, None), (Enable, Some(0)), (Enable, Some(0))]);
    let steps = [program.leaf(1), program.leaf(2)];
    let (root, state) = program.fsm(0, &steps);
    (program, root, state)
}

/// `par { a; b; }`, its arms, its compilation group and the done registers.
fn two_arms() -> (Program, [CompiledId; 2], CompiledId, Vec<RegisterId>) {
    let mut program = Program::new(&[(Par, None), (Enable, Some(0)), (Enable, Some(0))]);
    let arms = [program.leaf(1), program.leaf(2)];
    let (root, done) = program.par(0, &arms);
    (program, arms, root, done)
}

#[test]
fn a_cycle_with_work_of_the_user_is_useful() {
    let (mut program, root, state) = two_steps();
    let body = program.run(RunRole::Body, Origin::Source, Some(1));
    let called = program.run(RunRole::Called, Origin::Source, None);
    let wrapper = program.run(RunRole::Called, Origin::Compiler, None);
    let condition = program.run(RunRole::Condition, Origin::Source, Some(0));
    let of = |runs: &[GroupRunId]| program.activity(runs, &[(root, true)], &[(state, 0, 1)]);
    assert_eq!(of(&[body]), Activity::Useful);
    assert_eq!(of(&[called]), Activity::Useful);
    assert_eq!(of(&[condition, body]), Activity::Useful);
    assert_eq!(of(&[wrapper]), overhead(Overhead::FsmUpdate, 0));
}

#[test]
fn a_cycle_that_only_computes_a_condition_is_on_a_line_of_its_own() {
    let (mut program, root, state) = two_steps();
    let condition = program.run(RunRole::Condition, Origin::Source, Some(0));
    let activity = program.activity(&[condition], &[(root, true)], &[(state, 0, 1)]);
    assert_eq!(activity, Activity::Condition);
}

#[test]
fn a_component_without_control_is_useful_while_it_runs() {
    let program = Program::new(&[]);
    assert_eq!(program.activity(&[], &[], &[]), Activity::Useful);
}

#[test]
fn a_step_is_charged_to_the_innermost_statement_around_both_parts() {
    let (program, root, state) = two_steps();
    let of = |now, next| program.activity(&[], &[(root, true)], &[(state, now, next)]);
    assert_eq!(of(0, 1), overhead(Overhead::FsmUpdate, 0));
    // The last state goes back to state 0, which is no jump back.
    assert_eq!(of(2, 0), overhead(Overhead::FsmUpdate, 0));
}

#[test]
fn a_step_from_a_condition_into_its_branch_is_charged_to_the_if() {
    let mut program = Program::new(&[(Seq, None), (If, Some(0)), (Enable, Some(1))]);
    let condition = program.leaf(1);
    let branch = program.leaf(2);
    let (root, state) = program.fsm(0, &[condition, branch]);
    let activity = program.activity(&[], &[(root, true)], &[(state, 0, 1)]);
    assert_eq!(activity, overhead(Overhead::FsmUpdate, 1));
}

#[test]
fn a_step_back_is_charged_to_the_loop() {
    for kind in [While, Repeat] {
        let mut program = Program::new(&[
            (Seq, None),
            (kind, Some(0)),
            (Seq, Some(1)),
            (Enable, Some(2)),
            (Enable, Some(2)),
        ]);
        let body = [program.leaf(3), program.leaf(4)];
        let (root, state) = program.fsm(0, &body);
        let of = |now, next| program.activity(&[], &[(root, true)], &[(state, now, next)]);
        assert_eq!(of(0, 1), overhead(Overhead::FsmUpdate, 2));
        assert_eq!(of(1, 0), overhead(Overhead::FsmUpdate, 1));
    }
}

#[test]
fn a_par_is_charged_to_the_arm_that_runs_longest() {
    let (program, [a, b], root, done) = two_arms();
    // Both end: the first one.
    let both = [(root, true), (a, false), (b, false)];
    let ends = [(done[0], 0, 1), (done[1], 0, 1)];
    let activity = program.activity(&[], &both, &ends);
    assert_eq!(activity, overhead(Overhead::ParDone, 1));
    // One ends: the other.
    let one = [(root, true), (a, false), (b, true)];
    let activity = program.activity(&[], &one, &ends[..1]);
    assert_eq!(activity, overhead(Overhead::ParDone, 2));
    // None runs any more: the `par`, when its registers are cleared and before.
    let cleared = [(done[0], 1, 0), (done[1], 1, 0)];
    let activity = program.activity(&[], &[(root, false)], &cleared);
    assert_eq!(activity, overhead(Overhead::ParDone, 0));
    let activity = program.activity(&[], &[(root, true)], &[]);
    assert_eq!(activity, overhead(Overhead::Other, 0));
}

#[test]
fn a_step_in_one_arm_while_another_ends_is_both() {
    let mut program = Program::new(&[
        (Par, None),
        (Enable, Some(0)),
        (Seq, Some(0)),
        (Enable, Some(2)),
        (Enable, Some(2)),
    ]);
    let ends = program.leaf(1);
    let steps = [program.leaf(3), program.leaf(4)];
    let (machine, state) = program.fsm(2, &steps);
    let (root, done) = program.par(0, &[ends, machine]);
    let activity = program.activity(
        &[],
        &[(root, true), (ends, false), (machine, true)],
        &[(done[0], 0, 1), (state, 0, 1)],
    );
    assert_eq!(activity, overhead(Overhead::FsmAndParDone, 2));
}

#[test]
fn a_static_program_is_charged_to_the_statement_that_waits() {
    let mut program = Program::new(&[
        (StaticSeq, None),
        (StaticEnable, Some(0)),
        (StaticEnable, Some(0)),
    ]);
    let root = program.leaf(0);
    let part = |statement, start, latency| Schedule::new(Some(id(statement)), start, latency);
    let steps = vec![part(1, 0, 1), part(2, 1, 2)];
    program.main().compiled[root.index()].schedule = Some(part(0, 0, 3).with(steps));
    let statements = [1, 2, 2, 1];
    for (cycles, statement) in (1..).zip(statements) {
        let activity = program.after(cycles, &[], &[(root, true)], &[]);
        assert_eq!(activity, overhead(Overhead::StaticWait, statement));
    }
}

#[test]
fn a_helper_is_charged_to_the_statement_that_it_serves() {
    for (kind, line) in [(Repeat, Overhead::FsmUpdate), (Empty, Overhead::Barrier)] {
        let mut program = Program::new(&[(Seq, None), (kind, Some(0))]);
        let root = program.leaf(0);
        let helper = program.run(RunRole::Control, Origin::Compiler, Some(1));
        let activity = program.activity(&[helper], &[(root, true)], &[]);
        assert_eq!(activity, overhead(line, 1));
    }
}

#[test]
fn a_cell_whose_control_does_not_run_starts_or_finishes() {
    let (program, _, _) = two_steps();
    let activity = program.activity(&[], &[], &[]);
    assert_eq!(activity, overhead(Overhead::StartFinish, 0));
}
