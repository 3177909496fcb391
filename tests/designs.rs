//! Designs: the built-in ones are fit to be judged, and stacks tell where their members contradict each other.

use vgdp_sim::designs::{
    BUILT_IN, CloseOnTerminal, LevelTriggeredCancel, MoverWatchesCrDelete, Stack, Upstream, named,
};
use vgdp_sim::model::design::{Design, Heard};
use vgdp_sim::model::node_agent::routine::{Op, Plan};
use vgdp_sim::model::node_agent::worker::Own;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Placed;
use vgdp_sim::search::{NonConformance, conforms, record};

#[test]
fn the_built_in_designs_conform() {
    for &it in BUILT_IN {
        assert_eq!(conforms(it), Ok(()), "{}", it.name());
        assert!(!it.sentence().is_empty(), "{}", it.name());
        assert_eq!(named(it.name()).unwrap().name(), it.name());
    }
}

/// What is upstream in all but name runs as upstream does.
#[test]
fn a_design_without_a_difference_is_upstream() {
    let scenario = Scenario::named("anything").unwrap();
    for index in 0..200 {
        let upstream = record(&scenario, &Upstream, &mut Placed::new(4, index));
        let alias = record(&scenario, named("no-reaction").unwrap(), &mut Placed::new(4, index));
        assert_eq!(upstream, alias);
    }
}

struct Shouts;

impl Design for Shouts {
    fn name(&self) -> &'static str {
        "Shouts!"
    }
}

struct Forgets(std::sync::atomic::AtomicU32);

impl Design for Forgets {
    fn name(&self) -> &'static str {
        "forgets"
    }

    fn may_force(&self, _own: &Own) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed).is_multiple_of(3)
    }
}

struct Overreaches;

impl Design for Overreaches {
    fn name(&self) -> &'static str {
        "overreaches"
    }

    fn on_in_progress_cancel(&self, _own: &Own) -> Plan {
        Plan::of(&[Op::MarkPrepared])
    }
}

struct NeverDrops;

impl Design for NeverDrops {
    fn name(&self) -> &'static str {
        "never-finishes"
    }

    fn may_start(&self, _fresh: &vgdp_sim::model::api_server::DataUpload) -> bool {
        false
    }
}

#[test]
fn a_design_that_cannot_be_judged_is_told_why() {
    assert!(matches!(conforms(&Shouts), Err(NonConformance::Name { .. })));
    assert!(matches!(conforms(&Forgets(0.into())), Err(NonConformance::Impure { .. })));
    assert!(matches!(conforms(&Overreaches), Err(NonConformance::Stuck { op: Op::MarkPrepared, .. })));
    let error = conforms(&NeverDrops).unwrap_err();
    assert!(error.to_string().contains("never-finishes"), "{error}");
}

struct DeafMover;

impl Design for DeafMover {
    fn name(&self) -> &'static str {
        "deaf-mover"
    }

    fn mover_hears(&self, _heard: &Heard) -> bool {
        false
    }
}

#[test]
fn a_stack_does_what_its_members_do() {
    let scenario = Scenario::named("cancel").unwrap();
    let members: [&dyn Design; 2] = [&CloseOnTerminal, &LevelTriggeredCancel];
    let both = Stack::new("both", &members);
    let alone = Stack::new("alone", &members[..1]);
    assert_eq!(conforms(&both), Ok(()));
    for index in 0..200 {
        let stacked = record(&scenario, &alone, &mut Placed::new(4, index));
        assert_eq!(stacked, record(&scenario, &CloseOnTerminal, &mut Placed::new(4, index)));
    }
    assert_eq!(both.conflicts(), []);
}

struct ShortGrace;

impl Design for ShortGrace {
    fn name(&self) -> &'static str {
        "short-grace"
    }

    fn pod_grace(&self) -> u16 {
        5
    }
}

#[test]
fn a_contradictory_stack_names_the_decision_the_designs_and_the_situation() {
    let scenario = Scenario::named("cr-deleted").unwrap();
    let members: [&dyn Design; 2] = [&MoverWatchesCrDelete, &DeafMover];
    let both = Stack::new("both", &members);
    for index in 0..2_000 {
        vgdp_sim::run::run(&scenario, &both, &mut Placed::new(4, index));
    }
    // A mover that hears of nothing differs from upstream where there is an edge, one that hears of removals where
    // the upload is gone: they never answer the same question with two differences.
    assert_eq!(both.conflicts(), []);

    let members: [&dyn Design; 2] = [&ShortGrace, &vgdp_sim::designs::PositiveGrace];
    let contradictory = Stack::new("contradictory", &members);
    for index in 0..200 {
        vgdp_sim::run::run(&scenario, &contradictory, &mut Placed::new(4, index));
    }
    let conflicts = contradictory.conflicts();
    assert_eq!(conflicts.len(), 1);
    let text = conflicts[0].to_string();
    assert!(text.contains("pod_grace") && text.contains("short-grace") && text.contains("positive-grace"), "{text}");
}
