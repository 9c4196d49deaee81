//! Progress on the terminal: one line that tells the stage, shown once it has taken a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use petal_metadata::Metadata;
use petal_reconstruct::{FrameLabels, Node};
use petal_table::thousands;

/// How long nothing is told: at first, and after something was.
const FIRST: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(200);

/// How many of the active groups and statements are told.
const ACTIVE: usize = 3;

/// A stage that is under way.
#[derive(Debug)]
pub struct Stage {
    started: Instant,
    /// When something is told again, in milliseconds since it started.
    next: AtomicU64,
    /// The cycles that the run takes if it is as long as the one before; 0 if nobody knows.
    expected: AtomicU64,
    bar: ProgressBar,
}

impl Stage {
    /// A stage begins; `quiet` shows nothing.
    pub fn new(name: &'static str, quiet: bool) -> Self {
        let stage = Self {
            started: Instant::now(),
            next: AtomicU64::new(millis(FIRST)),
            expected: AtomicU64::new(0),
            bar: ProgressBar::new_spinner(),
        };
        stage.bar.set_draw_target(target(quiet));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} ({elapsed}) {wide_msg}")
        {
            stage.bar.set_style(style);
        }
        stage.bar.set_prefix(name);
        // Stages that do not tell how far they are still move.
        stage.bar.enable_steady_tick(Duration::from_secs(1));
        stage
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Silent when standard error is no terminal.
pub fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    }
}

/// How many of many runs are done, and how long the others will take. Silent as a [`Stage`] is.
#[derive(Debug)]
pub struct Runs(ProgressBar);

impl Runs {
    /// None of so many is done.
    pub fn new(total: usize, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(u64::try_from(total).ok(), target(quiet));
        let template = "{wide_bar} {pos} of {len} runs{msg}, {elapsed}, about {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// One more is done; so many have failed up to now.
    pub fn done(&self, failed: usize) {
        if failed > 0 {
            self.0.set_message(format!(", {failed} failed"));
        }
        self.0.inc(1);
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl petal_profile::Stage for Stage {
    /// Tells the cycle that a run has come to, its pace, and what is active in it.
    fn cycle(&self, cycles: u64, metadata: &Metadata, active: &mut dyn FnMut() -> Vec<Node>) {
        let elapsed = self.started.elapsed();
        if millis(elapsed) < self.next.load(Ordering::Relaxed) || self.bar.is_hidden() {
            return;
        }
        let next = millis(elapsed + BETWEEN);
        self.next.store(next, Ordering::Relaxed);
        let pace = cycles.saturating_mul(1000) / millis(elapsed).max(1);
        let active = names(metadata, &active());
        let left = self.left(cycles, pace);
        self.bar.set_message(format!(
            "cycle {}, {} a second{left}{active}",
            thousands(cycles),
            thousands(pace)
        ));
        self.bar.tick();
    }

    fn expect(&self, cycles: u64) {
        self.expected.store(cycles, Ordering::Relaxed);
    }
}

impl Stage {
    /// How long the run goes on at this pace if it is as long as the one before.
    fn left(&self, cycles: u64, pace: u64) -> String {
        let expected = self.expected.load(Ordering::Relaxed);
        match expected.checked_sub(cycles).filter(|_| pace > 0) {
            Some(rest) if expected > 0 => {
                let left = HumanDuration(Duration::from_secs(rest.div_ceil(pace)));
                format!(", about {left:#} left")
            }
            _ => String::new(),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Some of the active groups and statements, behind what else is told.
fn names(metadata: &Metadata, active: &[Node]) -> String {
    let labels = FrameLabels::new(metadata);
    let name = |node: &Node| {
        let (component, label) = match *node {
            Node::Control { component, control } => (component, labels.control(component, control)),
            Node::Group {
                component, group, ..
            } => (component, labels.group(component, group)),
            Node::Cell { .. } | Node::Continuous { .. } | Node::Primitive { .. } => return None,
        };
        Some(format!("{}.{label}", metadata.component(component).name))
    };
    let names: Vec<String> = active.iter().filter_map(name).collect();
    let more = match names.len().saturating_sub(ACTIVE) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match names.len() {
        0 => String::new(),
        shown => format!(", in {}{more}", names[..shown.min(ACTIVE)].join(", ")),
    }
}
