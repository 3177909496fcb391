//! A fix as somebody else's crate would write it: upstream plus its difference, checked, and broken as cheaply as can be.
//!
//! `cargo run --release --example my_fix`

use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::{Design, Heard};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{conforms, sweep};

/// The mover treats `spec.cancel` as a level, not an edge, and cancels even when its upload is gone.
struct LevelOrGone;

impl Design for LevelOrGone {
    fn name(&self) -> &'static str {
        "level-or-gone"
    }

    fn mover_hears(&self, heard: &Heard) -> bool {
        heard.newest().is_none_or(|cr| cr.cancel && !cr.phase.is_final())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    conforms(&LevelOrGone)?;
    let scenario = Scenario::named("cancel")?;
    let found = sweep(&scenario, &LevelOrGone, 2, 5_000_000);
    println!("{} worlds within {} deviations of the normal schedule", found.worlds, found.within);
    for it in &found.broken {
        let invariant = &INVARIANTS[it.invariant];
        println!("\n{}: {}\n  price {}, run normally, but:", invariant.id, invariant.sentence, it.price);
        for deviation in &it.deviations {
            println!("  - {deviation}");
        }
    }
    Ok(())
}
