//! The rules of each kind of observation: a request as text and a waveform in, tables out.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::Path;

use expect_test::{Expect, expect};
use petal_metadata::Metadata;
use petal_observe::{Directory, Observations, Request, Results};
use petal_reconstruct::{Computation, Computed, Event, Events, Reconstruction, Signal, VcdHeader};
use petal_table::{Value, csv};

/// The tour of petal-reconstruct: a loop that runs twice, with two threads in it, and components.
const VCD: &str = include_str!("../../reconstruct/tests/data/tour.vcd");

fn metadata() -> Metadata {
    let text = include_str!("../../reconstruct/tests/data/tour.metadata.json");
    Metadata::from_json(text, Path::new("tour.metadata.json")).expect("the file is petal's own")
}

/// The cycles of a run.
fn count(events: Events) -> Result<u64, Infallible> {
    let mut cycles = 0;
    events.try_for_each(|event| -> Result<(), Infallible> {
        if let Event::Run(run) = event {
            cycles += run.cycles;
        }
        Ok(())
    })?;
    Ok(cycles)
}

/// What a request gives in the run of the tour, or what is wrong with it.
fn observe(request: &str) -> Result<Results, String> {
    let metadata = metadata();
    let request = Request::parse(request)?;
    let header = VcdHeader::read(VCD.as_bytes()).expect("the waveform is whole");
    let mut directory = Directory::without_memories();
    for (Signal { scope, name }, width) in header.signals() {
        directory.add(scope, [(name, width)]);
    }
    let observations = Observations::new(&metadata, &directory, &request);
    let mut observations = observations.map_err(|refused| refused.to_string())?;
    let reconstruction = Reconstruction::new(&metadata);
    let computation = Computation::of(observations.values());
    let table = reconstruction.signals();
    let source = header.source(&computation.signals(table));
    let mut source = Computed::new(source.expect("its signals are there"), computation, table);
    let run = reconstruction.fan_out(
        &mut source,
        count,
        |events| events.try_for_each(|_| Ok::<(), Infallible>(())),
        Some(&mut observations),
        &mut |_| {},
    );
    let (cycles, ()) = run.expect("the run is whole");
    Ok(observations.finish(cycles, true))
}

/// Holds the tables that have rows against what is expected, or what is wrong.
fn check(request: &str, expected: &Expect) {
    let mut said = String::new();
    match observe(request) {
        Err(problem) => said = format!("{problem}\n"),
        Ok(results) => {
            for table in results.tables() {
                let name = table.name;
                let (columns, rows) = table.into_parts();
                let rows: Vec<Vec<Value>> = rows.collect();
                if !rows.is_empty() {
                    writeln!(said, "{name}").expect("a text grows");
                    said.push_str(&csv(columns.iter().map(|of| &*of.name), rows.iter()));
                }
            }
        }
    }
    expected.assert_eq(&said);
}

#[test]
fn checkpoints_tell_when() {
    check(
        "[[checkpoint]]\nname = \"turn\"\nwhen = \"main.incr\"\ninterval = 4\n",
        &expect![[r#"
            checkpoints
            i,checkpoint,cycle,from_first,distance,from_first_in_intervals,distance_in_intervals,site
            0,turn,10,0,0,0.0000,0.0000,f20b30e8ab475bf1
            1,turn,20,10,10,2.5000,2.5000,f20b30e8ab475bf1
        "#]],
    );
}

#[test]
fn checkpoints_record_values_in_the_order_of_the_file() {
    check(
        "[[checkpoint]]\nname = \"turn\"\nwhen = \"main.incr\"\nvalues = { z = \"main.i.out\", a = \"signed(main.i.out - 1)\" }\n
        [[checkpoint]]\nname = \"step\"\nwhen = \"main.incr\"\nby = \"main.i.out\"\n",
        &expect![[r#"
            checkpoints
            i,checkpoint,cycle,from_first,distance,from_first_in_intervals,distance_in_intervals,site,value_z,value_a
            0,turn,10,0,0,,,f20b30e8ab475bf1,0,-1
            1,step[0],10,0,0,,,ac40ba258846faca,,
            2,turn,20,10,10,,,f20b30e8ab475bf1,1,0
            3,step[1],20,10,0,,,ac40ba258846faca,,
        "#]],
    );
}

#[test]
fn an_interval_may_be_the_distance_of_another_event() {
    check(
        "[[checkpoint]]\nwhen = \"main.incr\"\ninterval = \"main.compare\"\n",
        &expect![[r#"
            checkpoints
            i,checkpoint,cycle,from_first,distance,from_first_in_intervals,distance_in_intervals,site
            0,main.incr,10,0,0,0.0000,0.0000,1fead2f44f670000
            1,main.incr,20,10,10,1.0000,1.0000,1fead2f44f670000
        "#]],
    );
}

#[test]
fn latencies_go_from_one_event_to_another() {
    check(
        "[[latency]]\nname = \"double\"\nfrom = \"main.d\"\n
        [[latency]]\nname = \"turn\"\nfrom = \"main.compare..main.incr\"\n",
        &expect![[r#"
            latencies
            latency,count,min,median,p99,max,total,over_shortest,stall,unfinished,unmatched,site
            double,3,2,2,2,2,6,0,0,0,0,8b23272971f9e871
            turn,2,8,8,8,8,16,0,8,2,0,1792799fc019c47f
            latencies
            latency,start,cycles,site
            double,4,2,8b23272971f9e871
            double,14,2,8b23272971f9e871
            double,26,2,8b23272971f9e871
            turn,2,8,1792799fc019c47f
            turn,12,8,1792799fc019c47f
            unmatched
            latency,cycle,lacks,site
            turn,22,an end,1792799fc019c47f
            turn,34,an end,1792799fc019c47f
        "#]],
    );
}

#[test]
fn watchpoints_list_changes_with_who_wrote_them() {
    check(
        "[[watch]]\nvalue = \"main.y\"\n",
        &expect![[r#"
            changes
            watch,cycle,index,old,new,by,site
            main.y,6,,0,5,main > seq@L65 > while@L67 > seq@L68 > par@L69:11 > seq@L69:41 > outer > inner,104b01472e4fa8f2
            main.y,30,,5,7,main > seq@L65 > static par@L74:7 > static seq@L74:20 > set_y,104b01472e4fa8f2
            main.y,36,,7,1,main > seq@L65 > if@L75 > outer > inner,104b01472e4fa8f2
        "#]],
    );
    check(
        "[[watch]]\nname = \"is less\"\nvalue = \"main.less.out\"\n",
        &expect![[r#"
            changes
            watch,cycle,index,old,new,by,site
            is less,2,,0,1,,9a76337daf279abd
            is less,3,,1,0,,9a76337daf279abd
            is less,12,,0,1,,9a76337daf279abd
            is less,13,,1,0,,9a76337daf279abd
        "#]],
    );
}

#[test]
fn rules_tell_when_they_are_broken_and_by_what() {
    check(
        "[[never]]\nname = \"nine\"\nwhen = \"main.z.out == 9\"\n
        [[always]]\nname = \"small\"\nwhen = \"main.i.out < 2\"\n",
        &expect![[r#"
            violations
            rule,cycle,cycles,written,by,active,site
            nine,31,12,30,main > seq@L65 > static par@L74:7 > static repeat@L74:50 > set_z,main > seq@L65 > static par@L74:7 > static seq@L74:20 > hold_x | main > seq@L65 > static par@L74:7 > static repeat@L74:50 > set_z,146a56713c4cdd10
            small,21,22,20,main > seq@L65 > while@L67 > seq@L68 > incr,main > seq@L65 > while@L67,69cc6c5a0a50f339
        "#]],
    );
}

#[test]
fn counters_add_up_and_figures_are_computed_from_them() {
    check(
        "sample = 20\n
        [[count]]\nname = \"turns\"\nvalue = \"main.incr\"\n
        [[derive]]\nname = \"a turn\"\nformula = \"cycles / turns\"\n",
        &expect![[r#"
            counters
            counter,total,per_cycle,site
            turns,2,0.0465,174f0d422396cace
            spreads
            counter,per,count,min,mean,median,p99,max,max_at,total,rest,unfinished,site
            turns,20 cycles,2,1,1.00,1,1,1,0,2,0,,174f0d422396cace
            samples
            counter,start,cycles,sum,site
            turns,0,20,1,174f0d422396cace
            turns,20,20,1,174f0d422396cace
            turns,40,3,0,174f0d422396cace
            derived
            figure,value,formula
            a turn,21.5000,cycles / turns
        "#]],
    );
}

#[test]
fn windows_keep_parts() {
    check(
        "[[window]]\nfrom = \"2..main.incr\"\nmost = 1\n",
        &expect![[r#"
            windows
            window,start,cycles,state,site
            2..main.incr,8,3,stop,8e6a3175c6f664d8
        "#]],
    );
    check(
        "[[window]]\nname = \"never\"\nfrom = \"main.i.out == 7..3\"\n",
        &expect![[r#"
            windows
            window,start,cycles,state,site
            never,,0,reset,c8b6551668d1f1cd
        "#]],
    );
}

#[test]
fn what_ends_a_run_ends_all() {
    check(
        "stop-on = \"main.incr\"\n[[count]]\nvalue = \"main.go\"\n",
        &expect![[r#"
            counters
            counter,total,per_cycle,site
            main.go,11,1.0000,445312d3fd99bd57
        "#]],
    );
}

#[test]
fn what_makes_no_sense_is_refused_at_its_place() {
    check(
        "[[watch]]\nvalue = \"main.y.wrong\"\n",
        &expect![[r#"
        `y` has no port `wrong`
          main.y.wrong
                 ^^^^^
          its ports are `clk`, `done`, `in`, `out`, `reset`, `write_en`
    "#]],
    );
    check(
        "[[window]]\nfrom = \"3..4\"\n",
        &expect![[r#"
        a window needs an event, at which it begins or ends
          3..4
          ^^^^
    "#]],
    );
    check(
        "[[derive]]\nformula = \"nobody / cycles\"\n",
        &expect![[r#"
            there is no counter `nobody`
              nobody / cycles
              ^^^^^^
              `petal counters` lists what there is
        "#]],
    );
    check(
        "[[never]]\nname = \"a\"\nwhen = \"main.go\"\n[[always]]\nname = \"a\"\nwhen = \"main.go\"\n",
        &expect![[r#"
            two observations of one kind have this name; write `NAME=` before each
              a
              ^
        "#]],
    );
    check(
        "[[nothing]]\n",
        &expect![[r#"
        TOML parse error at line 1, column 3
          |
        1 | [[nothing]]
          |   ^^^^^^^
        unknown field `nothing`, expected one of `sample`, `stop-on`, `checkpoint`, `latency`, `watch`, `access`, `never`, `always`, `count`, `derive`, `window`
    "#]],
    );
}
