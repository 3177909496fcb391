//! The hot loop allocates nothing.

use vgdp_sim::designs::Upstream;
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Normal, POLICIES, Scheduler};

/// A run of a scenario, whoever chooses, makes no allocation at all: not one a step, and not one at its start.
#[test]
fn a_run_allocates_nothing() {
    let scenario = Scenario::named("anything").unwrap();
    for policy in POLICIES.iter().map(Some).chain([None]) {
        for index in 0..20 {
            let mut scheduler: Box<dyn Scheduler> = policy.map_or(Box::new(Normal), |it| it.start(1, index));
            let mut steps = 0;
            let counted = allocation_counter::measure(|| steps = run(&scenario, &Upstream, &mut *scheduler).steps);
            assert_eq!(counted.count_total, 0, "in {steps} steps of run {index}");
            assert!(steps > 0);
        }
    }
}

/// The measure itself counts.
#[test]
fn the_measure_counts_an_allocation() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1))));
    assert_eq!(counted.count_total, 1);
}
