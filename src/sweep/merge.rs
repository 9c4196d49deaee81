//! `petal sweep --merge`: parts of a sweep, which ran in folders of their own, become one.

use std::fs;
use std::io;
use std::path::Path;

use petal_profile::{Error, folder, interrupt};
use petal_sweep::{Row, Run, Sweep, VERSION, conflict};
use petal_visualize::outputs::SUMMARY;

use super::folder::{GENERATED, PROFILES, ROW, ROWS, SWEEP, check_free, remove, write};
use super::publish::{publish, tell};
use crate::args::SweepArgs;
use crate::messages;

/// `petal sweep --merge`
pub fn merge(args: &SweepArgs) -> Result<(), Error> {
    let Some(out) = &args.out else {
        return Err(Error::usage("`--merge` needs `--out`"));
    };
    check_free(out, SWEEP, "sweep")?;
    let [first, others @ ..] = &*args.merge else {
        return Err(Error::usage("name the folders to merge"));
    };
    let sweep = read(first)?;
    for dir in others {
        if read(dir)? != sweep {
            return Err(Error::new(format!(
                "{} and {} are not parts of one sweep: their runs or versions differ",
                first.display(),
                dir.display()
            )));
        }
    }
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    let mut inputs = Vec::new();
    for run in &sweep.runs {
        let mut found = Vec::new();
        for dir in &args.merge {
            if let Some(row) = row(dir, run)? {
                found.push((dir, row));
            }
        }
        // A part may have failed at what another one did, for lack of an input, or have lost the profile.
        if found.iter().any(|(_, row)| row.error.is_none()) {
            found.retain(|(_, row)| row.error.is_none());
        }
        inputs.extend(found.iter().map(|(_, row)| row.inputs.clone()));
        let best = found.into_iter().min_by_key(|(dir, _)| {
            let profile = dir.join(PROFILES).join(run.name.folder()).join(SUMMARY);
            !profile.exists()
        });
        match best {
            Some((dir, row)) => rows.push((dir, row)),
            None => missing.push(&run.name),
        }
    }
    if let Some(what) = conflict(&inputs) {
        return Err(Error::new(format!(
            "the parts are of different inputs: {what} changed between them; do the parts again that were done before"
        )));
    }
    if let Some(first) = missing.first() {
        let missing = missing.len();
        return Err(Error::new(format!(
            "the parts lack {missing} of {} runs, first {first}; do the parts that were left out, or interrupted",
            sweep.runs.len()
        )));
    }
    fs::create_dir_all(out).map_err(Error::io("create the output folder", out))?;
    write(&out.join(SWEEP), &sweep.json())?;
    let mut shown = sweep.clone();
    let mut lost = Vec::new();
    for ((dir, row), run) in rows.iter().zip(&mut shown.runs) {
        interrupt::check()?;
        let name = row.name.folder();
        let profile = Path::new(PROFILES).join(&name);
        if dir.canonicalize().ok() != out.canonicalize().ok() {
            remove(&out.join(&profile))?;
            copy(&dir.join(&profile), &out.join(&profile))?;
        }
        if run.profile && row.error.is_none() && !out.join(&profile).join(SUMMARY).exists() {
            run.profile = false;
            lost.push(&row.name);
        }
        let place = out.join(ROWS).join(&name);
        fs::create_dir_all(&place).map_err(Error::io("create the folder", &place))?;
        write(&place.join(ROW), &row.json())?;
    }
    for dir in &args.merge {
        copy(&dir.join(GENERATED), &out.join(GENERATED))?;
    }
    if let Some(first) = lost.first() {
        let lost = lost.len();
        messages::warning(format!(
            "profiles that no part has: {lost}, first that of {first}; the page leads to none of them, and `petal sweep` makes them again"
        ));
    }
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    publish(&shown, &rows, out)?;
    tell(&sweep, &rows, Some(out), args.quiet)
}

/// The sweep that a folder has a part of.
fn read(dir: &Path) -> Result<Sweep, Error> {
    let path = dir.join(SWEEP);
    let text = petal_files::read(&path).map_err(|error| {
        Error::new(format!(
            "{} holds no part of a sweep: cannot read {}: {error}",
            dir.display(),
            path.display()
        ))
    })?;
    let sweep = serde_json::from_slice(&text).map_err(|error| error.to_string());
    let sweep = sweep.and_then(|sweep: Sweep| match sweep.version {
        VERSION => Ok(sweep),
        version => Err(format!("its version is {version}, not {VERSION}")),
    });
    sweep.map_err(|problem| {
        let path = path.display();
        Error::new(format!(
            "{path} is of no sweep that this petal reads: {problem}"
        ))
    })
}

/// The row of a run in a part, if it was tried there.
fn row(dir: &Path, run: &Run) -> Result<Option<Row>, Error> {
    let path = dir.join(ROWS).join(run.name.folder()).join(ROW);
    let Ok(text) = fs::read(&path) else {
        return Ok(None);
    };
    match Row::parse(&text) {
        Some(row) => Ok((row.name == run.name).then_some(row)),
        None => Err(Error::new(format!(
            "{} is not as petal wrote it: it was damaged, edited, or written by another version; do that part again",
            path.display()
        ))),
    }
}

/// Copies a folder with all that is in it, if it is there.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("read", from))?,
    };
    fs::create_dir_all(to).map_err(Error::io("create the folder", to))?;
    for entry in entries {
        let entry = entry.map_err(Error::io("read", from))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            copy(&from, &to)?;
        } else {
            let text = fs::read(&from).map_err(Error::io("read", &from))?;
            folder::write_whole(&to, &text)?;
        }
    }
    Ok(())
}
