//! Which findings of upstream at price 0 hang on a guess: `cargo run --release --example sensitivity` prints
//! `docs/sensitivity.md`.
//!
//! For each built-in scenario every schedule within two deviations at price 0 is tried. Each finding is then judged with
//! each assumption about latency halved and doubled.

use vgdp_sim::designs::Upstream;
use vgdp_sim::model::time::Obligation;
use vgdp_sim::report::{Token, grouped, sensitivity as report};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Fate, Sensitivity, sensitivity, sweep};

/// Within how many deviations.
const WITHIN: u8 = 2;
/// The most worlds of a sweep.
const WORLDS: usize = 3_000_000;

fn main() {
    let scenarios = Scenario::built_in();
    let mut findings = Vec::new();
    let mut partial = Vec::new();
    for scenario in &scenarios {
        let free = Scenario { price: 0, ..scenario.clone() };
        let swept = sweep(&free, &Upstream, WITHIN, WORLDS);
        if swept.is_partial() {
            partial.push(scenario.name);
        }
        for it in swept.broken {
            let asked = sensitivity(&free, &Upstream, it.invariant, &it.deviations, WORLDS).expect("a finding replays");
            findings.push((scenario, asked, Token::new(scenario, &Upstream, &it.deviations).to_string()));
        }
    }
    print!("{}", heading(&findings, &partial));
    print!("{}", report::table(&findings));
}

/// A finding with its scenario and its token.
type Found<'a> = (&'a Scenario, Sensitivity, String);

fn heading(findings: &[Found], partial: &[&str]) -> String {
    let trials = || findings.iter().flat_map(|it| &it.1.trials);
    let robust = findings.iter().filter(|it| it.1.is_robust()).count();
    let anew = trials().filter(|it| it.fate == Fate::FoundAnew).count();
    let (all, trials, most) = (findings.len(), trials().count(), grouped(WORLDS as u64));
    let assumed = Obligation::ALL.iter().filter(|it| it.is_assumed());
    let assumed = assumed.map(|it| format!("`{it:?}`")).collect::<Vec<_>>().join(", ");
    let cut_short = match partial {
        [] => "No sweep was cut short.".to_owned(),
        _ => format!("Cut short at {most} worlds, so that there may be more findings: {}.", partial.join(", ")),
    };
    format!(
        "# Which findings hang on a guess

`cargo run --release --example sensitivity > docs/sensitivity.md` makes this page.

Some of what takes time in the model is a constant of Velero or of Kubernetes, and some is an assumption
(`vgdp-sim list assumptions`): {assumed}.

For each scenario every schedule within {WITHIN} deviations at price 0 was tried on upstream. Then each assumption was
halved, and doubled, all others as they are. A finding *replays* where its own deviations still bring it about, is
*found anew* where no more deviations at price 0 do, is *gone* where all of those were tried and none does, and is *open*
where that took more than {most} worlds. It is *robust* where it is never gone and never open. What is gone may be there
with more deviations.

**{robust} of {all} findings are robust.** Of {trials} trials {anew} needed a new search and found it. {cut_short}

`vgdp-sim compare` marks each robust race with a `*`, and names what the others need. `vgdp-sim sensitivity TOKEN` asks the same of
any finding, and says what became of it after each change.

"
    )
}
