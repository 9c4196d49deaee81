//! The steps of synthesis: yosys once, nextpnr once for each seed, and what of both is kept.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use petal_passes::{Hardware, MemoryPlace};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::delays::delays;
use crate::error::Error;
use crate::process::run;
use crate::tools::{Target, Tool, Tools};

/// How to synthesise a design.
#[derive(Debug, Clone)]
pub struct Flow {
    /// The tools.
    pub tools: Tools,
    /// The device.
    pub target: Target,
    /// The seeds of place and route.
    pub seeds: Vec<u64>,
    /// How many tools may run at a time.
    pub jobs: NonZeroUsize,
    /// Where results are kept, if they are.
    pub cache: Option<PathBuf>,
    /// Where the tools work.
    pub folder: PathBuf,
    /// What becomes true when the user asks to stop.
    pub interrupt: Arc<AtomicBool>,
}

/// What yosys made of a design.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// The netlist as JSON.
    pub(crate) netlist: String,
    /// How many cells of each type yosys counts.
    pub(crate) cells: BTreeMap<String, u64>,
    digest: String,
}

impl Mapped {
    /// What a run of yosys wrote: its `write_json`, and its `stat -json` of the same netlist.
    ///
    /// # Errors
    /// When petal can't read the latter.
    pub fn new(netlist: String, stat: &str, top: &str) -> Result<Self, Error> {
        Ok(Self {
            cells: count_cells(stat, top)?,
            netlist,
            digest: String::new(),
        })
    }
}

/// What nextpnr reports for a seed.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The seed.
    pub seed: u64,
    /// Its report as JSON (`--report`).
    pub report: String,
    /// The longest paths as JSON, if petal can read its delays.
    pub delays: Option<String>,
}

impl Flow {
    /// Runs yosys.
    ///
    /// # Errors
    /// When it fails, or somebody asks to stop.
    pub fn map(&self, design: &Hardware, memories: MemoryPlace) -> Result<Mapped, Error> {
        self.map_in(&self.folder, design, memories)
    }

    /// Runs yosys for each of several designs.
    ///
    /// # Errors
    /// When it fails, or somebody asks to stop.
    pub fn map_each(
        &self,
        designs: &[&Hardware],
        memories: MemoryPlace,
    ) -> Result<Vec<Mapped>, Error> {
        let mapped = self.each(designs, |at, design| {
            let folder = self.folder.join(format!("design-{at}"));
            fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
            self.map_in(&folder, design, memories)
        });
        mapped.into_iter().collect()
    }

    fn map_in(
        &self,
        folder: &Path,
        design: &Hardware,
        memories: MemoryPlace,
    ) -> Result<Mapped, Error> {
        let script = self.script(design, memories);
        let yosys = &self.tools.yosys;
        let digest = digest(&[&design.verilog, &script, &yosys.version]);
        let stat = self.kept(&digest, "cells.json");
        let netlist = self.kept(&digest, "netlist.json");
        let (netlist, stat) = if let (Some(netlist), Some(stat)) = (netlist, stat) {
            (netlist, stat)
        } else {
            write(&folder.join("design.sv"), &design.verilog)?;
            write(&folder.join("synth.ys"), &script)?;
            let mut command = Command::new(&yosys.program);
            command.args(["-q", "-s", "synth.ys"]).current_dir(folder);
            let log = folder.join("yosys.log");
            run(&mut command, "yosys", &log, &self.interrupt)?;
            let made = ["netlist.json", "cells.json"].map(|name| read(&folder.join(name)));
            let [netlist, stat] = made;
            let made = (netlist?, stat?);
            self.keep(&digest, "netlist.json", &made.0);
            self.keep(&digest, "cells.json", &made.1);
            made
        };
        Ok(Mapped {
            digest,
            ..Mapped::new(netlist, &stat, &design.top)?
        })
    }

    /// Runs nextpnr for each seed, if there is one for the target.
    ///
    /// # Errors
    /// When it fails, or somebody asks to stop.
    pub fn place(&self, mapped: &Mapped) -> Result<Vec<Placed>, Error> {
        let Some(nextpnr) = &self.tools.nextpnr else {
            return Ok(Vec::new());
        };
        let place = |_, seed: &u64| self.place_one(nextpnr, mapped, *seed);
        let placed = self.each(&self.seeds, place);
        placed.into_iter().collect()
    }

    /// Does the same with all items, as many at a time as there may be tools; the results are in the order of the items.
    fn each<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, R>> = Mutex::default();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { return };
                let result = work(at, item);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.insert(at, result);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.jobs.get().min(items.len()) {
                scope.spawn(work);
            }
            work();
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.into_values().collect()
    }

    fn place_one(&self, nextpnr: &Tool, mapped: &Mapped, seed: u64) -> Result<Placed, Error> {
        let options = self.target.device_options();
        let digest = digest(&[&mapped.digest, &options.join(" "), &nextpnr.version]);
        let name = format!("report-{seed}.json");
        let of_delays = format!("paths-{seed}.json");
        let kept = [&name, &of_delays].map(|name| self.kept(&digest, name));
        if let [Some(report), Some(delays)] = kept {
            return Ok(Placed {
                seed,
                report,
                delays: Some(delays),
            });
        }
        let [sdf, routed] = [format!("delays-{seed}.sdf"), format!("routed-{seed}.json")];
        write(
            &self.folder.join(format!("netlist-{seed}.json")),
            &mapped.netlist,
        )?;
        let mut command = Command::new(&nextpnr.program);
        command
            .args(options)
            .args(["--json", &format!("netlist-{seed}.json")]);
        command.args([
            "--seed",
            &seed.to_string(),
            "--report",
            &name,
            "--sdf",
            &sdf,
            "--write",
            &routed,
            "--timing-allow-fail",
        ]);
        command.current_dir(&self.folder);
        let log = self.folder.join(format!("nextpnr-{seed}.log"));
        run(&mut command, "nextpnr", &log, &self.interrupt)
            .map_err(|error| error.or_too_large(self.target))?;
        let report = read(&self.folder.join(&name))?;
        self.keep(&digest, &name, &report);
        let [sdf, routed] = [sdf, routed].map(|name| read(&self.folder.join(name)));
        let delays = delays(&sdf?, &routed?).ok();
        let delays = delays.and_then(|delays| serde_json::to_string(&delays).ok());
        if let Some(delays) = &delays {
            self.keep(&digest, &of_delays, delays);
        }
        Ok(Placed {
            seed,
            report,
            delays,
        })
    }

    /// What yosys is to do. It stops before it would give cells names of its own, which could be taken for the program's.
    fn script(&self, design: &Hardware, memories: MemoryPlace) -> String {
        let top = &design.top;
        let mut lines = vec!["read_verilog -sv design.sv".to_owned()];
        let kept = || {
            design
                .memories
                .iter()
                .map(|memory| format!("{top}/{memory}"))
        };
        if memories == MemoryPlace::Inside {
            // Nobody reads what is only written, and what is only read is never written: they stay whole.
            lines.push(format!("hierarchy -top {top}"));
            lines
                .extend(kept().map(|of| format!("setattr -set keep 1 -set keep_hierarchy 1 {of}")));
        }
        lines.push(format!(
            "{} -top {top} -run :check",
            self.target.synthesis()
        ));
        if memories == MemoryPlace::Inside {
            lines.extend(kept().map(|of| format!("setattr -unset keep_hierarchy {of}")));
            lines.push("flatten".to_owned());
        }
        lines.push("blackbox =A:whitebox".to_owned());
        lines.push("tee -q -o cells.json stat -json".to_owned());
        lines.push("write_json netlist.json".to_owned());
        lines.join("\n") + "\n"
    }

    fn kept(&self, digest: &str, name: &str) -> Option<String> {
        let cache = self.cache.as_ref()?;
        fs::read_to_string(cache.join(format!("synth-{digest}-{name}"))).ok()
    }

    /// Without a cache, the next run only takes longer.
    fn keep(&self, digest: &str, name: &str, text: &str) {
        let Some(cache) = &self.cache else { return };
        let path = cache.join(format!("synth-{digest}-{name}"));
        let whole = cache.join(format!(".synth-{digest}-{name}-{}", std::process::id()));
        if fs::write(&whole, text)
            .and_then(|()| fs::rename(&whole, path))
            .is_err()
        {
            let _ = fs::remove_file(whole);
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::io("write", path))
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::io("read", path))
}

/// Removes what is kept in a cache.
///
/// # Errors
/// When it can't be removed.
pub fn clean_cache(cache: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("synth-") || name.starts_with(".synth-") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    let mut text = format!("{:x}", digest.finalize());
    text.truncate(24);
    text
}

/// Reads the counts of `stat -json`.
pub(crate) fn count_cells(stat: &str, top: &str) -> Result<BTreeMap<String, u64>, Error> {
    let unreadable = |reason: &str| Error::unreadable("yosys", reason);
    // Some versions say more around it.
    let json = stat
        .find('{')
        .zip(stat.rfind('}'))
        .map(|(from, to)| &stat[from..=to]);
    let stat: Value = serde_json::from_str(json.unwrap_or_default())
        .map_err(|error| unreadable(&error.to_string()))?;
    let modules = stat["modules"].as_object();
    let module = modules.and_then(|modules| modules.get(&format!("\\{top}")).or(modules.get(top)));
    let cells = module.and_then(|module| module["num_cells_by_type"].as_object());
    let cells = cells.ok_or_else(|| unreadable("`stat` counts no cells"))?;
    Ok(cells
        .iter()
        .filter(|(kind, _)| !kind.starts_with("$scopeinfo"))
        .filter_map(|(kind, count)| Some((kind.clone(), count.as_u64()?)))
        .collect())
}
