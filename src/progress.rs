//! Progress on the terminal: one line that tells the stage, shown once it has taken a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Tells the user what is going on. Silent when standard error is no terminal.
#[derive(Debug)]
pub struct Progress {
    quiet: bool,
}

impl Progress {
    /// A progress display; `quiet` shows nothing.
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Runs a stage; `act` may tell how far it is.
    pub fn stage<T>(&self, name: &'static str, act: impl FnOnce(&Stage) -> T) -> T {
        let started = Instant::now();
        let stage = Stage {
            started,
            bar: ProgressBar::new_spinner(),
        };
        let target = if self.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        stage.bar.set_draw_target(target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})") {
            stage.bar.set_style(style);
        }
        stage.bar.set_prefix(name);
        // Stages that do not tell how far they are still move.
        stage.bar.enable_steady_tick(Duration::from_secs(1));
        let result = act(&stage);
        stage.bar.finish_and_clear();
        result
    }
}

/// A stage that is under way.
#[derive(Debug)]
pub struct Stage {
    started: Instant,
    bar: ProgressBar,
}

impl Stage {
    /// Tells how far the stage is. Cheap enough to call often.
    pub fn tell(&self, message: impl FnOnce() -> String) {
        if self.started.elapsed() >= Duration::from_secs(1) && !self.bar.is_hidden() {
            self.bar.set_message(message());
            self.bar.tick();
        }
    }
}
