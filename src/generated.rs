//! What is made of the definition of the command line: shell completions and manual pages.

use std::fs;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::folder::Staging;
use crate::outputs;

/// `petal completions`
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::definition(), "petal", &mut script);
    outputs::print(&String::from_utf8_lossy(&script))
}

/// `petal man`
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let staging = Staging::new(&args.out)?;
    let folder = staging.path("");
    clap_mangen::generate_to(Cli::definition(), &folder)
        .map_err(Failure::io("write the manual pages to", &args.out))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Failure::io("read", &folder))? {
        let entry = entry.map_err(Failure::io("read", &folder))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    staging.commit(&names)?;
    let out = args.out.display();
    outputs::print(&format!("{out}: {}\n", names.join(", ")))
}
