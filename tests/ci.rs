//! The workflow in docs/ci.md does what the page says: its petal steps are run here, in order, as the
//! runner would.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use yaml_rust2::{Yaml, YamlLoader};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci.md");
    fs::read_to_string(path).unwrap()
}

/// The code blocks of the page in this language.
fn blocks(language: &str) -> Vec<String> {
    let page = page();
    let open = format!("```{language}\n");
    page.split(&open)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// The steps of the workflow: name and commands.
fn steps() -> Vec<(String, String)> {
    let workflow = YamlLoader::load_from_str(&blocks("yaml")[0]).unwrap();
    let steps = &workflow[0]["jobs"]["cycles"]["steps"];
    let text = |value: &Yaml| value.as_str().unwrap().to_owned();
    steps
        .as_vec()
        .unwrap()
        .iter()
        .filter(|step| !step["run"].is_badvalue())
        .map(|step| (text(&step["name"]), text(&step["run"])))
        .collect()
}

/// A repository with the design, and petal on the path.
struct Runner {
    dir: TempDir,
}

impl Runner {
    fn new() -> Self {
        let runner = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("calyx-examples");
        for ending in ["", ".data"] {
            let from = examples.join(format!("while-comb.futil{ending}"));
            fs::copy(from, runner.path(&format!("design.futil{ending}"))).unwrap();
        }
        fs::create_dir(runner.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_petal"), runner.path("bin/petal")).unwrap();
        runner
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs commands as the runner of GitHub Actions does.
    fn bash(&self, commands: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        Command::new("bash")
            .args(["-eo", "pipefail", "-c", commands])
            .current_dir(self.dir.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .output()
            .unwrap()
    }

    fn succeeds(&self, commands: &str) {
        let output = self.bash(commands);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}\n{said}");
    }

    /// Runs the petal steps of the job up to one that fails, and returns its name and what it says.
    fn job(&self) -> Option<(String, String)> {
        let mut ran = 0;
        for (name, commands) in steps() {
            if !commands.starts_with("petal ") {
                continue;
            }
            ran += 1;
            let output = self.bash(&commands);
            if !output.status.success() {
                assert_eq!(output.status.code(), Some(1), "{name}");
                return Some((name, String::from_utf8(output.stderr).unwrap()));
            }
        }
        assert_eq!(ran, 3, "the page has other steps now");
        None
    }
}

#[test]
fn the_job_passes_a_design_that_is_no_slower_and_stops_one_that_is() {
    let runner = Runner::new();
    runner.succeeds(&blocks("sh")[0]);
    assert_eq!(runner.job(), None);
    let summary = runner.read("summary.md");
    assert!(summary.starts_with("## design\n"), "{summary}");
    assert!(summary.contains("| cycles | 17 | 17 |"), "{summary}");
    let metrics: serde_json::Value = serde_json::from_str(&runner.read("metrics.json")).unwrap();
    assert_eq!(metrics[0]["name"], "design: cycles");
    assert_eq!(metrics[0]["value"], 17);

    // One iteration more.
    let design = runner.read("design.futil");
    let slower = design.replace("lt.right = 3'd3;", "lt.right = 3'd4;");
    assert_ne!(design, slower);
    fs::write(runner.path("design.futil"), slower).unwrap();
    fs::remove_file(runner.path("summary.md")).unwrap();
    fs::remove_file(runner.path("change.svg")).unwrap();
    let (step, said) = runner.job().expect("it is slower");
    assert_eq!(step, "Compare with the baseline");
    assert!(
        said.contains("above the limit of 2%; what grew most: main.cond"),
        "{said}"
    );
    // What explains the failure is there all the same.
    let summary = runner.read("summary.md");
    assert!(
        summary.contains("| cycles | 17 | 21 | +4 | +23.5 |"),
        "{summary}"
    );
    assert!(runner.read("change.svg").contains("red grew"));
    assert!(runner.path("profile/flame.svg").exists());
}

#[test]
fn the_job_installs_petal_from_where_it_is_checked_out() {
    let page = page();
    let (_, install) = steps()
        .into_iter()
        .find(|(name, _)| name == "Install petal")
        .expect("there is such a step");
    let folder = install.rsplit(' ').next().unwrap().trim();
    assert!(page.contains(&format!("path: {folder}\n")), "{install}");
}

#[test]
fn the_other_commands_of_the_page_work() {
    let runner = Runner::new();
    runner.succeeds(
        "git init -q && git add . && git -c user.name=n -c user.email=e commit -qm design",
    );
    for commands in &blocks("sh")[1..] {
        runner.succeeds(commands);
    }
}
