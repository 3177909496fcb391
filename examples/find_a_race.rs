//! Finds the cheapest slot leak of a scenario and prints the schedule that brings it about.
//!
//! `cargo run --release --example find_a_race -- cancel`

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::hunt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "cancel".to_owned());
    let scenario = Scenario::named(&name)?;
    let campaign = hunt(&scenario, &Upstream, 1, 5_000);
    let leak = campaign.findings.iter().find(|it| INVARIANTS[it.invariant].id == "slot-leak");
    let Some(leak) = leak else {
        println!("{name}: no slot leak in {} runs", campaign.runs);
        return Ok(());
    };
    println!("{name}: a slot leaks at price {}, after {} actions:", leak.price, leak.schedule.len());
    for action in &leak.schedule {
        println!("  {action}");
    }
    Ok(())
}
