//! petal's passes in somebody else's pass manager: several programs on one thread.

// The example's own main is not called here.
#[allow(dead_code)]
#[path = "../examples/driver.rs"]
mod driver;

use std::path::{Path, PathBuf};

use calyx_opt::pass_manager::PassManager;
use petal_metadata::Metadata;
use petal_passes::{ALL, Library, Pipeline, Program, instrument};

/// Two designs that share the names of their components, a `main` and a `step`.
const DESIGNS: [(&str, &str); 2] = [
    ("one", "seq { add; other; add; }"),
    ("two", "par { add; seq { other; add; } }"),
];

struct Folder {
    dir: tempfile::TempDir,
    library: Library,
}

impl Folder {
    fn new() -> Self {
        let folder = Self {
            dir: tempfile::tempdir().unwrap(),
            library: Library::new(&[]).unwrap(),
        };
        for (name, control) in DESIGNS {
            let text = format!(
                "import \"primitives/core.futil\";
                component step() -> () {{
                  cells {{ s = std_reg(8); }}
                  wires {{ group go_on {{ s.in = 8'd1; s.write_en = 1'd1; go_on[done] = s.done; }} }}
                  control {{ go_on; }}
                }}
                component main() -> () {{
                  cells {{ x = std_reg(8); y = std_reg(8); f = step(); }}
                  wires {{
                    group add {{ x.in = 8'd1; x.write_en = 1'd1; add[done] = x.done; }}
                    group other {{ y.in = 8'd1; y.write_en = 1'd1; other[done] = y.done; }}
                  }}
                  control {{ seq {{ {control} invoke f()(); }} }}
                }}"
            );
            std::fs::write(folder.design(name), text).unwrap();
        }
        folder
    }

    fn design(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.futil"))
    }

    fn emitted(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.json"))
    }

    fn read(&self, name: &str) -> calyx_ir::Context {
        let library = self.library.complete().unwrap();
        driver::read(&self.design(name), library, &self.emitted(name)).unwrap()
    }

    /// What a plug-in's metadata have to be: petal's own, but for the record of the passes.
    fn check(&self, name: &str) {
        let program = Program::read(&self.design(name), &self.library).unwrap();
        let pipeline = Pipeline::parse(ALL, &[]).unwrap();
        let (_, mut expected) = instrument(program, &pipeline).unwrap();
        expected.pipeline.clear();
        expected.seal();
        let emitted = Metadata::read(Path::new(&self.emitted(name))).unwrap();
        assert_eq!(emitted, expected, "{name}");
    }
}

fn manager() -> PassManager {
    let mut manager = petal_compiler::default_passes().unwrap();
    petal_passes::register(&mut manager).unwrap();
    manager
}

fn run(manager: &PassManager, ctx: &mut calyx_ir::Context, plan: &str) {
    petal_compiler::run_pass(manager, ctx, plan).unwrap();
}

/// One test: the Calyx crates keep positions of all sources in one table that threads must not
/// share.
#[test]
fn every_program_on_a_thread_gets_its_own_probes_and_metadata() {
    let folder = Folder::new();
    let manager = manager();

    // One after the other.
    for (name, _) in DESIGNS {
        run(&manager, &mut folder.read(name), "profile-all");
    }
    for (name, _) in DESIGNS {
        folder.check(name);
        std::fs::remove_file(folder.emitted(name)).unwrap();
    }

    // One within the other.
    let [(outer, _), (inner, _)] = DESIGNS;
    let mut ctx = folder.read(outer);
    run(&manager, &mut ctx, "encode-control");
    run(&manager, &mut folder.read(inner), "profile-all");
    run(&manager, &mut ctx, "profile-all");
    folder.check(outer);
    folder.check(inner);

    // Once more on a program that is through.
    let error = petal_compiler::run_pass(&manager, &mut ctx, petal_compiler::INSTRUMENTATION);
    let error = format!("{:?}", error.unwrap_err());
    assert!(error.contains("have been emitted already"), "{error}");
}
