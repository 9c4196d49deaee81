//! What is made of the definition of the command line: shell completions and manual pages.

use std::fs;

use petal_profile::Error;
use petal_profile::folder::Staging;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::print::print;

/// `petal completions`
pub fn completions(args: &CompletionsArgs) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::definition(), "petal", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// `petal man`
pub fn man(args: &ManArgs) -> Result<(), Error> {
    let staging = Staging::new(&args.out)?;
    let folder = staging.path("");
    clap_mangen::generate_to(Cli::definition(), &folder)
        .map_err(Error::io("write the manual pages to", &args.out))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Error::io("read", &folder))? {
        let entry = entry.map_err(Error::io("read", &folder))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    staging.commit(&names)?;
    let out = args.out.display();
    print(&format!("{out}: {}\n", names.join(", ")))
}
