//! Which findings need which assumption about latency.
//!
//! Velero's and Kubernetes' own constants are what they are; what is merely assumed is halved and doubled here, one after
//! the other. A finding at price 0 that survives all of that does not hang on a guess.

use std::collections::BTreeSet;

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::time::{Obligation, Span, Times};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::sweep;

/// The invariants that two deviations break at price 0.
fn broken_for_free(scenario: &Scenario) -> BTreeSet<&'static str> {
    let sweep = sweep(scenario, &Upstream, 2, 5_000_000);
    assert!(!sweep.partial);
    sweep.broken.iter().filter(|it| it.price == 0).map(|it| INVARIANTS[it.invariant].id).collect()
}

fn scaled(span: Span, by: impl Fn(u16) -> u16) -> Span {
    Span { earliest: by(span.earliest), latest: span.latest.map(by) }
}

#[test]
fn findings_at_price_0_need_no_assumption_about_latency() {
    for name in ["normal", "cancel", "download-cancel"] {
        let scenario = Scenario::named(name).unwrap();
        let found = broken_for_free(&scenario);
        assert!(name == "normal" || found.contains("slot-leak"));
        for &it in Obligation::ALL.iter().filter(|it| it.is_assumed()) {
            let span = it.span();
            for (how, span) in [("halved", scaled(span, |it| it / 2)), ("doubled", scaled(span, |it| it * 2))] {
                let times = Times::default().with(it, span);
                let still = broken_for_free(&Scenario { times, ..scenario.clone() });
                let lost: Vec<_> = found.difference(&still).collect();
                assert!(lost.is_empty(), "{name}: {lost:?} needs {it:?} not to be {how}");
            }
        }
    }
}

/// The other direction: some findings do need a constant of Velero, and that shows.
#[test]
fn a_pod_is_orphaned_only_if_an_expose_may_outlast_the_prepare_timeout() {
    let scenario = Scenario::named("normal").unwrap();
    assert!(broken_for_free(&scenario).contains("orphan-pod"));
    let times = Times::default().with(Obligation::Expose, Span { earliest: 1, latest: Some(20 * 60) });
    assert!(!broken_for_free(&Scenario { times, ..scenario }).contains("orphan-pod"));
}
