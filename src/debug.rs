//! `petal debug`: goes forward and back through a recorded run, at a prompt or for an editor.
//!
//! What each command finds out, `petal_debug` does.

mod commands;
mod dap;
mod prompt;
mod text;

use petal_debug::{DesignFile, Session};
use petal_profile::Error;

use crate::args::DebugArgs;
use crate::profile::open;

/// `petal debug`
pub fn debug(args: &DebugArgs) -> Result<(), Error> {
    let design = DesignFile {
        file: args.design.clone(),
        data: args.data.clone(),
        libraries: args.library.clone(),
        pass_options: args.extra_opt.clone(),
    };
    let Some(dir) = &args.dir else {
        return dap::serve(&design);
    };
    prompt::run(&mut Session::new(open(dir)?, design)?)
}
