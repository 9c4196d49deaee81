//! The figures of a profile as an editor shows them: by file and line, apart from the run that they come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use petal_analysis::{Analysis, Cost, Line};
use petal_metadata::{FileId, FrontEndFileId, Id as _, Metadata};
use petal_profile::{Error, Profile};
use petal_synth::Synthesis;
use petal_table::text::share;
use petal_visualize::outputs::OBSERVATIONS;
use serde_json::Value;

use super::parts::{Part, parts};
use super::text::digest;
use crate::annotate::on_lines;
use crate::profile::analyse;

/// A profile.
#[derive(Debug)]
pub struct Figures {
    /// Its folder.
    pub dir: PathBuf,
    /// The length of the run.
    pub cycles: u64,
    /// Why the run ended before the design was done, and what it waits for then.
    pub stopped: Option<String>,
    /// The groups that it waits for, such as `main.put`.
    pub waits: Vec<String>,
    /// Rules that the run broke, in words.
    pub broken: Vec<String>,
    /// What `petal advise` found.
    pub advice: Option<Value>,
    /// The files that the design comes from, as `report.html` numbers them.
    pub files: Vec<SourceFile>,
    /// Its components, statements and groups.
    pub parts: Vec<Part>,
}

/// A file that a design comes from.
#[derive(Debug, Default)]
pub struct SourceFile {
    /// Its name without its folders.
    pub name: String,
    /// The lines of its text.
    pub lines: Vec<String>,
    /// What the text is recognised by; `None` if it is not known.
    pub digest: Option<u64>,
    /// Whether it is the Calyx file that was compiled.
    pub is_root: bool,
    /// What its lines cost.
    pub costs: BTreeMap<u32, Cost>,
    /// What the parts on its lines take of a device, in words.
    pub area: BTreeMap<u32, String>,
    /// The parts that begin on each line.
    pub parts: BTreeMap<u32, Vec<usize>>,
}

/// A file of a design, which a document may be: its name, and what its text is recognised by.
pub type Known = (String, u64);

/// The files of a design whose texts are known.
pub fn known(metadata: &Metadata) -> Vec<Known> {
    let calyx = metadata.files.iter();
    let calyx = calyx.map(|file| (file.name.clone(), digest(&file.text)));
    let front_end = metadata.front_end.own_files();
    let front_end = front_end.filter_map(|(_, file)| {
        let text = file.text.as_ref()?;
        Some((file.name().to_owned(), digest(text)))
    });
    calyx.chain(front_end).collect()
}

impl Figures {
    /// Reads those of the profile in a folder; that may take long.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let profile = Profile::open(dir)?;
        let analysis = analyse(&profile)?;
        let mut files = files(&analysis, profile.synthesis());
        let advice = profile.summary.advice.clone();
        let parts = parts(&analysis, advice.as_ref());
        for (at, part) in parts.iter().enumerate() {
            for place in &part.places {
                let lines = &mut files[place.file].parts;
                lines.entry(place.line).or_default().push(at);
            }
        }
        let stopped = profile.summary.stopped.as_ref().map(|why| {
            let waits = profile.summary.ending.iter();
            let waits = waits.flat_map(|ending| ending.waits.clone());
            let all: Vec<String> = [why.clone()].into_iter().chain(waits).collect();
            all.join("\n")
        });
        let ending = stopped.as_ref().and_then(|_| analysis.ending(None));
        let waiting = ending.into_iter().flat_map(|ending| ending.waiting);
        Ok(Self {
            waits: waiting
                .map(|of| format!("{}.{}", of.component, of.group))
                .collect(),
            dir: dir.to_owned(),
            cycles: analysis.cycles(),
            stopped,
            broken: broken(dir),
            advice,
            files,
            parts,
        })
    }

    /// So many cycles in percent of the run.
    pub fn share(&self, cycles: u64) -> String {
        share(u128::from(cycles), u128::from(self.cycles))
    }

    /// Whether the run has so many cycles.
    pub fn has(&self, cycles: u64) -> bool {
        cycles <= self.cycles
    }

    /// Whether they are at least so many percent of the run.
    #[expect(
        clippy::cast_precision_loss,
        reason = "only what is shown depends on it"
    )]
    pub fn is_at_least(&self, cycles: u64, percent: f64) -> bool {
        cycles as f64 * 100.0 >= percent * self.cycles as f64
    }

    /// What stands for a line of a file in the address of `report.html`.
    pub fn anchor(file: usize, line: u32) -> String {
        match file {
            0 => format!("L{line}"),
            _ => format!("F{file}L{line}"),
        }
    }

    /// The file and the line that such an address names.
    pub fn place(anchor: &str) -> Option<(usize, u32)> {
        let (file, line) = anchor.split_once('L')?;
        let file = match file.strip_prefix('F') {
            Some(file) => file.parse().ok()?,
            None if file.is_empty() => 0,
            None => return None,
        };
        Some((file, line.parse().ok()?))
    }
}

fn files(analysis: &Analysis<'_>, synthesis: Option<&Synthesis>) -> Vec<SourceFile> {
    let metadata = analysis.metadata();
    let calyx = metadata.files.iter().enumerate().map(|(at, file)| {
        let area = synthesis.map(|of| on_lines(&of.area, &file.name));
        let area = area.into_iter().flatten().map(|(line, on)| {
            let slack = on.slack_ns.map(|ns| format!("; slack {ns:.2} ns"));
            let slack = slack.unwrap_or_default();
            (line, format!("{:.0} LUT, {:.0} FF{slack}", on.luts, on.ffs))
        });
        SourceFile {
            name: file.name.clone(),
            is_root: file.root,
            area: area.collect(),
            ..SourceFile::new(Some(&file.text), &analysis.annotate(FileId::from_index(at)))
        }
    });
    let front_end = metadata.front_end.files.iter().enumerate();
    let front_end = front_end.map(|(at, file)| {
        let id = FrontEndFileId::from_index(at);
        // Lines of the Calyx program are those of the file itself.
        let text = file.text.as_deref().filter(|_| !file.is_calyx());
        let lines = match text {
            Some(_) => analysis.annotate_front_end(id),
            None => Vec::new(),
        };
        SourceFile {
            name: file.name().to_owned(),
            ..SourceFile::new(text, &lines)
        }
    });
    calyx.chain(front_end).collect()
}

impl SourceFile {
    fn new(text: Option<&str>, lines: &[Line<'_>]) -> Self {
        let costs = lines.iter();
        let costs = costs.filter_map(|line| Some((line.number, line.cost?)));
        Self {
            digest: text.map(digest),
            costs: costs.collect(),
            lines: text
                .unwrap_or_default()
                .lines()
                .map(str::to_owned)
                .collect(),
            ..Self::default()
        }
    }
}

/// The rules that the run in a folder broke.
fn broken(dir: &Path) -> Vec<String> {
    let text = petal_files::read_to_string(&dir.join(OBSERVATIONS)).unwrap_or_default();
    let observed: Value = serde_json::from_str(&text).unwrap_or_default();
    let rules = observed["rules"].as_array().into_iter().flatten();
    let broken = rules.filter_map(|rule| {
        let first = rule["violations"].get(0)?["cycle"].as_u64()?;
        let (name, when) = (rule["name"].as_str()?, rule["when"].as_str()?);
        let cycles = rule["cycles"].as_u64()?;
        Some(format!(
            "the rule `{name}` ({when}) is broken in {cycles} cycles, first in cycle {first}"
        ))
    });
    broken.collect()
}
