//! Observations of a run: made ready from a request, fed while the run goes by, and told in the end.

use petal_metadata::Metadata;
use petal_reconstruct::{Change, Cycle, Event, Held, Next, Observer, Signal, TreeId, Value};

use crate::activity::Activities;
use crate::builder::Builder;
use crate::collector::{Collector, Finished};
use crate::directory::Directory;
use crate::kinds::{Outlets, PROMISE, Request, Results, SampleRequest, UNDRIVEN};
use crate::look::{Look, Told};
use crate::problem::Refused;
use crate::program::Program;
use crate::trees::Trees;
use crate::variables;
use crate::work::Work;

/// Observations of one run.
pub struct Observations<'a> {
    program: Program,
    activities: Activities<'a>,
    trees: Trees<'a>,
    collectors: Vec<Box<dyn Collector>>,
    outlets: Outlets,
    /// The collectors that look at each node.
    lookers: Vec<Vec<usize>>,
    /// Those that look whenever the call tree is another one, and the latest one.
    followers: Vec<usize>,
    latest: Option<TreeId>,
    /// Those that look at the next cycle that comes, and whether each is among them.
    waiting: Vec<usize>,
    is_waiting: Vec<bool>,
    work: Work,
    /// What ends the run: its node, and its text.
    stop: Option<(usize, String)>,
    sample: Option<u64>,
    is_done: bool,
    stopped_by: Option<String>,
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
        let outlets = request.build(&mut builder)?;
        let stop = match &request.stop_on {
            Some(stop) => {
                let event = builder.event(stop)?;
                Some((builder.program.add(&event), stop.text.clone()))
            }
            None => None,
        };
        builder.check_names()?;
        let Builder {
            program,
            collectors,
            own,
            ..
        } = builder;
        let mut lookers = vec![Vec::new(); program.len()];
        for (at, collector) in collectors.iter().enumerate() {
            for node in collector.nodes() {
                lookers[node].push(at);
            }
        }
        Ok(Self {
            activities: Activities::new(metadata, program.subjects().to_vec()),
            trees: Trees::new(metadata),
            work: Work::new(metadata, own),
            // All look at the first cycle.
            waiting: (0..collectors.len()).collect(),
            is_waiting: vec![true; collectors.len()],
            stop,
            lookers,
            followers: (0..collectors.len())
                .filter(|&at| collectors[at].follows_trees())
                .collect(),
            latest: None,
            collectors,
            outlets,
            program,
            sample: match request.sample {
                Some(SampleRequest::Cycles(cycles)) => Some(cycles),
                _ => None,
            },
            is_done: false,
            stopped_by: None,
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
            let kept: usize = self.collectors.iter().map(|of| of.kept()).sum();
            self.is_full = (kept as u64).saturating_mul(BYTES) > self.limit;
        }
    }

    /// Tells the words of memories before the run, each with its index in row-major order: all others are 0 then. So of the first write to a
    /// word, too, it is known whether it changes it.
    pub fn start_with(&mut self, words: impl Fn(&Signal) -> Vec<(u64, u64)>) {
        for collector in &mut self.collectors {
            collector.start_with(&words);
        }
    }

    /// Whether only parts of the run are to be kept.
    pub fn have_windows(&self) -> bool {
        self.collectors.iter().any(|of| of.keeps().is_some())
    }

    /// Tells from now on which cycles the windows keep, for a reader of the events of the run; `None` if there are no windows.
    pub fn hold(&mut self) -> Option<Held> {
        let before = self.collectors.iter().filter_map(|of| of.keeps()).max()?;
        let (held, marks) = Held::new(before);
        for collector in &mut self.collectors {
            collector.mark(&marks);
        }
        Some(held)
    }

    /// Whether there is something to observe in a design that nobody asks for: checkpoints that its source marks, or variables of its
    /// front end.
    pub fn are_of_design(metadata: &Metadata) -> bool {
        let nodes = metadata.components.iter().flat_map(|of| &of.control);
        let has_marks = nodes.into_iter().any(|node| node.checkpoint.is_some());
        has_marks || !metadata.front_end.variables.is_empty()
    }

    /// What is observed, by number: its kind, as in a request, and its name. Of what has no values of its own, such as a latency,
    /// nothing is told.
    pub fn list(&self) -> Vec<(&'static str, &str)> {
        // The variables, promises and undriven ports come last, and have values only in the end.
        let all = self.collectors.iter();
        let all = all.filter(|of| ![variables::KIND, PROMISE, UNDRIVEN].contains(&of.kind()));
        let all = all.map(|of| (of.kind(), of.name()));
        let stop = self.stop.iter().map(|_| ("stop-on", ""));
        all.chain(stop).collect()
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
        if self.latest != tree {
            self.latest = tree;
            for &looker in &self.followers {
                if self.collectors[looker].follows_now()
                    && !std::mem::replace(&mut self.is_waiting[looker], true)
                {
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
            edges: activities.edges(),
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
        if let Some((node, text)) = &self.stop
            && tree.is_some()
            && program.now()[*node] != 0
        {
            self.stopped_by = Some(text.clone());
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

    /// Forgets what nobody needs of the cycles before this one.
    fn forget(&mut self, cycle: u64) {
        let needed = self.collectors.iter().filter_map(|of| of.needs_since());
        let oldest = needed.min().unwrap_or(cycle).min(cycle);
        let collectors = &mut self.collectors;
        self.work.forget_before(oldest, |work| {
            for collector in collectors {
                collector.keep(oldest, work);
            }
        });
    }

    /// Ends the run, which took so many cycles; `is_done` if the design was done then.
    pub fn finish(mut self, cycles: u64, is_done: bool) -> Results {
        self.is_done = is_done;
        self.go_on(Cycle::from_cycles(cycles), None, &[]);
        let stamped = self
            .collectors
            .iter()
            .filter(|of| of.kind() == "checkpoint");
        let run = Finished {
            cycles,
            sample: self.sample,
            work: &self.work,
            medians: stamped
                .map(|of| (of.name().to_owned(), of.median_distance()))
                .collect(),
        };
        for collector in self.collectors {
            collector.finish(&run);
        }
        self.outlets.results(cycles, self.sample, self.stopped_by)
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
