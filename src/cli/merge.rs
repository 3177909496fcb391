//! `vgdp-sim merge`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::output::{Failure, UNDECIDED, VACUOUS, tell_vacuous};
use vgdp_sim::report::merge::{Merged, merge};

#[derive(Args)]
pub struct MergeArgs {
    /// What `compare --shard I/N --json` printed, for every I from 1 to N, in any order.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub fn merges(args: &MergeArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let files = args.files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let Merged { json, undecided, vacuous } = merge(&files).map_err(|it| Failure::Input(it.to_string()))?;
    out.write_all(json.as_bytes())?;
    let vacuous: Vec<&str> = vacuous.iter().map(String::as_str).collect();
    tell_vacuous(&vacuous, "--deviations or --runs");
    Ok(match (undecided, &vacuous[..]) {
        (0, []) => 0,
        (0, _) => VACUOUS,
        _ => UNDECIDED,
    })
}

/// Its name and its text.
fn read(path: &PathBuf) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    match fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => Ok((name, text)),
        Ok(Err(_)) => Err(Failure::Input(format!(
            "`{name}` is no text; give files that `vgdp-sim compare --shard I/N --json` printed"
        ))),
        Err(it) => Err(Failure::Input(format!(
            "`{name}` cannot be read: {it}; `vgdp-sim compare --shard I/N --json > {name}` makes it"
        ))),
    }
}
