//! `vgdp-sim completions` and `vgdp-sim man`, both made from the definition of the command line.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use super::output::Failure;

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that shall complete.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// Write a page for each command into this directory, which is made, and not the first page to standard output.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn completes(args: &CompletionsArgs, mut command: Command, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "vgdp-sim", &mut text);
    out.write_all(&text)?;
    Ok(0)
}

pub fn explains(args: &ManArgs, command: Command, out: &mut dyn Write) -> Result<u8, Failure> {
    match &args.out {
        None => clap_mangen::Man::new(command).render(&mut &mut *out)?,
        Some(dir) => fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir)).map_err(|it| {
            Failure::Input(format!("`{}` cannot be written: {it}; give --out another directory", dir.display()))
        })?,
    }
    Ok(0)
}
