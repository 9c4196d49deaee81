//! Observations of a run: made ready from a request, fed while the run goes by, and told in the end.

use petal_metadata::Metadata;
use petal_reconstruct::{Change, Cycle, Event, Held, Next, Observer, Signal, TreeId, Value};

use crate::activity::Activities;
use crate::builder::Builder;
use crate::collect::{Collector, Look, Told, Watched, Window};
use crate::derived::Derived;
use crate::directory::Directory;
use crate::problem::Problem;
use crate::program::Program;
use crate::request::{Interval, Request, Text};
use crate::results::{self, Results, VERSION};
use crate::trees::Trees;
use crate::work::Work;

/// What is wrong with a request: the text that it is in, and the problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Refused {
    /// The text of the request, which tells whether it is from a file.
    pub text: Text,
    /// What is wrong.
    pub problem: Problem,
}

/// Observations of one run.
pub struct Observations<'a> {
    program: Program,
    activities: Activities<'a>,
    trees: Trees<'a>,
    collectors: Vec<Collector>,
    derived: Vec<Derived>,
    /// The collectors that look at each node.
    lookers: Vec<Vec<usize>>,
    /// Those that look at the next cycle that comes, and whether each is among them.
    waiting: Vec<usize>,
    is_waiting: Vec<bool>,
    work: Work,
    /// The nodes that end the run, and the latencies.
    stops: Vec<usize>,
    latencies: Vec<usize>,
    sample: Option<u64>,
    is_done: bool,
    stopped_by: Option<String>,
    stop_on: Option<String>,
    told: Option<Box<dyn FnMut(Told) + Send + 'a>>,
    /// How many bytes results may take, when that is looked at again, and whether they took more.
    limit: u64,
    next_look: u32,
    is_full: bool,
}

/// About what a stamp, an interval, a change, a violation or a sample takes, in bytes.
const BYTES: u64 = 48;

/// How many cycles are looked at before results are counted again.
const BETWEEN_COUNTS: u32 = 4096;

impl<'a> Observations<'a> {
    /// Looks at all expressions of a request.
    ///
    /// # Errors
    /// What is wrong with the first that makes no sense.
    pub fn new(
        metadata: &'a Metadata,
        directory: &Directory,
        request: &Request,
    ) -> Result<Self, Box<Refused>> {
        let mut builder = Builder::new(metadata, directory);
        builder.add(request)?;
        let Builder {
            program,
            collectors,
            derived,
            own,
            ..
        } = builder;
        let mut lookers = vec![Vec::new(); program.len()];
        for (at, collector) in collectors.iter().enumerate() {
            for node in collector.nodes() {
                lookers[node].push(at);
            }
        }
        let numbers = |is_wanted: fn(&Collector) -> bool| -> Vec<usize> {
            let all = collectors.iter().enumerate();
            let wanted = all.filter(|(_, collector)| is_wanted(collector));
            wanted.map(|(at, _)| at).collect()
        };
        Ok(Self {
            activities: Activities::new(metadata, program.subjects().to_vec()),
            trees: Trees::new(metadata),
            work: Work::new(metadata, own),
            // All look at the first cycle.
            waiting: (0..collectors.len()).collect(),
            is_waiting: vec![true; collectors.len()],
            stops: numbers(|collector| matches!(collector, Collector::Stop { .. })),
            latencies: numbers(|collector| matches!(collector, Collector::Latency(_))),
            lookers,
            collectors,
            derived,
            program,
            sample: request.sample,
            is_done: false,
            stopped_by: None,
            stop_on: request.stop_on.as_ref().map(|stop| stop.text.clone()),
            told: None,
            limit: u64::MAX,
            next_look: BETWEEN_COUNTS,
            is_full: false,
        })
    }

    /// The run ends once results take about this many bytes.
    pub fn limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// Whether the run ended because results took more than they may.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Looks now and then how many results there are.
    fn count(&mut self) {
        self.next_look -= 1;
        if self.next_look == 0 {
            self.next_look = BETWEEN_COUNTS;
            let kept: usize = self.collectors.iter().map(Collector::kept).sum();
            self.is_full = (kept as u64).saturating_mul(BYTES) > self.limit;
        }
    }

    /// Tells the words of memories before the run, each with its index in row-major order: all others are 0 then. So of the first write to a
    /// word, too, it is known whether it changes it.
    pub fn start_with(&mut self, words: impl Fn(&Signal) -> Vec<(u64, u64)>) {
        for collector in &mut self.collectors {
            if let Collector::Watch(watch) = collector
                && let Watched::Written {
                    cell, old: None, ..
                } = &watch.what
            {
                watch.known = words(cell).into_iter().collect();
                watch.is_known = true;
            }
        }
    }

    /// Whether only parts of the run are to be kept.
    pub fn have_windows(&self) -> bool {
        let mut all = self.collectors.iter();
        all.any(|collector| matches!(collector, Collector::Window(_)))
    }

    /// Tells from now on which cycles the windows keep, for a reader of the events of the run; `None` if there are no windows.
    pub fn hold(&mut self) -> Option<Held> {
        let mut windows: Vec<&mut Window> = self
            .collectors
            .iter_mut()
            .filter_map(|collector| match collector {
                Collector::Window(window) => Some(window),
                _ => None,
            })
            .collect();
        let before = windows.iter().map(|window| window.before()).max()?;
        let (held, marks) = Held::new(before);
        for window in &mut windows {
            window.marks = Some(marks.clone());
        }
        Some(held)
    }

    /// Whether a design has checkpoints that its source marks.
    pub fn are_marked(metadata: &Metadata) -> bool {
        let nodes = metadata.components.iter().flat_map(|of| &of.control);
        nodes.into_iter().any(|node| node.checkpoint.is_some())
    }

    /// What is observed, by number: its kind, as in a request, and its name. Of what has no values of its own, such as a latency,
    /// nothing is told.
    pub fn list(&self) -> Vec<(&'static str, &str)> {
        let all = self.collectors.iter();
        all.map(|collector| match collector {
            Collector::Checkpoint(of) => ("checkpoint", &*of.name),
            Collector::Latency(of) => ("latency", &*of.name),
            Collector::Watch(of) => ("watch", &*of.name),
            Collector::Rule(of) if of.always => ("always", &*of.name),
            Collector::Rule(of) => ("never", &*of.name),
            Collector::Counter(of) => ("count", &*of.name),
            Collector::Window(of) => ("window", &*of.name),
            Collector::Stop { .. } => ("stop-on", ""),
        })
        .collect()
    }

    /// Tells of each value in the cycle in which it is new: of a checkpoint's stamp 1, of a rule 1 when it is broken and then 0.
    pub fn tell(&mut self, told: impl FnMut(Told) + Send + 'a) {
        self.told = Some(Box::new(told));
    }

    /// The values that a source has to deliver, in the order of their slots after the probes.
    pub fn values(&self) -> &[Value] {
        self.program.values()
    }

    /// The expression that ended the run, if one did.
    pub fn stopped_by(&self) -> Option<&str> {
        self.stopped_by.as_deref()
    }

    /// Goes on to a cycle; with no tree, to the one after the run.
    fn go_on(&mut self, cycle: Cycle, tree: Option<TreeId>, changes: &[Change]) -> Next {
        let due = self.activities.go_on(cycle, tree);
        let Self {
            program,
            activities,
            trees,
            work,
            ..
        } = self;
        program.go_on(activities.states(), changes);
        let mut looking = std::mem::take(&mut self.waiting);
        for &node in program.changed() {
            for &looker in &self.lookers[node] {
                if !std::mem::replace(&mut self.is_waiting[looker], true) {
                    looking.push(looker);
                }
            }
        }
        if tree.is_none() {
            looking = (0..self.collectors.len()).collect();
        }
        // In the order of the request, whoever changed first.
        looking.sort_unstable();
        let mut look = Look {
            cycle: cycle.cycles(),
            values: program.now(),
            tree,
            is_done: self.is_done,
            trees,
            work,
            instances: activities.instances(),
            told: self.told.as_deref_mut().map(|told| told as _),
            at: 0,
        };
        looking.retain(|&at| {
            look.at = at;
            self.is_waiting[at] = self.collectors[at].look(&mut look);
            self.is_waiting[at]
        });
        let is_eager = !looking.is_empty();
        self.waiting = looking;
        for &at in self.stops.iter().filter(|_| tree.is_some()) {
            if let Collector::Stop { node } = self.collectors[at]
                && program.now()[node] != 0
            {
                self.stopped_by.clone_from(&self.stop_on);
            }
        }
        if self.work.is_long() {
            self.forget(cycle.cycles());
        }
        self.count();
        if self.stopped_by.is_some() || self.is_full {
            return Next::Stop;
        }
        let next = Cycle::from_cycles(cycle.cycles() + 1);
        match due {
            _ if is_eager || self.program.is_unsettled() => Next::At(next),
            Some(due) => Next::At(Cycle::from_cycles(due)),
            None => Next::Change,
        }
    }

    /// Forgets what no latency needs of the cycles before this one.
    fn forget(&mut self, cycle: u64) {
        let (collectors, latencies) = (&mut self.collectors, &self.latencies);
        let needed = latencies.iter().filter_map(|&at| match &collectors[at] {
            Collector::Latency(of) => of.needs_since(),
            _ => None,
        });
        let oldest = needed.min().unwrap_or(cycle).min(cycle);
        self.work.forget_before(oldest, |work| {
            for &at in latencies {
                if let Collector::Latency(of) = &mut collectors[at] {
                    of.keep(oldest, work);
                }
            }
        });
    }

    /// Ends the run, which took so many cycles; `is_done` if the design was done then.
    pub fn finish(mut self, cycles: u64, is_done: bool) -> Results {
        self.is_done = is_done;
        self.go_on(Cycle::from_cycles(cycles), None, &[]);
        let mut results = Results {
            version: VERSION,
            cycles,
            stopped_by: self.stopped_by,
            checkpoints: Vec::new(),
            latencies: Vec::new(),
            watches: Vec::new(),
            rules: Vec::new(),
            counters: Vec::new(),
            derived: Vec::new(),
            windows: Vec::new(),
            sample: self.sample,
        };
        let medians: Vec<(String, Option<u64>)> = self
            .collectors
            .iter()
            .filter_map(|collector| match collector {
                Collector::Checkpoint(of) => Some((of.name.clone(), of.median_distance())),
                _ => None,
            })
            .collect();
        for collector in self.collectors {
            match collector {
                Collector::Checkpoint(of) if !of.is_listed => {}
                Collector::Checkpoint(of) => {
                    let median_distance = of.median_distance();
                    let interval = match of.interval {
                        None => None,
                        Some(Interval::Cycles(cycles)) => Some(cycles),
                        Some(Interval::Of(name)) => medians
                            .iter()
                            .find(|(of, _)| *of == name)
                            .and_then(|(_, median)| *median),
                    };
                    results.checkpoints.push(results::Checkpoint {
                        name: of.name,
                        when: of.when,
                        cycles: of.cycles,
                        median_distance,
                        interval,
                    });
                }
                Collector::Latency(of) => {
                    results.latencies.push(of.results(&self.work));
                }
                Collector::Watch(of) => results.watches.push(results::Watch {
                    name: of.name,
                    value: of.value,
                    is_written: matches!(of.what, Watched::Written { .. }),
                    changes: of.changes,
                }),
                Collector::Rule(of) => results.rules.push(results::Rule {
                    name: of.name,
                    when: of.when,
                    always: of.always,
                    cycles: of.violations.iter().map(|violation| violation.cycles).sum(),
                    violations: of.violations,
                }),
                Collector::Counter(of) => results.counters.push(of.results(cycles)),
                Collector::Window(of) => results.windows.push(of.results(cycles)),
                Collector::Stop { .. } => {}
            }
        }
        let counters = &results.counters;
        let derived = self
            .derived
            .iter()
            .map(|of| of.results(counters, cycles, results.sample));
        results.derived = derived.collect();
        results
    }
}

impl Observer for Observations<'_> {
    fn event(&mut self, event: &Event) {
        if let Event::Tree(tree) = event {
            self.trees.add(tree);
            self.work.add(tree, &self.activities);
        }
        self.activities.event(event);
    }

    fn cycle(&mut self, cycle: Cycle, tree: TreeId, changes: &[Change]) -> Next {
        self.work.go_on(cycle.cycles(), tree);
        self.go_on(cycle, Some(tree), changes)
    }
}
