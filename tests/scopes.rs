//! Small scopes, proved again by every build: how many worlds each has, and what can be broken in it.
//!
//! What a build cannot afford is measured in `docs/scopes.md`, with the commands.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;

use vgdp_sim::designs::{CloseOnTerminal, Upstream, WatcherWatchesPodDelete};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Bounds, Proof, hunt, prove};

const RECORDED: &str = include_str!("expected/scopes.txt");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/expected/scopes.txt");
const DESIGNS: [&dyn Design; 3] = [&Upstream, &CloseOnTerminal, &WatcherWatchesPodDelete];

/// At this price in the small form.
fn scope(name: &str, nodes: u8, price: u8) -> Scenario {
    let scenario = Scenario::named(name).expect("it is built in").scope(nodes, 1).small();
    Scenario { price: scenario.price.min(price), ..scenario }
}

/// The same, without what makes no difference to any run: its name, and what nobody can pay for.
fn essence(scenario: &Scenario) -> String {
    let free: Vec<_> = scenario.allows.iter().filter(|it| it.0.price() <= scenario.price).collect();
    let only: Vec<_> = scenario.only_while.iter().filter(|it| free.iter().any(|free| free.0 == it.0)).collect();
    let plain = Scenario { name: "", sentence: "", allows: &[], only_while: &[], ..scenario.clone() };
    format!("{plain:?} {free:?} {only:?}")
}

/// Scopes, each with the scenarios that are the same there.
fn scopes() -> Vec<(Scenario, Vec<&'static str>)> {
    let one_node = Scenario::built_in().into_iter().filter(|it| it.name != "anything" && it.least_nodes() == 1);
    let free = one_node.map(|it| scope(it.name, 1, 0));
    let two_nodes = ["normal", "cr-deleted"].map(|it| scope(it, 2, 0));
    let priced = ["pod-deleted", "download-pod-deleted", "cr-deleted"].map(|it| scope(it, 1, 1));
    let mut scopes: Vec<(Scenario, Vec<&str>)> = Vec::new();
    for it in free.chain(two_nodes).chain(priced) {
        match scopes.iter_mut().find(|(known, _)| essence(known) == essence(&it)) {
            Some((_, names)) => names.push(it.name),
            None => scopes.push((it.clone(), vec![it.name])),
        }
    }
    scopes
}

/// Nothing is left out without a word: `anything` is too large, and one scenario needs a second node.
#[test]
fn every_scenario_has_its_smallest_scope() {
    let scopes = scopes();
    let named: BTreeSet<&str> =
        scopes.iter().filter(|it| it.0.nodes == 1).flat_map(|it| it.1.iter().copied()).collect();
    let others: Vec<&str> = Scenario::built_in().iter().map(|it| it.name).filter(|it| !named.contains(it)).collect();
    assert_eq!(others, ["forced-cancel-by-other-node", "anything"]);
    assert_eq!(scopes[0].1, ["normal", "cr-deleted", "finalizer-stripped", "pod-deleted", "watch-broken"]);
}

/// What is recorded is what is found. `RECORD=1 cargo test --test scopes` records it anew; the commit says why.
#[test]
fn the_recorded_scopes_are_what_is_found() {
    let scopes = scopes();
    let all: Vec<(&Scenario, &[&str], &dyn Design)> =
        DESIGNS.iter().flat_map(|design| scopes.iter().map(|it| (&it.0, &it.1[..], *design))).collect();
    let (next, found) = (Mutex::new(0), Mutex::new(vec![String::new(); all.len()]));
    let work = || {
        loop {
            let index = {
                let mut next = next.lock().unwrap();
                *next += 1;
                *next - 1
            };
            let Some((scenario, names, design)) = all.get(index) else { return };
            let proof = prove(scenario, *design, Bounds::default());
            finds_nothing_else(&proof, *design);
            found.lock().unwrap()[index] = lines(&proof, names);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(work);
        }
    });
    let head = "# Every reachable world of small scopes; `RECORD=1 cargo test --test scopes` records them.\n";
    let found = head.to_owned() + &found.into_inner().unwrap().concat();
    if std::env::var_os("RECORD").is_some() {
        std::fs::write(FILE, found).unwrap();
        return;
    }
    let (was, is): (Vec<&str>, Vec<&str>) = (RECORDED.lines().collect(), found.lines().collect());
    let gone = was.iter().filter(|it| !is.contains(it)).map(|it| format!("- {it}"));
    let new = is.iter().filter(|it| !was.contains(it)).map(|it| format!("+ {it}"));
    let differs: Vec<String> = gone.chain(new).collect();
    assert!(differs.is_empty(), "not as recorded:\n{}", differs.join("\n"));
    assert_eq!(RECORDED, found);
}

/// What no schedule breaks, chance does not break either, nor for less.
fn finds_nothing_else(proof: &Proof, design: &dyn Design) {
    for it in hunt(&proof.scenario, design, 1, 300).findings {
        let (id, name) = (INVARIANTS[it.invariant].id, proof.scenario.name);
        let least = proof.cheapest(it.invariant).unwrap_or_else(|| panic!("{id} in {name} is excluded"));
        assert!(least.price <= it.price, "{id} in {name}");
    }
}

/// Worlds, then what is broken, a line each that says all by itself.
fn lines(proof: &Proof, names: &[&str]) -> String {
    let Scenario { nodes, tasks, .. } = proof.scenario;
    let all = proof.complete.last().expect("it is small");
    assert_eq!((proof.partial, proof.up_to()), (None, Some(proof.scenario.price)));
    let place = format!("{} {nodes}x{tasks} price {} {}", names[0], proof.scenario.price, proof.design);
    let mut out = format!("\n{place}: {} worlds, at most {} steps\n", all.worlds, all.steps);
    if names.len() > 1 {
        let _ = writeln!(out, "{place}: the same as {}", names[1..].join(", "));
    }
    for it in &proof.broken {
        let id = INVARIANTS[it.invariant].id;
        let _ = writeln!(out, "{place}: {id} broken at price {} after {} steps", it.price, it.steps);
    }
    let livelock =
        proof.livelock.as_ref().map_or("no livelock".to_owned(), |it| format!("livelock at price {}", it.price));
    let _ = writeln!(out, "{place}: {livelock}, and no other invariant broken");
    out
}
