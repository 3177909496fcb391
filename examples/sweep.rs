//! How far a sweep comes: `cargo run --release --example sweep`.
//!
//! For each built-in scenario, at its own scope and with one node and one task: the worlds that are visited within 1, 2
//! and 3 deviations, how many invariants of upstream are broken, and the seconds that it takes. A dash says that more
//! worlds would have to be visited than the bound allows.
//!
//! `-- 10000000` sets the bound, and a name after it picks one scenario. The table of `docs/sweep.md` was made with
//! 20,000,000.

use std::env;
use std::time::Instant;

use vgdp_sim::designs::Upstream;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::sweep;

fn main() {
    let mut args = env::args().skip(1);
    let most_worlds = args.next().map_or(100_000, |it| it.parse().expect("a number of worlds"));
    let only = args.next();
    println!("| scenario | nodes x tasks | within 1 | within 2 | within 3 |");
    println!("|---|---|---|---|---|");
    for scenario in Scenario::built_in().into_iter().filter(|it| only.as_ref().is_none_or(|name| name == it.name)) {
        let own = (scenario.nodes, scenario.tasks);
        tell(&scenario, most_worlds);
        if own != (1, 1) {
            tell(&scenario.scope(1, 1), most_worlds);
        }
    }
}

/// Prints a row.
fn tell(scenario: &Scenario, most_worlds: usize) {
    print!("| {} | {} x {} |", scenario.name, scenario.nodes, scenario.tasks);
    for within in 1..=3 {
        let begun = Instant::now();
        let sweep = sweep(scenario, &Upstream, within, most_worlds);
        if sweep.is_partial() {
            print!(" - |");
        } else {
            let (worlds, broken) = (grouped(sweep.worlds), sweep.broken.len());
            print!(" {worlds}: {broken} broken, {:.1} s |", begun.elapsed().as_secs_f32());
        }
    }
    println!();
}

/// A number with a comma after each three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
