//! Fine ticks: what they add, what that costs, and what they find that boundaries alone do not.

use std::collections::BTreeMap;

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::api_server::{DataUpload, Phase};
use vgdp_sim::model::design::Design;
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::rules::{Enabled, Rule};
use vgdp_sim::model::time::{Obligation as O, Span, Ticks, Times};
use vgdp_sim::report::{Replayed, Schedule, Then, Token, Told};
use vgdp_sim::run::{observe, run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Departure, Deviation, Fired, Normal, Placed, Scheduler, Track};
use vgdp_sim::search::{Bounds, Broken, Proof, Sweep, hunt, prove, record, sweep};

fn fine(scenario: &Scenario) -> Scenario {
    Scenario { ticks: Ticks::Fine, ..scenario.clone() }
}

/// One node and one upload, in a small form.
fn small(name: &str, times: &[(O, u16)]) -> Scenario {
    let exact = |times: Times, &(it, after)| times.with(it, Span { earliest: after, latest: Some(after) });
    Scenario {
        merges_enqueue: true,
        reports_progress: false,
        times: times.iter().fold(Times::default(), exact),
        ..Scenario::named(name).expect("it is built in").scope(1, 1)
    }
}

/// The same, and what starts, starts at once.
fn at_once(name: &str) -> Scenario {
    small(name, &[(O::ContainerStart, 1), (O::MoverBoot, 0), (O::StatusPatch, 0), (O::RepositoryOpen, 1)])
}

fn invariant(id: &str) -> usize {
    INVARIANTS.iter().position(|it| it.id == id).expect(id)
}

fn proved(scenario: &Scenario, design: &dyn Design) -> Proof {
    let proof = prove(scenario, design, Bounds { most_worlds: 2_000_000, ..Bounds::default() });
    assert!(proof.partial.is_none());
    proof
}

/// At which price each invariant can be broken.
fn prices(proof: &Proof) -> BTreeMap<&'static str, u8> {
    proof.broken.iter().map(|it| (INVARIANTS[it.invariant].id, it.price)).collect()
}

/// The same within the deviations of a sweep, and with how many.
fn costs(swept: &Sweep) -> BTreeMap<&'static str, (u8, usize)> {
    let cost = |it: &Broken| (INVARIANTS[it.invariant].id, (it.price, it.deviations.len()));
    swept.broken.iter().map(cost).collect()
}

/// The normal schedule never stops short, and all that is enabled besides is one more move of the clock.
#[test]
fn the_normal_run_is_the_same() {
    for scenario in Scenario::built_in() {
        let once = record(&scenario, &Upstream, &mut Normal);
        assert_eq!(record(&fine(&scenario), &Upstream, &mut Normal), once, "{}", scenario.name);
    }
}

/// Stopping short comes before any boundary, and to go on from there, as often as that may be, is to have gone at once.
#[test]
fn to_stop_short_is_to_stop_on_the_way() {
    let scenario = fine(&Scenario::named("anything").unwrap());
    let setup = scenario.setup(&Upstream);
    let mut enabled = Enabled::default();
    let mut stops = 0;
    for index in 0..200 {
        observe(&scenario, &Upstream, &mut Placed::new(3, index), &mut |it| {
            let mut world = *it.is;
            world.enabled(&setup, &mut enabled);
            let of = |rule| enabled.iter().copied().find(|it| it.rule() == rule);
            let (Some(passes), Some(stops_short)) = (of(Rule::ClockPasses), of(Rule::ClockStopsShort)) else { return };
            stops += 1;
            let (all, first) = (world.seconds_of(&setup, passes), world.seconds_of(&setup, stops_short));
            assert!(0 < first && first < all);
            let (mut at_once, mut twice) = (world, world);
            assert!(at_once.fire(&setup, passes));
            assert!(twice.fire(&setup, stops_short));
            while let Some(more) = twice.fine_instant(&setup) {
                assert!(more < twice.next_boundary(&setup).unwrap());
                assert!(twice.fire(&setup, stops_short));
            }
            assert_eq!(twice.fine_instant(&setup), None);
            assert!(twice.fire(&setup, passes));
            assert_eq!(twice, at_once);
        });
    }
    assert!(stops > 500, "{stops}");
}

/// In the scopes that can be searched to the end, and for upstream, nothing more can be broken than boundaries show, and
/// nothing less.
#[test]
fn a_proof_finds_the_same_in_more_worlds() {
    const RUNNING: &[(D, &[Phase])] = &[(D::Cancel, &[Phase::InProgress])];
    let cancelled = Scenario { only_while: RUNNING, ..at_once("cancel") };
    let mut worlds = Vec::new();
    for scenario in [at_once("normal"), cancelled] {
        let (coarse, fine) = (proved(&scenario, &Upstream), proved(&fine(&scenario), &Upstream));
        assert_eq!(prices(&coarse), prices(&fine), "{}", scenario.name);
        worlds.push((coarse.complete[0].worlds, fine.complete[0].worlds));
    }
    println!("{worlds:?}");
    assert_eq!(worlds, [(78_952, 85_321), (201_219, 213_953)]);
}

/// So do sweeps of the whole scenarios, with as few deviations.
#[test]
fn a_sweep_finds_the_same_in_more_worlds() {
    for name in ["normal", "cancel", "pod-deleted", "download-cancel"] {
        let scenario = Scenario::named(name).unwrap();
        let [coarse, fine] = [scenario.clone(), fine(&scenario)].map(|it| sweep(&it, &Upstream, 2, 3_000_000));
        assert!(!coarse.is_partial() && !fine.is_partial());
        assert_eq!(costs(&coarse), costs(&fine), "{name}");
        println!("{name}: {} worlds, {} fine", coarse.worlds, fine.worlds);
        assert!(coarse.worlds < fine.worlds);
    }
}

/// Whoever marks an upload Prepared does not look whether it is over.
struct MarksWhatIsOver;

impl Design for MarksWhatIsOver {
    fn name(&self) -> &'static str {
        "marks-what-is-over"
    }

    fn may_prepare(&self, _: &DataUpload) -> bool {
        true
    }
}

/// A fault of alignment: a container starts within a second, and the kubelet reports that exactly a minute later. For
/// the pod to be seen running at the very instant at which its preparation times out, exactly half an hour after it was
/// accepted, the pod must be created a minute and a second before that.
fn aligned() -> Scenario {
    small("normal", &[(O::ContainerStart, 1), (O::MoverBoot, 0), (O::StatusPatch, 60), (O::RepositoryOpen, 1)])
}

#[test]
fn a_fault_of_alignment_is_proved_absent_at_boundaries_and_found_at_fine_instants() {
    let id = "final-changes";
    let coarse = proved(&aligned(), &MarksWhatIsOver);
    assert!(coarse.cheapest(invariant(id)).is_none(), "{coarse}");
    let proof = proved(&fine(&aligned()), &MarksWhatIsOver);
    let found = proof.cheapest(invariant(id)).expect(id);
    assert_eq!(found.price, 0);
    assert!(found.schedule.iter().any(|it| it.rule() == Rule::ClockStopsShort));
    println!("{} worlds, {} fine", coarse.complete[0].worlds, proof.complete[0].worlds);
    assert!(coarse.to_string().contains("time moving to window boundaries."), "{coarse}");
    assert!(proof.to_string().contains("window boundaries and to 2 s and 60 s before them."), "{proof}");
}

/// A sweep and a hunt find it as well; the sweep tells it by one deviation of the clock.
#[test]
fn a_fault_of_alignment_is_swept_and_hunted() {
    let invariant = invariant("final-changes");
    let swept = |scenario: &Scenario, within| {
        let swept = sweep(scenario, &MarksWhatIsOver, within, 1_000_000);
        assert!(!swept.is_partial());
        swept.broken.into_iter().find(|it| it.invariant == invariant)
    };
    assert_eq!(swept(&aligned(), 4), None);
    let found = swept(&fine(&aligned()), 2).expect("two deviations are enough");
    let stops = |it: &Departure| matches!(it, Departure::First(it) if it.rule() == Rule::ClockStopsShort);
    assert!(found.deviations.iter().any(|it| stops(&it.departure)), "{:#?}", found.deviations);

    assert_eq!(hunt(&aligned(), &MarksWhatIsOver, 1, 20_000).broken[invariant], 0);
    let campaign = hunt(&fine(&aligned()), &MarksWhatIsOver, 1, 20_000);
    assert!(campaign.broken[invariant] > 0);
    println!("in {} of 20000 runs", campaign.broken[invariant]);
}

/// A schedule says under which ticks it was made, as a file and as a token, and replays.
#[test]
fn files_and_tokens_carry_their_ticks() {
    let built_in = Scenario::named("cancel").unwrap();
    let scenario = fine(&built_in);
    let (report, actions) = (0..1_000)
        .map(|index| record(&scenario, &Upstream, &mut Placed::new(4, index)))
        .find(|it| it.1.iter().any(|it| it.rule() == Rule::ClockStopsShort))
        .expect("chance stops short now and then");
    let schedule = Schedule::new(scenario.clone(), &Upstream, None, Then::Stop, actions.clone());
    let text = schedule.to_string();
    assert!(text.contains("\nticks: fine\n"));
    let read: Schedule = text.parse().unwrap();
    assert_eq!(run(&read.scenario, &Upstream, &mut Replayed::new(&read)), report);
    let plain = Schedule::new(built_in.clone(), &Upstream, None, Then::Stop, actions).to_string();
    assert!(!plain.contains("ticks"));

    let deviations = [first_stop(&scenario)];
    let token = Token::new(&scenario, &Upstream, &deviations);
    let again = Token::read(&token.to_string()).unwrap();
    assert_eq!(again, token);
    assert_eq!(again.scenario.ticks, Ticks::Fine);
    assert!(!again.is_of_other_rules());
    assert_eq!(Told::tell(&again.scenario, &Upstream, &again.deviations).missed(), None);

    let coarse = Token::new(&built_in, &Upstream, &deviations);
    assert_ne!(coarse.to_string(), token.to_string());
    assert_eq!(Token::read(&coarse.to_string()).unwrap().scenario, built_in);
}

/// Looks for the first place at which the normal course could stop short.
#[derive(Default)]
struct Stops {
    track: Track,
    first: Option<Deviation>,
}

impl Scheduler for Stops {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.track.passes(last);
        let (next, point) = self.track.comes_to(enabled);
        if let Some(&stops) = enabled.iter().find(|it| it.rule() == Rule::ClockStopsShort) {
            self.first.get_or_insert(Deviation { point, departure: Departure::First(stops) });
        }
        next
    }
}

fn first_stop(scenario: &Scenario) -> Deviation {
    let mut stops = Stops::default();
    run(scenario, &Upstream, &mut stops);
    stops.first.expect("a normal run waits for something")
}

/// On the command line `--ticks fine` is an option, and what it makes says so.
#[cfg(feature = "cli")]
#[test]
fn the_command_line_has_an_option_for_ticks() {
    let ran = |args: &[&str]| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_vgdp-sim")).args(args).output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("it prints text");
        (out.status.code(), text(out.stdout), text(out.stderr))
    };
    let (_, saved, _) = ran(&["run", "--scenario", "cancel", "--policy", "normal", "--ticks", "fine", "--save", "-"]);
    assert!(saved.contains("ticks: fine"), "{saved}");
    let compare = [
        "compare",
        "--width",
        "200",
        "--scenario",
        "normal",
        "--design",
        "upstream",
        "--deviations",
        "1",
        "--runs",
        "0",
    ];
    let (code, coarse, _) = ran(&compare);
    let (same, fine, _) = ran(&[&compare[..], &["--ticks", "fine"]].concat());
    assert_eq!((code, same), (Some(0), Some(0)));
    assert!(fine.contains("60 s before them") && !coarse.contains("before them"), "{fine}");
    let json = [&compare[..], &["--json"]].concat();
    assert!(!ran(&json).1.contains("\"ticks\""));
    assert!(ran(&[&json[..], &["--ticks", "fine"]].concat()).1.contains("\"ticks\": \"fine\""));
    let (code, _, error) = ran(&["run", "--scenario", "cancel", "--ticks", "fin"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("write `--ticks fine`"), "{error}");
}
