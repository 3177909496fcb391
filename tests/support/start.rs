//! Where a plain search begins.

use vgdp_sim::model::design::Design;
use vgdp_sim::model::rules::Setup;
use vgdp_sim::model::world::World;
use vgdp_sim::scenario::Scenario;

/// The world in which everybody may choose: that after the scenario's prefix.
pub fn start<'a>(scenario: &Scenario, design: &'a dyn Design) -> (Setup<'a>, World) {
    let setup = scenario.setup(design);
    let mut start = scenario.empty_cluster().expect("a small scope");
    for action in scenario.prefix() {
        assert!(start.fire(&setup, action), "{action} is not enabled here");
    }
    (setup, start)
}
