//! The arguments of commands that observe a run.

use std::path::PathBuf;

use super::design::DesignArgs;
use super::values::parse_count;
use clap::Args;
use petal_observe::{
    AccessRequest, CheckpointRequest, CounterRequest, DerivedRequest, LatencyRequest, Request,
    RuleRequest, SampleRequest, Text, ValueRequest, WatchRequest, WindowRequest,
};
use petal_profile::ObserveOptions;
use petal_visualize::stream::EventFilter;

/// What to observe in a run, beside what is active.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Observations (docs/guide/observe)")]
pub struct ObserveArgs {
    /// Observe what this file tells [default: DESIGN.observe.toml if there is one]
    #[arg(long, value_name = "FILE.toml")]
    pub observe: Option<PathBuf>,
    /// List when something begins or is true, such as `main.read` or `rose(main.r.done)`, and values in that cycle: `main.read;
    /// k=main.k.out, i=main.i.out`; `NAME[EXPR]=` is a list for each value (may be repeated, as all that follow)
    #[arg(long, value_name = "[NAME=]EXPR[; [NAME=]EXPR, ...]")]
    pub checkpoint: Vec<String>,
    /// Tell how long it takes from one event to another, or how long something is active; `; tag=EXPR` (and `, tag-to=EXPR` of the
    /// end) tells which end belongs to which beginning
    #[arg(long, value_name = "[NAME=]FROM..TO[; tag=EXPR]")]
    pub latency: Vec<String>,
    /// List the changes of a register, a memory, words of it or any value, and who wrote them
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub watch: Vec<String>,
    /// List each read and write of a memory, or of some of its words: `main.mem`, `main.mem[3]`, `main.mem[0..8]`, `main.*`
    #[arg(long, value_name = "[NAME=]MEMORY")]
    pub access: Vec<String>,
    /// Tell when this is true, which it must not be
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub never: Vec<String>,
    /// Tell when this is false, which it must not be
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub always: Vec<String>,
    /// Add a value up over all cycles, of a condition the cycles in which it is true; or all that `petal counters` lists
    /// by such a name, such as `main.*.writes`; with `during` only while something is active, each time for itself
    #[arg(long, value_name = "[NAME=]EXPR[ during WHAT]")]
    pub count: Vec<String>,
    /// Compute a figure from counters, such as `busy=main.mult.busy / cycles`
    #[arg(long, value_name = "[NAME=]FORMULA")]
    pub derive: Vec<String>,
    /// Split the run into samples, each up to an event, such as `main.next` or `iteration(main.while@L12)`, or so many cycles long: how their
    /// cycles, and counters, are spread
    #[arg(long, value_name = "EVENT|CYCLES")]
    pub sample: Option<String>,
    /// Keep only this part of the run, each time, in the timeline, the trace and the waveform: from one event to another, or a number of cycles
    /// before or after one (`1000..main.err`)
    #[arg(long, value_name = "[NAME=]FROM..TO")]
    pub window: Vec<String>,
    /// End the run after the first cycle in which this is true or begins
    #[arg(long, value_name = "EXPR")]
    pub stop_on: Option<String>,
    /// Tell what begins and ends, and each value that is observed, while the run goes on: as lines of JSON, to a file or pipe, or
    /// to standard output (may be repeated)
    #[arg(long, value_name = "FILE|-")]
    pub events: Vec<PathBuf>,
    /// Tell only of some events: `kind=group,cell`, `path=main.a.*`, `every=10` activations of each site, those that begin in `cycles=0..1000`; several
    /// of these with `;` between them; where there are several `--events`, one for each of them, in their order
    #[arg(long, value_name = "FILTER", requires = "events")]
    pub event_filter: Vec<EventFilter>,
    /// Fail if a rule is broken
    #[arg(long)]
    pub fail_on_violation: bool,
}

/// `petal counters`
#[derive(Debug, Args)]
pub struct CountersArgs {
    #[command(flatten)]
    pub design: DesignArgs,
}

impl ObserveArgs {
    /// What they ask for.
    pub fn options(&self) -> ObserveOptions {
        ObserveOptions {
            file: self.observe.clone(),
            request: self.request(),
            undriven: false,
        }
    }

    /// What they ask for beside the file.
    fn request(&self) -> Request {
        Request {
            sample: self.sample.as_deref().map(sample),
            stop_on: self.stop_on.as_deref().map(|text| of("--stop-on", text)),
            checkpoints: checkpoints(&self.checkpoint),
            latencies: self.latency.iter().map(|text| latency(text)).collect(),
            watches: all("--watch", &self.watch, WatchRequest::new),
            accesses: all("--access", &self.access, AccessRequest::new),
            never: all("--never", &self.never, RuleRequest::new),
            always: all("--always", &self.always, RuleRequest::new),
            counters: counters(&self.count),
            derived: all("--derive", &self.derive, DerivedRequest::new),
            windows: all("--window", &self.window, WindowRequest::new),
            promises: Vec::new(),
            may_read: Vec::new(),
        }
    }
}

/// The checkpoints that these texts ask for.
pub(super) fn checkpoints(texts: &[String]) -> Vec<CheckpointRequest> {
    texts.iter().map(|text| checkpoint(text)).collect()
}

/// The counters that these texts ask for.
pub(super) fn counters(texts: &[String]) -> Vec<CounterRequest> {
    let texts = texts.iter().map(|text| {
        let (value, during) = match text.split_once(" during ") {
            Some((value, during)) => (value.trim_end(), Some(of("--count", during.trim()))),
            None => (text.as_str(), None),
        };
        let (name, value) = named(value);
        CounterRequest {
            during,
            ..CounterRequest::new(name, of("--count", &value))
        }
    });
    texts.collect()
}

/// Where samples end: after a number of cycles, or with an event.
fn sample(text: &str) -> SampleRequest {
    match parse_count(text) {
        Ok(cycles) => SampleRequest::Cycles(cycles),
        Err(_) => SampleRequest::Event(of("--sample", text)),
    }
}

/// What an option asks for by these texts.
pub(super) fn all<T>(
    option: &str,
    texts: &[String],
    new: impl Fn(Option<String>, Text) -> T,
) -> Vec<T> {
    let texts = texts.iter().map(|text| named(text));
    texts
        .map(|(name, text)| new(name, of(option, &text)))
        .collect()
}

/// The text of an expression from an option.
pub(super) fn of(option: &str, text: &str) -> Text {
    Text {
        option: Some(option.to_owned()),
        ..text.into()
    }
}

/// A checkpoint: `NAME=EVENT`, or `NAME[VALUE]=EVENT`, and after `;` what it records.
fn checkpoint(text: &str) -> CheckpointRequest {
    let text_of = |text: &str| of("--checkpoint", text);
    let (event, values) = split(text, ';');
    let (before, after) = split(event, '=');
    let by = before.strip_suffix(']').and_then(|of| of.split_once('['));
    let by = by.filter(|(name, _)| is_name(name));
    let after = after.filter(|after| !after.starts_with('='));
    let mut request = if let Some(((name, by), event)) = by.zip(after) {
        CheckpointRequest {
            by: Some(text_of(by)),
            ..CheckpointRequest::new(Some(name.trim().to_owned()), text_of(event))
        }
    } else {
        let (name, event) = named(event);
        CheckpointRequest::new(name, text_of(&event))
    };
    let mut rest = values;
    while let Some(values) = rest {
        let (value, others) = split(values, ',');
        let (name, value) = named(value.trim());
        let value = text_of(&value);
        request.values.push(ValueRequest { name, value });
        rest = others;
    }
    request
}

/// A latency: `NAME=FROM..TO`, and after `;` its tags. What is wrong after it stays in the text, and is told there.
fn latency(text: &str) -> LatencyRequest {
    let text_of = |text: &str| of("--latency", text);
    let whole = || {
        let (name, text) = named(text);
        LatencyRequest::new(name, text_of(&text))
    };
    let (events, Some(tags)) = split(text, ';') else {
        return whole();
    };
    let (name, events) = named(events.trim_end());
    let mut request = LatencyRequest::new(name, text_of(&events));
    let mut rest = Some(tags);
    while let Some(tags) = rest {
        let (tag, others) = split(tags, ',');
        let place = match tag.trim().split_once('=') {
            Some(("tag", text)) => request.tag.replace(text_of(text)),
            Some(("tag-to", text)) => request.tag_to.replace(text_of(text)),
            _ => return whole(),
        };
        if place.is_some() {
            return whole();
        }
        rest = others;
    }
    request
}

/// What is before and after the first such character, those in brackets and backquotes aside.
fn split(text: &str, at: char) -> (&str, Option<&str>) {
    let (mut depth, mut is_quoted) = (0, false);
    for (place, c) in text.char_indices() {
        match c {
            '`' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ if c == at && depth == 0 => {
                return (&text[..place], Some(&text[place + c.len_utf8()..]));
            }
            _ => {}
        }
    }
    (text, None)
}

/// A name before `=`, which no expression begins with.
fn named(text: &str) -> (Option<String>, String) {
    let split = text.split_once('=');
    let split = split.filter(|(name, rest)| is_name(name) && !rest.starts_with('='));
    match split {
        Some((name, rest)) => (Some(name.trim().to_owned()), rest.to_owned()),
        None => (None, text.to_owned()),
    }
}

/// Whether it may stand before `=`.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c == '_' || c == '-' || c == ' ' || c.is_ascii_alphanumeric();
    !text.is_empty() && text.chars().all(is_part)
}
