//! Where every cycle of the while variants and of the switch-case example goes, against texts that
//! were checked by hand, cycle by cycle and as the table of statements.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_analysis::{Analysis, ControlView};
use petal_metadata::Id;
use petal_reconstruct::{Activity, Event, FrameLabels, Node, NodeId};

use crate::support;

/// Profiles an example under `all` and compares its ledger.
fn check(example: &str, expected: &Expect) {
    let design = support::root().join("calyx-examples").join(example);
    let (compiled, metadata) = support::instrument(&design, "all");
    let (_, traced) = support::embedded(&design, &compiled, &metadata);
    let labels = FrameLabels::new(&metadata);
    let mut analysis = Analysis::new(&metadata, ControlView::Source);
    let mut text = String::new();
    for event in &traced.events {
        analysis.event(event);
        let Event::Run(run) = event else { continue };
        let first = run.start.cycles();
        let tree = &traced.trees[run.tree.index()];
        let Node::Cell {
            instance, activity, ..
        } = tree.node(NodeId::from_index(0))
        else {
            panic!("the root of a call tree is a cell");
        };
        let told = match activity {
            Activity::Useful => "computation".to_owned(),
            Activity::Condition => "conditions".to_owned(),
            Activity::Overhead(charge) => {
                labels.charge(traced.instances[instance.index()].component, charge)
            }
        };
        for cycle in first..first + run.cycles {
            writeln!(text, "{cycle} {told}").unwrap();
        }
    }
    text.push_str(&analysis.statements().text());
    expected.assert_eq(&text);
}

#[test]
fn a_switch_case() {
    check(
        "switch-case-par.futil",
        &expect![[r#"
            0 computation
            1 FSM update of seq@L116
            2 FSM update of if@L119
            3 computation
            4 FSM update of if@L119
            5 FSM and par-done update of par@L118
            6 FSM and par-done update of seq@L116
            7 computation
            8 FSM update of seq@L116
            component  statement  kind    file                   line  times entered  iterations  cycles  flattened  useful  conditions  overhead  FSM update  par-done update  FSM and par-done update  static wait  barrier  start/finish  other  hidden control  min  max   avg
            sub_one    go_one     enable  switch-case-par.futil    22              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1  1.00
            sub_two    go_two     enable  switch-case-par.futil    42              0                   0          0       0           0         0           0                0                        0            0        0             0      0               0
            sub_three  go_three   enable  switch-case-par.futil    62              0                   0          0       0           0         0           0                0                        0            0        0             0      0               0
            main       seq@L116   seq     switch-case-par.futil   116              1                   9         11       3           0         3           2                0                        1            0        0             0      0               0    9    9  9.00
            main       read       enable  switch-case-par.futil   117              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1  1.00
            main       par@L118   par     switch-case-par.futil   118              1                   4          6       1           0         1           0                0                        1            0        0             0      0               0    4    4  4.00
            main       if@L119    if      switch-case-par.futil   119              1                   3          3       1           0         2           2                0                        0            0        0             0      0               0    3    3  3.00
            main       run_s1     enable  switch-case-par.futil   119              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1  1.00
            main       if@L120    if      switch-case-par.futil   120              1                   1          1       0           0         0           0                0                        0            0        0             0      0               1    1    1  1.00
            main       run_s2     enable  switch-case-par.futil   120              0                   0          0       0           0         0           0                0                        0            0        0             0      0               0
            main       if@L121    if      switch-case-par.futil   121              1                   1          1       0           0         0           0                0                        0            0        0             0      0               1    1    1  1.00
            main       run_s3     enable  switch-case-par.futil   121              0                   0          0       0           0         0           0                0                        0            0        0             0      0               0
            main       write      enable  switch-case-par.futil   123              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1  1.00
        "#]],
    );
}

#[test]
fn a_loop_with_a_condition_group() {
    check(
        "while-comb.futil",
        &expect![[r#"
            0 computation
            1 FSM update of seq@L53
            2 conditions
            3 FSM update of while@L55
            4 computation
            5 computation
            6 computation
            7 conditions
            8 computation
            9 computation
            10 computation
            11 conditions
            12 computation
            13 computation
            14 computation
            15 conditions
            16 FSM update of seq@L53
            component  statement  kind    file              line  times entered  iterations  cycles  flattened  useful  conditions  overhead  FSM update  par-done update  FSM and par-done update  static wait  barrier  start/finish  other  hidden control  min  max    avg
            main       seq@L53    seq     while-comb.futil    53              1                  17         20      14           4         2           2                0                        0            0        0             0      0               0   17   17  17.00
            main       init       enable  while-comb.futil    54              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       while@L55  while   while-comb.futil    55              1           3      14         17      13           4         1           1                0                        0            0        0             0      0               0   14   14  14.00
            main       par@L56    par     while-comb.futil    56              3                   9         12       9           0         0           0                0                        0            0        0             0      0               0    3    3   3.00
            main       seq@L57    seq     while-comb.futil    57              3                   9          9       9           0         0           0                0                        0            0        0             0      0               0    3    3   3.00
            main       read       enable  while-comb.futil    57              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       update     enable  while-comb.futil    57              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       write      enable  while-comb.futil    57              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       incr       enable  while-comb.futil    58              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
        "#]],
    );
}

#[test]
fn a_loop_with_a_condition_register() {
    check(
        "while-reg.futil",
        &expect![[r#"
            0 computation
            1 computation
            2 FSM update of seq@L57
            3 computation
            4 computation
            5 computation
            6 computation
            7 computation
            8 computation
            9 computation
            10 computation
            11 computation
            12 computation
            13 computation
            14 computation
            15 FSM update of seq@L57
            component  statement   kind    file             line  times entered  iterations  cycles  flattened  useful  conditions  overhead  FSM update  par-done update  FSM and par-done update  static wait  barrier  start/finish  other  hidden control  min  max    avg
            main       seq@L57     seq     while-reg.futil    57              1                  16         19      14           0         2           2                0                        0            0        0             0      0               0   16   16  16.00
            main       init        enable  while-reg.futil    58              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       cond_group  enable  while-reg.futil    59              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       while@L60   while   while-reg.futil    60              1           3      12         15      12           0         0           0                0                        0            0        0             0      0               0   12   12  12.00
            main       seq@L61     seq     while-reg.futil    61              3                  12         15      12           0         0           0                0                        0            0        0             0      0               0    4    4   4.00
            main       par@L62     par     while-reg.futil    62              3                   9         12       9           0         0           0                0                        0            0        0             0      0               0    3    3   3.00
            main       seq@L63     seq     while-reg.futil    63              3                   9          9       9           0         0           0                0                        0            0        0             0      0               0    3    3   3.00
            main       read        enable  while-reg.futil    63              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       update      enable  while-reg.futil    63              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       write       enable  while-reg.futil    63              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       incr        enable  while-reg.futil    64              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       cond_group  enable  while-reg.futil    66              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
        "#]],
    );
}

#[test]
fn a_loop_that_writes_its_register_in_parallel() {
    check(
        "while-par.futil",
        &expect![[r#"
            0 computation
            1 computation
            2 FSM update of seq@L57
            3 computation
            4 computation
            5 computation
            6 computation
            7 computation
            8 computation
            9 computation
            10 computation
            11 computation
            12 FSM update of seq@L57
            component  statement   kind    file             line  times entered  iterations  cycles  flattened  useful  conditions  overhead  FSM update  par-done update  FSM and par-done update  static wait  barrier  start/finish  other  hidden control  min  max    avg
            main       seq@L57     seq     while-par.futil    57              1                  13         19      11           0         2           2                0                        0            0        0             0      0               0   13   13  13.00
            main       init        enable  while-par.futil    58              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       cond_group  enable  while-par.futil    59              1                   1          1       1           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       while@L60   while   while-par.futil    60              1           3       9         15       9           0         0           0                0                        0            0        0             0      0               0    9    9   9.00
            main       par@L61     par     while-par.futil    61              3                   9         15       9           0         0           0                0                        0            0        0             0      0               0    3    3   3.00
            main       seq@L62     seq     while-par.futil    62              3                   9          9       9           0         0           0                0                        0            0        0             0      0               0    3    3   3.00
            main       read        enable  while-par.futil    62              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       update      enable  while-par.futil    62              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       write       enable  while-par.futil    62              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       seq@L63     seq     while-par.futil    63              3                   6          6       6           0         0           0                0                        0            0        0             0      0               0    2    2   2.00
            main       incr        enable  while-par.futil    63              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
            main       cond_group  enable  while-par.futil    63              3                   3          3       3           0         0           0                0                        0            0        0             0      0               0    1    1   1.00
        "#]],
    );
}
