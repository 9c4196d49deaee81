//! `petal view --gtkwave` and `--surfer`: shows a waveform of a run, under the names of the source.

use std::io;
use std::path::Path;
use std::process::Command;

use petal_analysis::ControlView;
use petal_files::Scratch;
use petal_profile::{Error, Places, Profile, folder, part, waves};
use petal_visualize::Waves;

use crate::args::ViewerArgs;
use crate::print::print;

/// A viewer of waveforms, and the waveform.
pub enum Viewer<'a> {
    Gtkwave(&'a Path),
    Surfer(&'a Path),
}

impl<'a> Viewer<'a> {
    /// The one that is asked for.
    pub fn asked(args: &'a ViewerArgs) -> Result<Option<Self>, Error> {
        let viewer = match (&args.gtkwave, &args.surfer) {
            (Some(wave), _) => Self::Gtkwave(wave),
            (None, Some(wave)) => Self::Surfer(wave),
            (None, None) if args.signals.is_some() => {
                return Err(Error::usage(
                    "`--signals` is for waveforms: add `--gtkwave` or `--surfer` with the file of one",
                ));
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(viewer))
    }

    /// Shows the waveform until the viewer is closed, or writes what the viewer would be told.
    pub fn view(&self, args: &ViewerArgs) -> Result<(), Error> {
        let (Self::Gtkwave(wave) | Self::Surfer(wave)) = *self;
        let mut places = Places::default();
        places.reads_profile(&args.dir)?;
        places.reads("the waveform", wave)?;
        if let Some(out) = &args.out {
            places.writes("--out", out)?;
        }
        let text = self.text(args, wave)?;
        if let Some(out) = &args.out {
            folder::write_whole(out, text.as_bytes())?;
            return print(&format!("{}\n", out.display()));
        }
        let scratch = Scratch::new().map_err(Error::no_scratch)?;
        let (program, option, name) = match self {
            Self::Gtkwave(_) => ("gtkwave", "--save", "signals.gtkw"),
            Self::Surfer(_) => ("surfer", "--command-file", "signals.sucl"),
        };
        let told = scratch.path().join(name);
        folder::write_whole(&told, text.as_bytes())?;
        let mut viewer = Command::new(program);
        let status = viewer.arg(wave).arg(option).arg(&told).status();
        let status = status.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::new(format!(
                "`{program}` is not installed, or not on PATH; or write what it would be told to a file with `--out`"
            )),
            _ => Error::new(format!("cannot start `{program}`: {error}")),
        })?;
        if !status.success() {
            return Err(Error::new(format!("`{program}` failed ({status})")));
        }
        Ok(())
    }

    /// What the viewer is told.
    fn text(&self, args: &ViewerArgs, wave: &Path) -> Result<String, Error> {
        let profile = Profile::open(&args.dir)?;
        let (signals, top) = waves(&profile.metadata, wave)?;
        let cycles = part::cycles(&profile, super::wanted(args)?.as_ref())?;
        let mut shown = Waves::new(&profile.metadata, cycles.clone(), args.signals.clone());
        profile.events(ControlView::Source, &mut |event| {
            shown.event(event);
            Ok(())
        })?;
        let observed = profile.observations()?;
        let checkpoints = observed.iter().flat_map(|of| &of.checkpoints);
        let markers = checkpoints.flat_map(|of| {
            let stamps = (1..).zip(&of.cycles);
            stamps.map(|(number, cycle)| (format!("{}#{number}", of.name), *cycle))
        });
        let markers = markers.filter(|(_, cycle)| cycles.contains(cycle));
        let mut markers: Vec<(String, u64)> = markers.collect();
        markers.sort_by_key(|(_, cycle)| *cycle);
        let text = match self {
            Self::Gtkwave(_) => {
                let wave = wave.canonicalize().map_err(Error::io("read", wave))?;
                shown.gtkwave((&wave, top), &signals, &markers)
            }
            Self::Surfer(_) => shown.surfer(top, &signals, &markers),
        };
        let Some(text) = text else {
            let of = args.signals.as_deref().unwrap_or_default();
            return Err(Error::new(format!(
                "no group or cell `{of}` is active in cycles {}..{}; `petal stats {}` has those that are",
                cycles.start,
                cycles.end,
                args.dir.display()
            )));
        };
        Ok(text)
    }
}
