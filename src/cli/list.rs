//! `vgdp-sim list`.

use std::io::Write;

use clap::{Args, ValueEnum};

use super::arguments::WidthArg;
use super::output::Failure;
use vgdp_sim::report::tables;

#[derive(Args)]
pub struct ListArgs {
    /// What to list.
    #[arg(value_enum)]
    topic: Topic,
    #[command(flatten)]
    width: WidthArg,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Topic {
    /// Where runs start and what may happen to them.
    Scenarios,
    /// What must hold.
    Invariants,
    /// Every way in which the world can change.
    Rules,
    /// How long things take, and who says so.
    Assumptions,
    /// What the outside world may do and what it costs.
    Prices,
    /// Which designs can be run.
    Designs,
    /// Who may choose in random runs.
    Policies,
}

pub fn lists(args: &ListArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let width = args.width.columns();
    let text = match args.topic {
        Topic::Scenarios => tables::scenarios(width),
        Topic::Invariants => tables::invariants(width),
        Topic::Rules => tables::rules(width),
        Topic::Assumptions => tables::assumptions(width),
        Topic::Prices => tables::prices(width),
        Topic::Designs => tables::designs(width),
        Topic::Policies => tables::policies(width),
    };
    out.write_all(text.as_bytes())?;
    Ok(0)
}
