//! `petal doctor`: tries what petal needs, and tells how to get what is missing.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::Parser;
use petal_embedded::CRANELIFT_VERSION;
use petal_passes::CALYX_VERSION;
use petal_simulate::{Error, Verilator, Version, compiler_version};
use petal_visualize::thousands;

use crate::args::{Cli, Command};
use crate::cache;
use crate::failure::Failure;
use crate::interrupt;
use crate::outputs;
use crate::run;
use crate::versions;

/// The design that is tried, and its data.
const DESIGN: (&str, &str) = (
    include_str!("../calyx-examples/while-comb.futil"),
    include_str!("../calyx-examples/while-comb.futil.data"),
);

/// Programs that show an SVG file.
const BROWSERS: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else {
    &[
        "firefox",
        "firefox-esr",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "microsoft-edge",
    ]
};

/// How to get something: the system, and what to do there.
type Ways = &'static [(&'static str, &'static str)];

const GET_VERILATOR: Ways = &[
    ("Debian, Ubuntu", "sudo apt-get install -y verilator"),
    ("Fedora", "sudo dnf install -y verilator"),
    ("macOS", "brew install verilator"),
];
const GET_COMPILER: Ways = &[
    ("Debian, Ubuntu", "sudo apt-get install -y g++"),
    ("Fedora", "sudo dnf install -y gcc-c++"),
    ("macOS", "xcode-select --install"),
];
const GET_BROWSER: Ways = &[
    ("Debian", "sudo apt-get install -y firefox-esr"),
    ("Ubuntu", "sudo snap install firefox"),
    ("Fedora", "sudo dnf install -y firefox"),
];
const CHOOSE_CACHE: Ways = &[(
    "any system",
    "set XDG_CACHE_HOME to a folder that can be written",
)];

const WITHOUT_VERILATOR: &str = "designs with Verilog of their own can't be profiled";

/// How something is.
enum State {
    Works,
    /// It may work, but better had another version.
    TooOld(Ways),
    Missing {
        /// What does not work without it.
        without: &'static str,
        ways: Ways,
    },
    Broken(&'static str),
}

/// Something that petal needs, and how it is.
struct Finding {
    what: &'static str,
    state: State,
    /// Its version or place, or what is wrong.
    detail: String,
}

/// `petal doctor`
pub fn doctor() -> Result<(), Failure> {
    let dir = tempfile::tempdir().map_err(Failure::io("write to", &std::env::temp_dir()))?;
    let embedded = try_run("embedded", dir.path());
    let mut findings = vec![match &embedded {
        Ok(cycles) => Finding {
            what: "embedded simulator",
            state: State::Works,
            detail: format!("Cranelift {CRANELIFT_VERSION}; ran a design of {cycles} cycles"),
        },
        Err(failure) => Finding {
            what: "embedded simulator",
            state: State::Broken("nothing can be profiled"),
            detail: failure.to_string(),
        },
    }];
    let verilator = Verilator::installed();
    let compiler = compiler_version();
    let both = verilator.is_ok() && compiler.is_ok();
    findings.push(verilator_finding(verilator));
    findings.push(compiler_finding(compiler));
    if both {
        findings.push(verilator_run(
            try_run("verilator", dir.path()),
            embedded.as_ref().ok(),
        ));
    }
    interrupt::check()?;
    findings.push(cache_finding());
    findings.push(browser_finding());
    let mut text = format!("petal {}, Calyx {CALYX_VERSION}\n\n", versions::PETAL);
    for finding in &findings {
        finding.write(&mut text);
    }
    outputs::print(&text)?;
    embedded.map(drop).map_err(|_| {
        Failure::new("petal cannot profile anything here; see `embedded simulator` above")
    })
}

/// The length in cycles of the run of [`DESIGN`] in a simulator.
fn try_run(simulator: &str, dir: &Path) -> Result<u64, Failure> {
    let design = dir.join("design.futil");
    let data = dir.join("design.futil.data");
    fs::write(&design, DESIGN.0).map_err(Failure::io("write", &design))?;
    fs::write(&data, DESIGN.1).map_err(Failure::io("write", &data))?;
    let out = dir.join(simulator);
    let arguments = [
        OsStr::new("petal"),
        OsStr::new("run"),
        design.as_os_str(),
        OsStr::new("--out"),
        out.as_os_str(),
        OsStr::new("--simulator"),
        OsStr::new(simulator),
    ];
    let Command::Run(args) = Cli::try_parse_from(arguments)?.command else {
        return Err(Failure::new("`petal run` is another command"));
    };
    // A cache of its own, so that the compiler is tried too.
    let profiled = run::profile(&args, &dir.join("cache"))?;
    Ok(profiled.summary.cycles)
}

fn verilator_finding(version: Result<Version, Error>) -> Finding {
    let (state, detail) = match version {
        Ok(version) if version.is_untested() => (
            State::TooOld(GET_VERILATOR),
            format!(
                "{version}; petal is tested with {} and later",
                Version::TESTED
            ),
        ),
        Ok(version) => (State::Works, version.to_string()),
        Err(Error::VerilatorMissing { .. }) => (
            State::Missing {
                without: WITHOUT_VERILATOR,
                ways: GET_VERILATOR,
            },
            "there is no `verilator` on PATH".to_owned(),
        ),
        Err(error) => (State::Broken(WITHOUT_VERILATOR), error.to_string()),
    };
    Finding {
        what: "Verilator",
        state,
        detail,
    }
}

fn compiler_finding(version: Result<String, Error>) -> Finding {
    let (state, detail) = match version {
        Ok(version) => (State::Works, version),
        Err(error) => (
            State::Missing {
                without: "Verilator can't build simulations",
                ways: GET_COMPILER,
            },
            error.to_string(),
        ),
    };
    Finding {
        what: "C++ compiler",
        state,
        detail,
    }
}

/// Holds the run in Verilator against the one in the embedded simulator.
fn verilator_run(cycles: Result<u64, Failure>, embedded: Option<&u64>) -> Finding {
    let (state, detail) = match (cycles, embedded) {
        (Ok(cycles), Some(&embedded)) if cycles != embedded => (
            State::Broken("profiles made with Verilator can't be trusted; please report this"),
            format!("the design took {cycles} cycles"),
        ),
        (Ok(cycles), _) => (State::Works, format!("ran the design: {cycles} cycles")),
        (Err(failure), _) => (State::Broken(WITHOUT_VERILATOR), failure.to_string()),
    };
    Finding {
        what: "run in Verilator",
        state,
        detail,
    }
}

fn cache_finding() -> Finding {
    let dir = cache::path();
    let bytes = fs::create_dir_all(&dir)
        .and_then(|()| tempfile::tempfile_in(&dir))
        .and_then(|_| cache::size(&dir));
    let (state, detail) = match bytes {
        Ok(bytes) => (
            State::Works,
            format!("{}, {} bytes", dir.display(), thousands(bytes)),
        ),
        Err(error) => (
            State::Missing {
                without: "Verilator's builds take longer",
                ways: CHOOSE_CACHE,
            },
            format!("cannot write to {}: {error}", dir.display()),
        ),
    };
    Finding {
        what: "cache folder",
        state,
        detail,
    }
}

fn browser_finding() -> Finding {
    let (state, detail) = match BROWSERS.iter().find_map(|name| on_path(name)) {
        Some(path) => (State::Works, path.display().to_string()),
        None => (
            State::Missing {
                without: "flame graphs and timelines have to be looked at on another machine",
                ways: GET_BROWSER,
            },
            "none of those that petal knows is on PATH".to_owned(),
        ),
    };
    Finding {
        what: "browser",
        state,
        detail,
    }
}

/// The program `name`.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

impl Finding {
    fn write(&self, text: &mut String) {
        let (word, style) = match self.state {
            State::Works => ("ok", AnsiColor::Green.on_default()),
            State::TooOld(_) => ("too old", AnsiColor::Yellow.on_default()),
            State::Missing { .. } => ("missing", AnsiColor::Yellow.on_default()),
            State::Broken(_) => ("broken", AnsiColor::Red.on_default().bold()),
        };
        self.write_first(text, word, style);
        let (without, ways) = match self.state {
            State::Works => (None, &[][..]),
            State::TooOld(ways) => (None, ways),
            State::Missing { without, ways } => (Some(without), ways),
            State::Broken(without) => (Some(without), &[][..]),
        };
        if let Some(without) = without {
            let _ = writeln!(text, "           without it: {without}");
        }
        for (system, way) in ways {
            let _ = writeln!(text, "           {system}: {way}");
        }
    }

    fn write_first(&self, text: &mut String, word: &str, style: Style) {
        // The rest of a long message stands below its begin.
        let detail = self.detail.replace('\n', "\n           ");
        let _ = writeln!(text, "{style}{word:<9}{style:#}{:<20}{detail}", self.what);
    }
}
