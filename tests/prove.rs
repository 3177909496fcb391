//! The proof: it counts and finds what plain searches count and find, and its findings replay.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use vgdp_sim::designs::{CloseOnTerminal, LevelTriggeredCancel, Upstream};
use vgdp_sim::invariants::{INVARIANTS, Kind};
use vgdp_sim::model::api_server::{DataUpload, Phase};
use vgdp_sim::model::design::Design;
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::routine::{Op, Plan};
use vgdp_sim::model::node_agent::worker::Own;
use vgdp_sim::model::place::TaskId;
use vgdp_sim::model::rules::{Action, Class, Enabled, Rule};
use vgdp_sim::model::time::{Obligation as O, Span, Times};
use vgdp_sim::model::world::World;
use vgdp_sim::report::proof;
use vgdp_sim::report::summary::Kept;
use vgdp_sim::report::{Replayed, Schedule, Token, Told};
use vgdp_sim::run::{Ended, observe, run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Normal, Replay};
use vgdp_sim::search::{Bounds, Cut, Extent, Proof, hunt, prove, sweep};

#[path = "support/stateright_model.rs"]
mod stateright_model;

use stateright_model::start::start;
use stateright_model::{By, checked};

/// One node and one upload, in the smallest form: caches and enqueue-only listeners move in one step, no progress is
/// reported, and what starts, starts at once.
fn small(name: &str) -> Scenario {
    let at_once = |it: O, after| (it, Span { earliest: after, latest: Some(after) });
    let times = [at_once(O::ContainerStart, 1), at_once(O::MoverBoot, 0), at_once(O::StatusPatch, 0)];
    let times = times.into_iter().chain([at_once(O::RepositoryOpen, 1)]);
    Scenario {
        merges_enqueue: true,
        reports_progress: false,
        times: times.fold(Times::default(), |times, (it, span)| times.with(it, span)),
        ..Scenario::named(name).expect("it is built in").scope(1, 1)
    }
}

/// The same, and the user cancels only while the upload is in this phase.
fn cancelled_while(only_while: &'static [(D, &'static [Phase])]) -> Scenario {
    Scenario { only_while, ..small("cancel") }
}

/// Scopes of some hundred thousand worlds, each with a design.
fn scopes() -> Vec<(Scenario, &'static dyn Design)> {
    let running = || cancelled_while(&[(D::Cancel, &[Phase::InProgress])]);
    let accepted = || cancelled_while(&[(D::Cancel, &[Phase::Accepted])]);
    vec![
        (small("normal"), &Upstream),
        (accepted(), &Upstream),
        (running(), &Upstream),
        (running(), &CloseOnTerminal),
        (running(), &LevelTriggeredCancel),
    ]
}

fn ids(proof: &Proof, kinds: impl Fn(Kind) -> bool) -> Vec<usize> {
    proof.broken.iter().map(|it| it.invariant).filter(|&it| kinds(INVARIANTS[it].broken)).collect()
}

/// How long each invariant has been broken for the one task, where it matters.
type Counters = Vec<(usize, u16)>;

/// What a plain search finds: worlds, transitions, and for each broken invariant the fewest steps at the lowest price.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plain {
    worlds: u64,
    transitions: u64,
    at_rest: u64,
    broken: BTreeMap<usize, (u8, u32)>,
}

/// A breadth-first search that keeps worlds whole and tells them apart by how long everything has been broken, too.
fn plainly(scenario: &Scenario, design: &dyn Design) -> Plain {
    let a = TaskId(0);
    let (setup, start) = start(scenario, design);
    let mut plain = Plain::default();
    let key = |world: &World| world.bytes().concat();
    let mut seen: HashMap<Vec<u8>, Vec<Counters>> = HashMap::from([(key(&start), vec![Vec::new()])]);
    let mut level = vec![(start, Counters::new())];
    let mut steps = 1;
    let mut enabled = Enabled::default();
    let mut first: HashSet<Vec<u8>> = HashSet::new();
    while !level.is_empty() {
        let mut next = Vec::new();
        for (mut was, counters) in level {
            let new = first.insert(key(&was));
            was.enabled(&setup, &mut enabled);
            plain.worlds += u64::from(new);
            plain.transitions += if new { enabled.len() as u64 } else { 0 };
            let mut breaks = |index: usize, price: u8, steps: u32| {
                let least = plain.broken.entry(index).or_insert((price, steps));
                *least = (price, steps).min(*least);
            };
            let price = scenario.price - was.shared.budget.price_left();
            if enabled.is_at_rest() && !was.is_passing() {
                plain.at_rest += u64::from(new);
                for (index, it) in INVARIANTS.iter().enumerate() {
                    if let Kind::AtRest(broken) | Kind::Within(_, broken) = it.broken
                        && broken(&was, &setup, a)
                    {
                        breaks(index, price, steps);
                    }
                }
            }
            for &action in enabled.iter() {
                let mut is = was;
                let seconds = if action.class() == Class::Clock { is.seconds_ahead(&setup) } else { 0 };
                assert!(is.fire(&setup, action));
                let price = scenario.price - is.shared.budget.price_left();
                let mut counters = counters.clone();
                if seconds > 0 || !was.tasks[a].looks_like(&is.tasks[a]) {
                    for (index, it) in INVARIANTS.iter().enumerate() {
                        match it.broken {
                            Kind::Step(broken) if broken(&was, action, &is, a) => breaks(index, price, steps + 1),
                            Kind::Within(limit, broken) => {
                                let so_far = counters.iter().find(|it| it.0 == index).map_or(0, |it| it.1);
                                counters.retain(|it| it.0 != index);
                                let counts = seconds > 0 && !is.is_passing();
                                let longer = so_far + if counts { seconds } else { 0 };
                                if broken(&is, &setup, a) && longer > 0 {
                                    counters.push((index, longer.min(limit + 1)));
                                    if longer > limit {
                                        breaks(index, price, steps + 1);
                                    }
                                }
                            }
                            _ => {}
                        }
                    }
                    counters.sort_unstable();
                }
                let all = seen.entry(key(&is)).or_default();
                if !all.contains(&counters) {
                    all.push(counters.clone());
                    next.push((is, counters));
                }
            }
        }
        level = next;
        steps += 1;
    }
    plain
}

fn as_plain(proof: &Proof) -> Plain {
    let all = proof.complete.last().expect("a small scope");
    Plain {
        worlds: all.worlds,
        transitions: all.transitions,
        at_rest: all.at_rest,
        broken: proof.broken.iter().map(|it| (it.invariant, (it.price, it.steps))).collect(),
    }
}

/// The plain search follows every world with every length of time for which something has been broken there, and keeps
/// the worlds whole: so 64 bits of each lose none, and leaving a world again only after a longer time loses no verdict
/// and no shorter way.
#[test]
fn a_plain_search_counts_and_finds_the_same() {
    for (scenario, design) in scopes() {
        let proof = prove(&scenario, design, Bounds::default());
        assert_eq!(as_plain(&proof), plainly(&scenario, design), "{} {}", scenario.name, design.name());
    }
}

/// Where an invariant is broken only after several waits that add up, and a world is met sooner by those who waited less.
#[test]
fn a_plain_search_finds_the_same_where_waits_add_up() {
    for (epilog, clean_up) in [(0, 170), (5, 165), (60, 120), (60, 165)] {
        let exactly = |seconds| Span { earliest: seconds, latest: Some(seconds) };
        let scenario = small("normal");
        let times = scenario.times.with(O::Epilog, exactly(epilog)).with(O::CleanUp, exactly(clean_up));
        let times = times.with(O::StatusPatch, Span { earliest: 10, latest: Some(40) });
        // The four hours of an item operation would tell worlds apart by how late it is.
        let times = times.with(O::OperationTimeout, Span { earliest: 0, latest: None });
        let scenario = Scenario { times, ..scenario };
        let proof = prove(&scenario, &Upstream, Bounds::default());
        assert_eq!(as_plain(&proof), plainly(&scenario, &Upstream), "{epilog} {clean_up}");
        assert!(proof.complete[0].again > 0);
    }
}

/// With disturbances that cost, each price in its turn.
#[test]
fn a_plain_search_finds_the_same_at_price_one() {
    for name in ["pod-deleted", "watch-broken"] {
        let scenario = Scenario { price: 1, ..small(name) };
        let proof = prove(&scenario, &Upstream, Bounds::default());
        assert_eq!(proof.up_to(), Some(1));
        assert_eq!(as_plain(&proof), plainly(&scenario, &Upstream), "{name}");
        let normal = prove(&small("normal"), &Upstream, Bounds::default()).complete[0];
        assert_eq!((proof.complete[0].worlds, proof.complete[0].steps), (normal.worlds, normal.steps));
    }
}

/// What moves in one step to save worlds changes neither verdicts nor prices.
#[test]
fn merging_the_enqueue_changes_no_verdict() {
    let merged = cancelled_while(&[(D::Cancel, &[Phase::Accepted])]);
    let apart = Scenario { merges_enqueue: false, ..merged.clone() };
    let [merged, apart] = [merged, apart].map(|it| prove(&it, &Upstream, Bounds::default()));
    let verdicts = |it: &Proof| it.broken.iter().map(|it| (it.invariant, it.price)).collect::<Vec<_>>();
    assert_eq!(verdicts(&merged), verdicts(&apart));
    assert!(merged.complete[0].worlds < apart.complete[0].worlds);
    assert!(merged.to_string().contains("move in one step") && !apart.to_string().contains("move in one step"));
}

/// Another engine, which shares nothing with ours but the model.
#[test]
fn stateright_counts_and_finds_the_same() {
    for (scenario, design) in scopes() {
        let proof = prove(&scenario, design, Bounds::default());
        let ours = (proof.complete[0].worlds, ids(&proof, |it| !matches!(it, Kind::Within(..))));
        assert_eq!(ours, checked::<1, 1>(&scenario, design, By::Breadth), "{} {}", scenario.name, design.name());
        assert_eq!(ours, checked::<1, 1>(&scenario, design, By::Depth), "{} {}", scenario.name, design.name());
    }
}

/// The count that the plain breadth-first search pins.
#[test]
fn the_normal_scope_has_as_many_worlds_as_are_pinned() {
    let normal = Scenario { times: Times::default(), ..small("normal") };
    let all = prove(&normal, &Upstream, Bounds::default()).complete[0];
    assert_eq!((all.worlds, all.transitions), (123_480, 531_233));
}

/// Taken strictly the schedule breaks the invariant with its last step, at that price, and going on normally changes
/// nothing about it.
#[test]
fn a_finding_replays() {
    let priced = ["pod-deleted", "watch-broken"].map(|it| {
        let scenario = Scenario { price: 1, ..small(it) };
        (scenario, &Upstream as &dyn Design)
    });
    for (scenario, design) in scopes().into_iter().chain(priced) {
        for it in prove(&scenario, design, Bounds::default()).broken {
            let id = INVARIANTS[it.invariant].id;
            let mut strict = Replay::strict(&it.schedule);
            let report = run(&scenario, design, &mut strict);
            assert_eq!((strict.diverged(), report.steps), (None, it.steps), "{id} in {}", scenario.name);
            let broken = report.broken[it.invariant].expect(id);
            assert_eq!((broken.price, broken.step + 1, broken.task), (it.price, it.steps, it.task), "{id}");
            let onwards = run(&scenario, design, &mut Replay::then_normal(&it.schedule));
            assert_eq!(onwards.broken[it.invariant], Some(broken), "{id} in {}", scenario.name);
        }
    }
}

/// What no schedule can break, no schedule with few deviations breaks; and none breaks anything for less.
#[test]
fn a_sweep_finds_nothing_that_a_proof_excludes() {
    let priced = ["pod-deleted", "watch-broken"].map(|it| (small(it), &Upstream as &dyn Design));
    let mut found = 0;
    for (scenario, design) in scopes().into_iter().chain(priced) {
        let proof = prove(&scenario, design, Bounds::default());
        for it in sweep(&scenario, design, 1, 3_000_000).broken {
            let id = INVARIANTS[it.invariant].id;
            let cheapest = proof.cheapest(it.invariant).expect(id);
            assert!((cheapest.price, cheapest.steps) <= (it.price, it.steps), "{id} in {}", scenario.name);
            found += 1;
        }
    }
    assert!(found >= 10, "only {found} violations were compared");
}

/// Nor does chance.
#[test]
fn a_hunt_finds_nothing_that_a_proof_excludes() {
    let priced =
        ["pod-deleted", "watch-broken"].map(|it| (Scenario { price: 1, ..small(it) }, &Upstream as &dyn Design));
    let mut found = 0;
    for (scenario, design) in scopes().into_iter().chain(priced) {
        let proof = prove(&scenario, design, Bounds::default());
        for it in hunt(&scenario, design, 1, 2_000).findings {
            let id = INVARIANTS[it.invariant].id;
            let cheapest = proof.cheapest(it.invariant).expect(id);
            let report = run(&scenario, design, &mut Replay::then_normal(&it.schedule));
            let steps = report.broken[it.invariant].expect(id).step + 1;
            assert!((cheapest.price, cheapest.steps) <= (it.price, steps), "{id} in {}", scenario.name);
            found += 1;
        }
    }
    assert!(found >= 10, "only {found} violations were compared");
}

/// The answer is the same, to the last action.
#[test]
fn several_threads_find_what_one_finds() {
    for (scenario, design) in scopes().into_iter().skip(2) {
        let one = prove(&scenario, design, Bounds::default());
        assert_eq!(prove(&scenario, design, Bounds { jobs: 3, ..Bounds::default() }), one);
    }
    let scenario = cancelled_while(&[(D::Cancel, &[Phase::New])]);
    let livelock = |jobs| prove(&scenario, &TriesAgain { deleted: false }, Bounds { jobs, ..Bounds::default() });
    assert_eq!(livelock(2), livelock(1));
}

/// A bound on worlds gives an honest partial answer: what it says it has tried, it has tried.
#[test]
fn a_bounded_proof_says_how_far_it_came() {
    let scenario = Scenario { price: 1, ..small("pod-deleted") };
    let all = prove(&scenario, &Upstream, Bounds::default());
    assert_eq!(all.partial, None);
    for most_worlds in [10, 60_000, 120_000, 200_000] {
        let some = prove(&scenario, &Upstream, Bounds { most_worlds, ..Bounds::default() });
        let partial = some.partial.expect("there are more worlds");
        assert_eq!(partial.stopped, Cut::AtWorlds);
        assert!(partial.extent.worlds as usize <= most_worlds);
        assert!(most_worlds < 1_000 || partial.extent.worlds as usize > most_worlds / 2);
        assert_eq!(some.complete, all.complete[..some.complete.len()]);
        assert_eq!(some.complete.len(), partial.price as usize);
        for it in &all.broken {
            let tried = it.price < partial.price || (it.price == partial.price && it.steps <= partial.steps);
            assert!(!tried || some.broken.contains(it), "{}", INVARIANTS[it.invariant].id);
        }
        for it in &some.broken {
            let least = all.cheapest(it.invariant).expect("it is broken");
            assert!((least.price, least.steps) <= (it.price, it.steps));
        }
    }
    let free = prove(&scenario, &Upstream, Bounds { up_to: 0, ..Bounds::default() });
    assert_eq!((free.up_to(), free.complete[0]), (Some(0), all.complete[0]));
}

/// Told to stop it says what it has covered, and has found what there is within that.
#[test]
fn an_interrupted_proof_says_how_far_it_came() {
    let scenario = small("normal");
    let all = prove(&scenario, &Upstream, Bounds::default());
    let stop = AtomicBool::new(false);
    let told = |price: u8, extent: &Extent| {
        assert_eq!(price, 0);
        stop.fetch_or(extent.worlds > 60_000, Ordering::Relaxed);
    };
    let some =
        prove(&scenario, &Upstream, Bounds { stop: Some(&stop), told: Some(&told), jobs: 2, ..Bounds::default() });
    let partial = some.partial.expect("it was stopped");
    assert_eq!((partial.stopped, some.complete.len()), (Cut::Interrupted, 0));
    assert!(partial.extent.worlds > 60_000 && partial.extent.worlds < all.complete[0].worlds);
    for it in &all.broken {
        assert!(!partial.has_tried(it.price, it.steps) || some.broken.contains(it), "{}", INVARIANTS[it.invariant].id);
    }
    let text = some.to_string();
    assert!(text.contains("interrupted") && text.contains("None at price 0 within"), "{text}");
    assert!(!text.contains(": all ") && !text.contains("No livelock: "), "{text}");
}

/// Of the scenario itself and of its small form: each file replays as it stands, and each token breaks the same.
#[test]
fn every_way_to_break_something_replays() {
    let cancel = Scenario::named("cancel").unwrap().scope(1, 1);
    let priced = Scenario::named("pod-deleted").unwrap().scope(1, 1).small();
    let invariants: Vec<usize> = (0..INVARIANTS.len()).collect();
    let mut tokens = 0;
    for (scenario, most_worlds) in [(cancel, 250_000), (priced, 1_000_000)] {
        let proof = prove(&scenario, &Upstream, Bounds { most_worlds, ..Bounds::default() });
        let ways = proof::ways(&proof, &Upstream, &invariants);
        assert_eq!(ways.len(), proof.broken.len());
        assert!(!ways.is_empty());
        for way in ways {
            let invariant = way.invariant.expect("there is no livelock");
            let schedule: Schedule = way.file_text.parse().unwrap();
            assert_eq!((&schedule.scenario, schedule.invariant), (&scenario, way.invariant), "{}", way.file_name);
            let mut replay = Replayed::new(&schedule);
            let report = run(&schedule.scenario, &Upstream, &mut replay);
            assert_eq!(replay.divergence(&report), None, "{}", way.file_name);
            let (broken, cheapest) = (report.broken[invariant], proof.cheapest(invariant).unwrap());
            assert_eq!(broken.map(|it| (it.price, it.step + 1)), Some((cheapest.price, cheapest.steps)));
            if let Some((deviations, token)) = way.token {
                let token = Token::read(&token).unwrap();
                assert_eq!((&token.scenario, token.deviations.len()), (&scenario, deviations));
                let told = Told::tell(&token.scenario, &Upstream, &token.deviations);
                assert!(told.story.report.broken[invariant].is_some_and(|it| it.price <= cheapest.price));
                tokens += 1;
            }
        }
    }
    assert!(tokens > 0, "no token was read");
}

/// What JSON says of an invariant, and what it says of the whole.
#[test]
fn json_says_what_is_proved_broken_or_open() {
    let scenario = Scenario::named("normal").unwrap().scope(1, 1).small();
    let invariants: Vec<usize> = (0..INVARIANTS.len()).collect();
    for (most_worlds, otherwise) in [(1_000_000, "proved"), (100_000, "open")] {
        let proof = prove(&scenario, &Upstream, Bounds { most_worlds, ..Bounds::default() });
        let ways =
            proof::ways(&proof, &Upstream, &invariants).into_iter().map(|it| (it, Kept::Not)).collect::<Vec<_>>();
        let text = proof::json(&proof, &invariants, &ways);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&document["schema"], &document["form"]), (&proof::SCHEMA.into(), &"small".into()));
        assert_eq!(document["partial"].is_null(), proof.partial.is_none());
        for (index, it) in INVARIANTS.iter().enumerate() {
            let of = &document["invariants"][it.id];
            let answer = if proof.cheapest(index).is_some() { "broken" } else { otherwise };
            assert_eq!(of["answer"], answer, "{}", it.id);
            assert_eq!(of["price"].is_null(), answer != "broken", "{}", it.id);
        }
    }
}

// Livelocks.

/// An upload that was cancelled is started again once it is over, is cancelled again for want of its mover, and so on.
struct TriesAgain {
    /// Only if it has been deleted as well.
    deleted: bool,
}

impl Design for TriesAgain {
    fn name(&self) -> &'static str {
        "tries-again"
    }

    fn on_final(&self, own: &Own) -> Plan {
        let again = own.cr.cancel && (own.cr.deleting || !self.deleted);
        if again { Plan::of(&[Op::MarkInProgress]) } else { Upstream.on_final(own) }
    }

    fn may_start(&self, _: &DataUpload) -> bool {
        true
    }
}

/// The owner keeps the finalizer of an upload that is over until its slot is free, and looks again every five seconds.
struct LooksAgain;

impl Design for LooksAgain {
    fn name(&self) -> &'static str {
        "looks-again"
    }

    fn on_final(&self, own: &Own) -> Plan {
        if own.tracked { Plan::of(&[Op::ReadCr, Op::RequeueSoon]) } else { Upstream.on_final(own) }
    }
}

fn never_rests(scenario: &Scenario, design: &dyn Design, schedule: &[Action]) -> bool {
    run(scenario, design, &mut Replay::then_normal(schedule)).ended == Ended::Undecided
}

/// A retry that never succeeds goes on for ever, whatever anybody else does.
#[test]
fn a_livelock_of_retries_is_found() {
    let scenario = cancelled_while(&[(D::Cancel, &[Phase::New])]);
    let design = TriesAgain { deleted: false };
    let found = prove(&scenario, &design, Bounds::default()).livelock.expect("it never rests");
    assert_eq!(found.price, 0);
    assert!(never_rests(&scenario, &design, &found.schedule));
    for rule in [Rule::WorkerReads, Rule::WorkerMarksInProgress, Rule::WorkerForcesCancel, Rule::CrWatchReceives] {
        assert!(found.cycle.iter().any(|it| it.rule() == rule), "{} in {:?}", rule.name(), found.cycle);
    }
    let (_, shorter) = found.schedule.split_last().expect("somebody cancels it");
    assert!(!never_rests(&scenario, &design, shorter));
    assert_eq!(prove(&scenario, &Upstream, Bounds::default()).livelock, None);
}

/// To delete an upload costs 1, and upstream turns that into a cancel.
#[test]
fn a_livelock_has_a_price() {
    let scenario = Scenario { only_while: &[(D::Delete, &[Phase::New])], ..small("cr-deleted") };
    let design = TriesAgain { deleted: true };
    let found = prove(&scenario, &design, Bounds::default()).livelock.expect("it never rests");
    assert_eq!(found.price, 1);
    assert!(found.schedule.iter().any(|it| it.rule() == Rule::UserDeletes));
    assert!(never_rests(&scenario, &design, &found.schedule));
}

/// A retry that ends once somebody else has had his turn is none, although it goes on for as long as nobody has.
#[test]
fn a_fair_retry_loop_is_no_livelock() {
    let scenario = small("normal");
    assert!(goes_on_without(Rule::CallbackReleasesSlot, &scenario, &LooksAgain), "there is no retry loop at all");
    assert!(!goes_on_without(Rule::CallbackReleasesSlot, &scenario, &Upstream));
    assert_eq!(prove(&scenario, &LooksAgain, Bounds::default()).livelock, None);
}

/// Whether a world comes back with the same turn, if everybody takes turns but for one rule, which never gets its own.
fn goes_on_without(rule: Rule, scenario: &Scenario, design: &dyn Design) -> bool {
    let (setup, mut world) = start(scenario, design);
    let mut enabled = Enabled::default();
    let mut turn = None;
    let mut seen = Vec::new();
    loop {
        world.enabled(&setup, &mut enabled);
        let of = |class| enabled.iter().copied().filter(move |it| it.class() == class && it.rule() != rule);
        let in_turn = |class| of(class).find(|it| turn.is_none_or(|turn| *it > turn)).or_else(|| of(class).next());
        let Some(next) = in_turn(Class::Step).or_else(|| in_turn(Class::Clock)) else { return false };
        assert!(world.fire(&setup, next));
        turn = Some(next);
        if seen.contains(&(world, next)) {
            return true;
        }
        seen.push((world, next));
    }
}

/// The certificate names what was searched, what was found and what was not.
#[test]
fn a_certificate_says_what_it_covers() {
    let scenario = small("normal");
    let proof = prove(&scenario, &Upstream, Bounds::default());
    let text = proof.to_string();
    let none = "None up to price 0 (all 78,952 worlds, time moving to window boundaries): slot-leak";
    for part in ["1 node, 1 task", "all 78,952 worlds", none, "No livelock: "] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    let cancelled = cancelled_while(&[(D::Cancel, &[Phase::New])]);
    let tries_again = TriesAgain { deleted: false };
    let livelock = prove(&cancelled, &tries_again, Bounds::default()).to_string();
    assert!(livelock.contains("Livelock at price 0 after "), "{livelock}");
    let mut seen = 0;
    observe(&scenario, &Upstream, &mut Normal, &mut |_| seen += 1);
    assert!(proof.complete[0].steps >= seen);
}

// The command line.

#[cfg(feature = "cli")]
mod cli {
    use std::process::{Command, Stdio};

    use vgdp_sim::invariants::INVARIANTS;

    const OUT: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/prove");

    fn command(args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vgdp-sim"));
        command.args(["prove", "--out", OUT]).args(args).env_remove("COLUMNS");
        command
    }

    /// Its exit code, its output and its errors.
    fn proves(args: &[&str]) -> (i32, String, String) {
        let it = command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (it.status.code().unwrap(), text(it.stdout), text(it.stderr))
    }

    const NORMAL: [&str; 5] = ["--scenario", "normal", "--nodes", "1", "--small"];

    fn normal(more: &[&str]) -> (i32, String, String) {
        proves(&[&NORMAL[..], more].concat())
    }

    #[test]
    fn exit_codes_tell_proved_broken_and_open_apart() {
        let (code, out, err) = normal(&["--invariant", "slot-leak"]);
        assert_eq!((code, err), (0, String::new()), "{out}");
        let (code, out, err) = normal(&["--invariant", "orphan-watcher"]);
        assert_eq!((code, err), (1, String::new()), "{out}");
        let (code, out, err) = normal(&["--invariant", "slot-leak", "--max-worlds", "20000"]);
        assert_eq!((code, err), (6, String::new()), "{out}");
        assert!(out.contains("stopped at ") && out.contains("Every schedule of up to "), "{out}");
    }

    #[test]
    fn the_number_of_jobs_changes_no_byte() {
        let one = normal(&["--jobs", "1"]);
        assert_eq!(normal(&["--jobs", "3"]), one);
        let json = normal(&["--jobs", "1", "--json"]);
        assert_eq!(normal(&["--jobs", "2", "--json"]), json);
    }

    #[test]
    fn what_it_prints_to_type_shows_the_violation() {
        let (_, out, _) = normal(&["--invariant", "orphan-watcher"]);
        let line = out.lines().find_map(|it| it.trim().strip_prefix("vgdp-sim replay ")).expect("a command to type");
        let replayed = Command::new(env!("CARGO_BIN_EXE_vgdp-sim")).args(["replay", line]).output().unwrap();
        assert_eq!(replayed.status.code(), Some(1));
        assert!(String::from_utf8(replayed.stdout).unwrap().contains("Broken: orphan-watcher"));
    }

    #[test]
    fn all_that_is_printed_stays_within_its_width() {
        for width in [80, 120] {
            let (_, out, _) = normal(&["--width", &width.to_string()]);
            for line in out.lines().filter(|it| !it.contains("vgdp-sim replay")) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            assert!(INVARIANTS.iter().all(|it| out.contains(it.id)), "{out}");
        }
    }

    #[test]
    fn bad_input_gets_one_paragraph_that_ends_with_what_to_type() {
        let no_node = ["--scenario", "forced-cancel-by-other-node", "--nodes", "1"];
        let cases: [(&[&str], &str); 5] = [
            (&no_node, "give --nodes 2 or more"),
            (&["--scenario", "cancel", "--nodes", "7"], "not in 1..=3"),
            (&["--scenario", "cancel", "--max-worlds", "0"], "not in 1..="),
            (&["--scenario", "cancle"], "did you mean `cancel`"),
            (&[], "--scenario"),
        ];
        for (args, says) in cases {
            let (code, out, err) = proves(args);
            assert_eq!((code, out.as_str(), err.trim_end().lines().count()), (2, "", 1), "{err}");
            assert!(err.starts_with("error: ") && err.contains(says), "{err}");
        }
    }

    #[cfg(target_os = "linux")] // elsewhere it does not ask how much memory is free
    #[test]
    fn a_bound_beyond_the_memory_is_refused_with_the_bytes_of_a_world() {
        let (code, _, err) = proves(&["--scenario", "cancel", "--max-worlds", "4000000000"]);
        if code == 2 {
            assert!(err.contains("bytes each") && err.contains("give --max-worlds "), "{err}");
        } else {
            panic!("there are hundreds of gigabytes, or nobody asked: {err}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn after_ctrl_c_it_says_what_was_covered() {
        let mut command = command(&["--scenario", "anything", "--jobs", "1", "--max-worlds", "4000000"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(2));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let it = child.wait_with_output().unwrap();
        let out = String::from_utf8(it.stdout).unwrap();
        assert_eq!(it.status.code(), Some(130), "{out}");
        assert!(out.contains("interrupted. Every schedule of up to "), "{out}");
    }
}
