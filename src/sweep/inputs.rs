//! What a run of a sweep depends on, by names that are the same on every machine.
//!
//! Reads files, and starts nothing but tools that are asked for their versions.

use std::path::{Path, PathBuf};

use petal_metadata::is_calyx;
use petal_profile::SourceRoots;
use petal_program::{CALYX_VERSION, Library, Parsed, Source as Design};
use petal_sweep::{Inputs, Job, Name, Row, Source};
use petal_synth::{Target, Tools};

use super::shop::{PRINTED, Shop, kept_design};

/// What the tools for a device say of their versions; nothing, if they are not there.
fn versions(device: &str) -> String {
    let target = Target::ALL.into_iter().find(|of| of.name() == device);
    let tools = target.and_then(|target| Tools::find(target).ok());
    tools.map_or_else(String::new, |of| {
        let nextpnr = of.nextpnr.map(|tool| tool.version).unwrap_or_default();
        format!("{}, {nextpnr}", of.yosys.version)
    })
}

impl Shop {
    /// The inputs of a run that are known without starting anything but the tools of synthesis, which are asked for their versions.
    pub fn known(&self, job: &Job) -> Inputs {
        let mut inputs = Inputs::default();
        let petal = format!("{} {CALYX_VERSION}", crate::versions::PETAL);
        inputs.add("the version of petal", petal.as_bytes());
        let is_pass = |option: &&String| {
            let passes = ["--passes=", "--disable-pass=", "--extra-opt="];
            passes.iter().any(|name| option.starts_with(name))
        };
        let (passes, others): (Vec<&String>, Vec<&String>) = job.options.iter().partition(is_pass);
        let text = |options: Vec<&String>| serde_json::to_vec(&options).unwrap_or_default();
        inputs.add(&format!("the pipeline {}", job.name.passes), &text(passes));
        inputs.add("the options of all runs", &text(others));
        let mut options = job.options.iter();
        if let Some(device) = options.find_map(|option| option.strip_prefix("--synth=")) {
            let tools = self.tools.of(&device.to_owned(), || versions(device));
            inputs.add("the tools of synthesis", tools.as_bytes());
        }
        match &job.design {
            Source::File(path) => {
                let own = petal_files::read(&self.dir.join(path)).unwrap_or_default();
                inputs.add(&path.to_string_lossy(), &own);
                inputs.extend(&self.designs.of(&job.design, || self.parts(job, None)));
            }
            Source::Command(command) => {
                let what = format!("the command of the design {}", job.name.design);
                inputs.add(&what, command.as_bytes());
            }
        }
        // What petal takes if nothing else is said lies beside the design.
        let beside = |without: &str, ending: &str| match &job.design {
            Source::File(path) => {
                let name = path.file_name()?.to_str()?;
                let name = name.strip_suffix(without).unwrap_or(name);
                Some(path.with_file_name(format!("{name}{ending}")))
            }
            Source::Command(_) => None,
        };
        let data = match &job.data {
            Some(Source::Command(command)) => {
                let Name { design, data, .. } = &job.name;
                let what = format!("the command of the data {data} of {design}");
                inputs.add(&what, command.as_bytes());
                None
            }
            Some(Source::File(path)) => Some(path.clone()),
            None => beside("", ".data"),
        };
        let observe = job.observe.clone();
        let observe = observe.or_else(|| beside(".futil", ".observe.toml"));
        for path in data.into_iter().chain(observe) {
            let name = path.to_string_lossy();
            match petal_files::read(&self.dir.join(&path)) {
                Ok(text) => inputs.add(&name, &text),
                // It may come.
                Err(_) => inputs.add_absent(&name),
            }
        }
        inputs
    }

    /// What changed since an earlier row of a run, as far as it can be known without starting anything: not what commands print.
    pub fn changed(&self, job: &Job, earlier: &Row) -> Option<String> {
        let mut inputs = self.known(job);
        // A design that is generated again is most likely the same.
        if let Source::Command(_) = job.design {
            let kept = self.out.join(kept_design(job));
            inputs.extend(&self.parts_of_printed(job, &kept));
        }
        let mut changes = inputs.changes(&earlier.inputs);
        let found = changes.find(|name| !name.starts_with(PRINTED));
        found.map(str::to_owned)
    }

    /// What a design that a command printed to a file is made of besides its text.
    pub fn parts_of_printed(&self, job: &Job, path: &Path) -> Inputs {
        let make = || match petal_files::read_to_string(path) {
            Ok(text) => self.parts(job, Some(text)),
            Err(_) => Inputs::default(),
        };
        self.designs.of(&job.design, make)
    }

    /// What a design is made of besides its own text, and the front end's files that it names: nothing of one that can't be parsed.
    /// A design that was printed is one in the sweep's folder, in which it is compiled.
    fn parts(&self, job: &Job, printed: Option<String>) -> Inputs {
        let mut inputs = Inputs::default();
        let file = match &job.design {
            Source::File(path) => Some(self.dir.join(path)),
            Source::Command(_) => None,
        };
        let design = match (&file, printed) {
            (Some(path), _) => Design::from(path),
            (None, text) => Design::Edited {
                path: self.dir.join("<stdin>"),
                text: text.unwrap_or_default(),
            },
        };
        let folders: Vec<PathBuf> = job.library.iter().map(|dir| self.dir.join(dir)).collect();
        let Ok(library) = Library::new(&folders) else {
            return inputs;
        };
        let Ok(parsed) = Parsed::read(design, &library) else {
            return inputs;
        };
        let own = file.as_ref().and_then(|path| path.canonicalize().ok());
        let files = parsed.files().iter();
        let mut files: Vec<PathBuf> = files.filter_map(|file| file.canonicalize().ok()).collect();
        files.retain(|file| Some(file) != own.as_ref());
        let roots = SourceRoots::usual(file.as_deref(), &self.dir);
        let front_end = parsed.front_end_files().into_iter();
        let front_end = front_end.filter(|path| !is_calyx(path));
        files.extend(front_end.filter_map(|path| roots.find(path).ok()));
        files.sort_unstable();
        files.dedup();
        let named = self.named(job);
        for file in files {
            if let Ok(text) = petal_files::read(&file) {
                let of = |(real, name): &(PathBuf, &Path)| {
                    Some(name.join(file.strip_prefix(real).ok()?))
                };
                let name = named.iter().find_map(of);
                inputs.add(&name.as_deref().unwrap_or(&file).to_string_lossy(), &text);
            }
        }
        inputs
    }

    /// The folders in which parts of a design may be, and what they are called: as the user did, from the sweep's folder.
    fn named<'a>(&self, job: &'a Job) -> Vec<(PathBuf, &'a Path)> {
        let beside = match &job.design {
            Source::File(path) => path.parent(),
            Source::Command(_) => None,
        };
        let library = job.library.iter().map(|dir| &**dir);
        let folders = [Path::new("")].into_iter().chain(beside).chain(library);
        let real = |dir: &'a Path| Some((self.dir.join(dir).canonicalize().ok()?, dir));
        folders.filter_map(real).collect()
    }
}
