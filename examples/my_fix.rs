//! A fix, as whoever proposes one would write it. Copy this file into a crate of your own and put your idea in its place.
//!
//! `cargo run --release --example my_fix` says what the fix is worth, `cargo test --example my_fix` holds it to that, and
//! `docs/guide.md` goes through both.

use std::error::Error;
use std::thread;

use vgdp_sim::designs::{CloseOnTerminal, Stack, Upstream};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::api_server::DataUpload;
use vgdp_sim::model::design::{Design, Poll};
use vgdp_sim::report::{Style, Tokens, Told, comparison, told};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Effort, compare, conforms};

/// The idea: a mover that polls for InProgress and reads that its upload is cancelled exits, instead of polling on.
///
/// Upstream's mover waits for InProgress, whatever else it reads. Where the cancel overtakes it, the upload is Canceling by
/// its next poll, so it waits for ever, and its slot is held until the cancel is forced.
struct ExitOnCancel;

impl Design for ExitOnCancel {
    /// What tables and tokens call it: lower-case words joined by `-`.
    fn name(&self) -> &'static str {
        "exit-on-cancel"
    }

    /// What it changes.
    fn sentence(&self) -> &'static str {
        "A mover that reads in its poll that its upload is cancelled exits."
    }

    /// The one decision that differs; all others are upstream's. `found` is what this poll reads, and all that the mover
    /// knows here.
    fn mover_polls(&self, found: Option<&DataUpload>) -> Poll {
        match found {
            Some(cr) if cr.cancel => Poll::Exit,
            _ => Upstream.mover_polls(found),
        }
    }
}

/// The table of the fix, alone and with another, then the cheapest way in which a slot still leaks.
pub(crate) fn verdict() -> Result<String, Box<dyn Error>> {
    // Can it be judged at all?
    conforms(&ExitOnCancel)?;

    // Is it enough? Is the other? Does it take both? Each schedule within two departures from the normal one is tried.
    let both = Stack::new("both", &[&ExitOnCancel, &CloseOnTerminal]);
    let designs: [&dyn Design; 4] = [&Upstream, &ExitOnCancel, &CloseOnTerminal, &both];
    let scenario = Scenario::named("cancel")?;
    let effort = Effort { deviations: 2, runs: 0, ..Effort::default() };
    let cores = thread::available_parallelism()?;
    let compared = compare(std::slice::from_ref(&scenario), &designs, effort, cores, None, &|_| {});
    let mut text = comparison::tables(&compared, Tokens::First, 100);

    // Two that decide the same thing differently cannot be stacked.
    text.extend(both.conflicts().iter().map(|it| format!("\n{it}\n")));

    // How does a slot still leak with the fix, the second of these designs?
    let leak = INVARIANTS.iter().position(|it| it.id == "slot-leak").expect("an invariant");
    if let Some(cheapest) = &compared.pair(0, 1).cells[leak].swept {
        let told = Told::tell(&scenario, &ExitOnCancel, &cheapest.deviations);
        let style = Style::default();
        text += "\nHow a slot still leaks with exit-on-cancel\n\n";
        text += &told::sentences(&cheapest.deviations, style.width);
        text += "\n";
        text += &told.story.annotated(&style, &told.asides());
        text += "\n";
        text += &told.story.verdict(&style);
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", verdict()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use vgdp_sim::expect::expect;

    use super::*;

    #[test]
    fn it_can_be_judged() {
        expect(&ExitOnCancel).conforms();
    }

    /// What it is for, and what it does not do.
    #[test]
    fn a_mover_hears_its_cancel_and_the_slot_leaks_all_the_same() {
        let it = expect(&ExitOnCancel).in_scenario("cancel").within(2);
        it.holds("cancel-unheard").broken_at_price("slot-leak", 0);
    }

    #[test]
    fn with_the_data_path_closed_no_slot_leaks_either() {
        let both = Stack::new("both", &[&ExitOnCancel, &CloseOnTerminal]);
        expect(&both).in_scenario("cancel").within(2).holds("cancel-unheard").holds("slot-leak");
        assert!(both.conflicts().is_empty());
    }

    #[test]
    fn it_makes_nothing_worse() {
        for scenario in ["normal", "cancel", "pod-deleted", "download-cancel"] {
            expect(&ExitOnCancel).in_scenario(scenario).within(1).no_worse_than(&Upstream);
        }
    }

    /// VGDP_SIM_SEED, a number or the hash of a commit, makes it other runs.
    #[test]
    fn chance_finds_no_mover_that_does_not_hear() {
        expect(&ExitOnCancel).in_scenario("cancel").hunted(2_000).holds("cancel-unheard");
    }
}
