//! `vgdp-sim scenario`.

use std::io::Write;

use clap::{Args, Subcommand};

use super::arguments::{scenario, width};
use super::output::Failure;
use vgdp_sim::report::tables;
use vgdp_sim::scenario::Scenario;

#[derive(Args)]
pub struct ScenarioArgs {
    #[command(subcommand)]
    command: Command,
    /// Columns of the output [default: $COLUMNS, or 80 on a terminal, or 120].
    #[arg(long, value_parser = clap::value_parser!(u16).range(40..=1000), global = true)]
    width: Option<u16>,
}

#[derive(Subcommand)]
enum Command {
    /// Check files: tell in a paragraph what each scenario is, or what is wrong with it.
    Check {
        /// Files.
        #[arg(value_name = "FILE", required = true)]
        files: Vec<String>,
    },
    /// Print a scenario as a file, to be edited: give it a name of its own first.
    Show {
        /// The scenario.
        #[arg(value_name = "NAME", value_parser = scenario)]
        scenario: Scenario,
    },
}

pub fn scenarios(args: &ScenarioArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    match &args.command {
        Command::Show { scenario } => out.write_all(scenario.to_json().as_bytes())?,
        Command::Check { files } => {
            let mut wrong = Vec::new();
            for file in files {
                match Scenario::open(file) {
                    Ok(it) => {
                        let text = tables::scenario(&format!("{file}: ok."), &it, width(args.width));
                        out.write_all(text.as_bytes())?;
                    }
                    Err(it) => wrong.push(it.to_string()),
                }
            }
            if !wrong.is_empty() {
                return Err(Failure::Input(wrong.join("\nerror: ")));
            }
        }
    }
    Ok(0)
}
