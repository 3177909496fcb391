//! Which findings need which assumption about latency.
//!
//! Velero's and Kubernetes' own constants are what they are; what is merely assumed is halved and doubled here, one after
//! the other. A finding at price 0 that survives all of that does not hang on a guess.

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::time::{Obligation, Span, Times};
use vgdp_sim::report::{Token, sensitivity as report};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Broken, Change, Fate, Sensitivity, sensitivity, sweep};

/// What two deviations break at price 0.
fn broken_for_free(scenario: &Scenario) -> Vec<Broken> {
    let sweep = sweep(scenario, &Upstream, 2, 5_000_000);
    assert!(!sweep.is_partial());
    sweep.broken.into_iter().filter(|it| it.price == 0).collect()
}

fn breaks(found: &[Broken], id: &str) -> bool {
    found.iter().any(|it| INVARIANTS[it.invariant].id == id)
}

#[test]
fn findings_at_price_0_need_no_assumption_about_latency() {
    for name in ["normal", "cancel", "download-cancel"] {
        let scenario = Scenario::named(name).unwrap();
        let found = broken_for_free(&scenario);
        assert!(name == "normal" || breaks(&found, "slot-leak"));
        for it in &found {
            let it = sensitivity(&scenario, &Upstream, it.invariant, &it.deviations, 5_000_000).expect("it replays");
            assert!(it.is_robust(), "{name}: {}", report::line(&it));
            assert!(it.trials.len() > 10);
        }
    }
}

/// The other direction: some findings do need a constant of Velero, and that shows.
#[test]
fn a_pod_is_orphaned_only_if_an_expose_may_outlast_the_prepare_timeout() {
    let scenario = Scenario::named("normal").unwrap();
    assert!(breaks(&broken_for_free(&scenario), "orphan-pod"));
    let times = Times::default().with(Obligation::Expose, Span { earliest: 1, latest: Some(20 * 60) });
    assert!(!breaks(&broken_for_free(&Scenario { times, ..scenario }), "orphan-pod"));
}

/// A watcher should end within 200 s after its pod has ended. With a kubelet that may take 400 s to say so it does not, and
/// with one that takes half as long it does.
fn planted() -> (Scenario, Broken) {
    let times = Times::default().with(Obligation::StatusPatch, Span { earliest: 0, latest: Some(400) });
    let scenario = Scenario { times, ..Scenario::named("normal").unwrap().scope(1, 1) };
    let found = sweep(&scenario, &Upstream, 2, 1_000_000).broken;
    let found = found.into_iter().find(|it| INVARIANTS[it.invariant].id == "watcher-outlives-pod");
    (scenario, found.expect("it is planted"))
}

fn asked(scenario: &Scenario, it: &Broken, most_worlds: usize) -> Sensitivity {
    sensitivity(scenario, &Upstream, it.invariant, &it.deviations, most_worlds).expect("it replays")
}

#[test]
fn a_finding_that_needs_one_assumption_names_it() {
    let (scenario, found) = planted();
    let it = asked(&scenario, &found, 1_000_000);
    let needs: Vec<_> = it.needs().map(|it| (it.assumption, it.change)).collect();
    assert_eq!(needs, [(Obligation::StatusPatch, Change::Halved)]);
    assert!(!it.is_robust() && it.open().next().is_none());
    let line = report::line(&it);
    assert!(
        line.starts_with("watcher-outlives-pod, price 0, ") && line.ends_with(": needs StatusPatch not to be halved."),
        "{line}"
    );
    let details = report::details(&scenario, &it, 200);
    assert!(details.contains("StatusPatch halved, 0 s to 200 s instead of 0 s to 400 s: gone"), "{details}");
}

/// What a bounded sweep did not find may be there: it is neither survived nor needed.
#[test]
fn a_bound_on_worlds_leaves_a_change_open() {
    let (scenario, found) = planted();
    let it = asked(&scenario, &found, 50);
    let open: Vec<_> = it.open().map(|it| (it.assumption, it.change)).collect();
    assert!(open.contains(&(Obligation::StatusPatch, Change::Halved)), "{open:?}");
    assert!(!it.survives_all() && it.needs().next().is_none());
    assert!(report::verdict(&it).starts_with("may need "), "{}", report::verdict(&it));
}

/// A schedule that breaks nothing is sensitive to nothing.
#[test]
fn what_is_not_broken_is_not_asked() {
    let (scenario, found) = planted();
    assert_eq!(sensitivity(&scenario, &Upstream, found.invariant, &[], 10), None);
}

/// Only what is assumed is changed, and never to what it was.
#[test]
fn constants_of_velero_are_left_alone() {
    let (scenario, found) = planted();
    for it in asked(&scenario, &found, 1_000_000).trials {
        assert!(it.assumption.is_assumed());
        let was = scenario.times.span(it.assumption);
        assert_ne!(it.change.of(was), was, "{:?}", it.assumption);
        assert!(it.fate != Fate::Gone || it.assumption == Obligation::StatusPatch);
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_command_line_asks_for_a_token() {
    let scenario = Scenario::named("cancel").unwrap();
    let found = sweep(&scenario, &Upstream, 1, 1_000_000).broken;
    let crash = found.iter().find(|it| INVARIANTS[it.invariant].id == "crash").expect("a known race");
    let token = Token::new(&scenario, &Upstream, &crash.deviations).to_string();
    let ran = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vgdp-sim"));
        let out = command.arg("sensitivity").args(args).output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("it prints text");
        (out.status.code(), text(out.stdout), text(out.stderr))
    };
    let (code, out, _) = ran(&[&token]);
    assert_eq!(code, Some(0));
    assert!(out.contains("crash, price 0, 1 deviation: robust."), "{out}");
    let (code, _, error) = ran(&[&token, "--invariant", "stuck"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("leave out --invariant"), "{error}");
}
