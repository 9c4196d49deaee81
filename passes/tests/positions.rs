//! What front ends write today: positions reach the metadata, change no hardware, and are never in the way.
//!
//! Each design of the corpus and of the examples gets positions of its own everywhere, and is held against
//! the same without. What is where is read off the syntax tree of the Calyx parser alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use petal_metadata::{Metadata, Origin, PositionId};
use petal_passes::{
    ALL, CALYX_VERSION, Library, NO_OPT, Parsed, PassesError, Pipeline, Source, compile, instrument,
};

use self::inserter::{Positioned, positioned};

#[path = "positions/inserter.rs"]
mod inserter;

fn designs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = ["calyx-examples", "tests/corpus"].map(|folder| root.join(folder));
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "futil")
    });
    files.sort();
    assert!(files.len() > 50, "only {} designs", files.len());
    files
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let copied = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            std::fs::create_dir(&copied).unwrap();
            copy(&entry, &copied);
        } else {
            std::fs::copy(&entry, &copied).unwrap();
        }
    }
}

fn lines(metadata: &Metadata, positions: &[PositionId]) -> Vec<u32> {
    let positions = positions.iter().map(|&id| metadata.front_end.position(id));
    positions
        .map(|position| {
            assert_eq!(
                metadata.front_end.file(position.file).path,
                "dir/front end.py"
            );
            assert_eq!(position.end_line, position.line + 2);
            position.line
        })
        .collect()
}

/// Holds the positions in the metadata against those that were put into the program.
fn check(metadata: &Metadata, expected: &Positioned) {
    for component in &metadata.components {
        let name = || component.name.clone();
        if let Some(own) = expected.components.get(&component.name) {
            assert_eq!(&lines(metadata, &component.positions), own);
        }
        for cell in &component.cells {
            let own = expected.cells.get(&(name(), cell.name.clone()));
            let own = own.filter(|_| cell.origin == Origin::Source);
            let own = own.cloned().unwrap_or_default();
            assert_eq!(lines(metadata, &cell.positions), own, "{}", cell.name);
        }
        for group in &component.groups {
            let own = expected.groups.get(&(name(), group.name.clone()));
            let own = own.filter(|_| group.origin == Origin::Source);
            let own = own.cloned().unwrap_or_default();
            assert_eq!(lines(metadata, &group.positions), own, "{}", group.name);
        }
        let of_source = component.control.iter();
        let of_source = of_source.filter(|node| node.origin == Origin::Source);
        let control: Vec<Vec<u32>> = of_source
            .map(|node| lines(metadata, &node.positions))
            .filter(|lines| !lines.is_empty())
            .collect();
        if let Some(own) = expected.control.get(&component.name) {
            assert_eq!(&control, own, "{}", component.name);
        }
    }
}

#[test]
fn positions_change_nothing_and_arrive_with_optimisations() {
    positions_change_nothing_and_arrive(ALL, 0);
}

#[test]
fn positions_change_nothing_and_arrive_without_optimisations() {
    positions_change_nothing_and_arrive(NO_OPT, 1);
}

/// Of every second design, from `first` on.
fn positions_change_nothing_and_arrive(passes: &str, first: usize) {
    let library = Library::new(&[]).unwrap();
    let pipeline = Pipeline::parse(passes, &[]).unwrap();
    let mut compared = 0;
    for design in designs().into_iter().skip(first).step_by(2) {
        let text = std::fs::read_to_string(&design).unwrap();
        // One has positions already, and one more is not what the published compiler reads.
        let expected = positioned(&text).filter(|_| !text.contains("sourceinfo"));
        let Some(expected) = expected else {
            continue;
        };
        // Beside copies of what it imports.
        let folder = tempfile::tempdir().unwrap();
        copy(design.parent().unwrap(), folder.path());
        let file = folder.path().join(design.file_name().unwrap());
        std::fs::write(&file, &expected.text).unwrap();
        let built = |file: &Path| {
            let parsed = Parsed::read(file, &library)?;
            assert_eq!(parsed.notes(), &[] as &[String], "{}", file.display());
            compile(parsed.program()?, &pipeline)
        };
        let (Ok(plain), with) = (built(&design), built(&file)) else {
            continue;
        };
        let with = with.unwrap_or_else(|error| panic!("{}: {error}", design.display()));
        assert_eq!(plain.structure, with.structure, "{}", design.display());
        let program = Parsed::read(&file, &library).unwrap().program().unwrap();
        let (probed, metadata) = instrument(program, &pipeline).unwrap();
        assert_eq!(plain.structure, probed.structure, "{}", design.display());
        check(&metadata, &expected);
        compared += 1;
    }
    assert!(compared > 25, "{compared} designs");
}
/// The program from this text, and what petal notes of it.
fn read(text: &str) -> Result<(Metadata, Vec<String>), PassesError> {
    let library = Library::new(&[]).unwrap();
    let source = Source::Text {
        name: PathBuf::from("<stdin>"),
        text: text.to_owned(),
    };
    let parsed = Parsed::read(source, &library)?;
    let notes = parsed.notes().to_vec();
    let pipeline = Pipeline::parse(NO_OPT, &[])?;
    Ok((instrument(parsed.program()?, &pipeline)?.1, notes))
}

const PROGRAM: &str = r#"import "primitives/core.futil";
component main<"pos"={0}>() -> () {
  cells {
    @pos{1} refresh = std_reg(32);
    @pos{2} f = std_float_const(0, 32, 1.5);
  }
  wires {
    group save<"pos"={1, 7}> { refresh.in = f.out; refresh.write_en = 1'd1; save[done] = refresh.done; }
  }
  control { @pos{3} seq { @pos(0) save; @pos{2} save; } }
}
"#;

/// All positions of the program with this table, in words, and the notes.
fn check_table(table: &str, expected: &Expect) {
    let (metadata, notes) = read(&format!("{PROGRAM}{table}")).unwrap();
    let main = metadata.component(metadata.main);
    let mut text = String::new();
    let mut tell = |what: &str, name: &str, positions: &[PositionId]| {
        let places = positions.iter().map(|&id| {
            let position = metadata.front_end.position(id);
            let file = &metadata.front_end.file(position.file).path;
            format!(" {file}:{}-{}", position.line, position.end_line)
        });
        writeln!(text, "{what} {name}:{}", places.collect::<String>()).unwrap();
    };
    tell("component", "main", &main.positions);
    for cell in &main.cells {
        tell("cell", &cell.name, &cell.positions);
    }
    for group in &main.groups {
        tell("group", &group.name, &group.positions);
    }
    for node in &main.control {
        let span = node.span.unwrap();
        let place = format!("{}:{}", span.line, span.column);
        tell(node.kind.keyword(), &place, &node.positions);
    }
    for note in notes {
        writeln!(text, "note: {note}").unwrap();
    }
    expected.assert_eq(&text);
}

#[test]
fn tables_are_read() {
    check_table(
        "sourceinfo #{\nFILES\n 0: a.py\n 1: /b c/ü:1.py\nPOSITIONS\n 0: 0 1\n 1: 1 2:4\n 2: 0 3\n 3: 1 2:4\n 7: 0 1\n\
         MEMORY_LOCATIONS\n anything: at all\n}#\n",
        &expect![[r#"
            component main: a.py:1-1
            cell refresh: /b c/ü:1.py:2-4
            group save: /b c/ü:1.py:2-4 a.py:1-1
            seq 10:21: /b c/ü:1.py:2-4
            enable 10:27: a.py:1-1
            enable 10:49: a.py:3-3
            note: <stdin>:23: `anything` is not `VARIABLE_ASSIGNMENTS`, which must follow the tables before it; no variable is shown; it is ignored
        "#]],
    );
    // In any case, and on one line.
    check_table(
        "metadata #{\n 0: old.py:12\n}#\nSOURCEINFO #{ files 5: a.py\n positions 0: 5 1\n 1: 5 1\n 2: 5 1\n 3: 5 1\n 7: 5 9}#",
        &expect![[r#"
            component main: a.py:1-1
            cell refresh: a.py:1-1
            group save: a.py:1-1 a.py:9-9
            seq 10:21: a.py:1-1
            enable 10:27: old.py:12-12
            enable 10:49: a.py:1-1
        "#]],
    );
    check_table(
        "sourceinfo #{ }# metadata #{\n0: loc(\"a b.mlir\":3:4)\n1: any text\n2: x:0\n}#",
        &expect![[r#"
            component main:
            cell refresh:
            group save:
            seq 10:21:
            enable 10:27: a b.mlir:3-3
            enable 10:49:
            note: <stdin>:2: position 0 is not in the table `sourceinfo` (and 5 more)
        "#]],
    );
}

#[test]
fn broken_tables_are_noted() {
    check_table(
        "",
        &expect![[r#"
        component main:
        cell refresh:
        group save:
        seq 10:21:
        enable 10:27:
        enable 10:49:
        note: <stdin>:2: there are positions, but no table `sourceinfo` (and 5 more)
    "#]],
    );
    check_table(
        "sourceinfo #{\nFILES\n 0: a.py\n 0: b.py\n x: c.py\n 1:\nPOSITIONS\n 0: 0 0\n 1: 0 4:3\n 2: 9 1\n 3: 0 1\n 3: 0 2\n 7: 0 99999999999\n}#",
        &expect![[r#"
            component main:
            cell refresh:
            group save:
            seq 10:21: a.py:1-1
            enable 10:27:
            enable 10:49:
            note: <stdin>:15: the id of `0: b.py` is taken; it is ignored (and 7 more)
            note: <stdin>:2: position 0 is not in the table `sourceinfo` (and 4 more)
        "#]],
    );
}

#[test]
fn names_and_constants_are_those_of_the_source() {
    let (metadata, _) = read(&format!("{PROGRAM}sourceinfo #{{}}#")).unwrap();
    let cells = &metadata.component(metadata.main).cells;
    let cells: Vec<_> = cells
        .iter()
        .map(|cell| (cell.name.as_str(), &cell.kind))
        .collect();
    expect![[r#"[("refresh", Primitive("std_reg"))]"#]].assert_eq(&format!("{cells:?}"));
}

/// The error that reading a text ends with.
fn check_error(text: &str, expected: &Expect) {
    let error = read(text).map(|_| ()).unwrap_err();
    expected.assert_eq(&error.to_string());
}

#[test]
fn errors_show_the_users_text() {
    // Of the parser, of the check of names, and of a pass.
    check_error(
        &PROGRAM.replace("@pos{2} save;", "@pos{2} save"),
        &expect![[r#"
            the Calyx compiler refuses the design (parser):
            <stdin>:10:52: a `;` is missing behind this
            10 |  control { @pos{3} seq { @pos(0) save; @pos{2} save } }
               |                                                   ^"#]],
    );
    check_error(
        &PROGRAM.replace("std_reg(32)", "std_rag(32)"),
        &expect![[r#"
            the Calyx compiler refuses the design (parser):
            <stdin>:4:23: Undefined primitive or component name: std_rag; is it `std_reg`, `std_ge` or `std_gt`?
            4 |    @pos{1} refresh = std_rag(32);
              |                      ^^^^^^^"#]],
    );
    check_error(
        &PROGRAM.replace("refresh.in", "refresh.inn"),
        &expect![[r#"
            the Calyx compiler refuses the design (parser):
            <stdin>:8:40: Undefined port name: inn; is it `in`?
            8 |    group save<"pos"={1, 7}> { refresh.inn = f.out; refresh.write_en = 1'd1; save[done] = refresh.done; }
              |                                       ^^^"#]],
    );
    check_error(
        &PROGRAM.replace("wires {", "wires {\n fsm f { }"),
        &expect![
            "<stdin>:8: `fsm f` is a state machine that passes of newer Calyx compilers make, and petal cannot tell what runs in one; profile the program from before these passes, as its front end writes it"
        ],
    );
}

#[test]
fn an_attribute_that_may_change_cycles_is_noted() {
    // Upstream's compiler knows it.
    if CALYX_VERSION != "0.7.1" {
        return;
    }
    let text = PROGRAM.replace("@pos{3} seq", "@fast @pos{3} seq");
    let table =
        "sourceinfo #{\nFILES\n 0: a\nPOSITIONS\n 0: 0 1\n 1: 0 1\n 2: 0 1\n 3: 0 1\n 7: 0 1\n}#";
    let (_, notes) = read(&format!("{text}{table}")).unwrap();
    expect!["<stdin>:10: `@fast` is unknown to Calyx 0.7.1, and ignored: a newer compiler may need fewer cycles for this `seq`"].assert_eq(&notes.join("\n"));
    let text = text.replace(
        "@pos{2} save;",
        "@fast seq { save; } @fast(1) seq { save; }",
    );
    let (_, notes) = read(&format!("{text}{table}")).unwrap();
    expect!["<stdin>:10: `@fast` is unknown to Calyx 0.7.1, and ignored: a newer compiler may need fewer cycles for this `seq` (and 2 more)"].assert_eq(&notes.join("\n"));
}

#[test]
fn imports_and_libraries_are_read_alike() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library");
    std::fs::create_dir(&library).unwrap();
    let component = |name: &str, line: u32| {
        format!(
            "component {name}<\"pos\"={{1}}>() -> () {{ cells {{}} wires {{}} control {{}} }}\n\
             sourceinfo #{{\nFILES\n 0: {name}.py\nPOSITIONS\n 1: 0 {line}\n}}#\n"
        )
    };
    std::fs::write(library.join("far.futil"), component("far", 5)).unwrap();
    std::fs::write(folder.path().join("near.futil"), component("near", 6)).unwrap();
    let main = component("main", 7).replace(
        "cells {}",
        "cells { @pos{1} a = near(); @pos{1} b = far(); }",
    );
    let file = folder.path().join("design.futil");
    std::fs::write(
        &file,
        format!("import \"near.futil\";\nimport \"far.futil\";\n{main}"),
    )
    .unwrap();
    let library = Library::new(&[library]).unwrap();
    let parsed = Parsed::read(&file, &library).unwrap();
    assert_eq!(parsed.notes(), &[] as &[String]);
    let program = parsed.program().unwrap();
    // It refuses empty components.
    let pipeline = Pipeline::parse(NO_OPT, &["papercut".to_owned()]).unwrap();
    let (_, metadata) = instrument(program, &pipeline).unwrap();
    let mut places: Vec<String> = Vec::new();
    for component in &metadata.components {
        let positions = component.positions.iter();
        places.extend(positions.map(|&id| {
            let position = metadata.front_end.position(id);
            let file = &metadata.front_end.file(position.file).path;
            format!("{} {file}:{}", component.name, position.line)
        }));
    }
    places.sort();
    assert_eq!(places, ["far far.py:5", "main main.py:7", "near near.py:6"]);
}
