use crate::model::api_server::{DataUpload, Phase, PodPhase};
use crate::model::data_mover::End;
use crate::model::design::{Design, Ended as PodEnded, Heard, PodHeard};
use crate::model::kind::Kind;
use crate::model::node_agent::routine::{Attempt, Op};
use crate::model::node_agent::worker::Own;
use crate::model::place::{Host, NodeId};
use crate::model::time::Age;
use crate::run::{Ended, Report, observe, run};
use crate::scenario::Scenario;
use crate::scheduler::{Normal, Placed, Scheduler};

/// Why a design is not fit to be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NonConformance {
    /// Its name cannot be used on a command line.
    #[error("the name `{name}` is no good: use lower-case words joined by `-`, such as `close-on-terminal`")]
    Name {
        /// The name.
        name: String,
    },
    /// The same question got two answers.
    #[error(
        "`{design}` answers the same question differently when it is asked again: its methods may depend on their \
         arguments alone, not on time, chance or anything that they remember"
    )]
    Impure {
        /// The design.
        design: String,
    },
    /// It plans an operation that this actor does not have.
    #[error(
        "`{design}` plans `{op:?}`, which that goroutine cannot do (scenario {scenario}, run {run}): answer with operations \
         that upstream's answer to the same decision could have, or with `CloseDataPath`"
    )]
    Stuck {
        /// The design.
        design: String,
        /// The operation.
        op: Op,
        /// Where.
        scenario: &'static str,
        /// In which run of seed 1.
        run: u64,
    },
    /// A run came to no rest.
    #[error("with `{design}` scenario {scenario} comes to no rest (run {run}): something repeats without end")]
    Restless {
        /// The design.
        design: String,
        /// Where.
        scenario: &'static str,
        /// In which run of seed 1.
        run: u64,
    },
    /// The normal run breaks an invariant: there is nothing to compare.
    #[error("with `{design}` the normal run of scenario {scenario} already breaks {invariant}: start from upstream")]
    NormalRun {
        /// The design.
        design: String,
        /// Where.
        scenario: &'static str,
        /// Which invariant.
        invariant: &'static str,
    },
}

/// Whether a design can be judged at all: it is pure, plans what its actors can do, and its normal runs are sound.
///
/// This is the one line for the tests of somebody else's fix.
///
/// ```
/// use vgdp_sim::designs::CloseOnTerminal;
/// use vgdp_sim::search::conforms;
///
/// conforms(&CloseOnTerminal)?;
/// # Ok::<(), vgdp_sim::search::NonConformance>(())
/// ```
///
/// # Errors
///
/// What is wrong with it, and what to do about that.
pub fn conforms(design: &dyn Design) -> Result<(), NonConformance> {
    const RUNS: u64 = 150;
    let name = design.name();
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    if !name.split('-').all(is_word) {
        return Err(NonConformance::Name { name: name.to_owned() });
    }
    let design_name = || name.to_owned();
    let answers = answers(design);
    if (0..3).any(|_| self::answers(design) != answers) {
        return Err(NonConformance::Impure { design: design_name() });
    }
    for scenario in Scenario::built_in() {
        let normal = run(&scenario, design, &mut Normal);
        if let Some((index, _)) = normal.violations().next() {
            let invariant = crate::invariants::INVARIANTS[index].id;
            return Err(NonConformance::NormalRun { design: design_name(), scenario: scenario.name, invariant });
        }
        for index in 0..RUNS {
            let (report, stuck) = watched(&scenario, design, &mut Placed::new(1, index));
            if let Some(op) = stuck {
                return Err(NonConformance::Stuck { design: design_name(), op, scenario: scenario.name, run: index });
            }
            if report.ended == Ended::Undecided {
                return Err(NonConformance::Restless { design: design_name(), scenario: scenario.name, run: index });
            }
            if run(&scenario, design, &mut Placed::new(1, index)) != report {
                return Err(NonConformance::Impure { design: design_name() });
            }
        }
    }
    Ok(())
}

/// What it answers to a good many questions, in words.
fn answers(design: &dyn Design) -> Vec<String> {
    let mut out = vec![format!(
        "{:?}",
        (
            (design.rechecks_before_pod(), design.result_signal(), design.pod_grace(), design.reserves_slot_first()),
            (design.epilog_wait(60), design.mover_cancels_early(), design.mover_polls(None)),
        )
    )];
    for (phase, flags) in Phase::ALL.into_iter().flat_map(|phase| (0..32_u8).map(move |flags| (phase, flags))) {
        let is = |bit: u8| flags & (1 << bit) != 0;
        let node = if is(3) { Host::at(NodeId(0)) } else { Host::at(NodeId(1)) };
        let cr = DataUpload { exists: true, phase, cancel: is(0), deleting: is(1), finalizer: is(2), node };
        let own = Own { node: NodeId(0), cr, tracked: is(4), cancelled: Age::NEW, force_after: 300 };
        let old = DataUpload { cancel: !cr.cancel, ..cr };
        let heard = [Heard::Add(cr), Heard::Update(old, cr), Heard::Update(cr, cr), Heard::Delete(cr)];
        out.push(format!(
            "{:?}",
            (
                (design.on_not_found(&own), design.on_deleting(&own), design.on_final(&own), design.may_force(&own)),
                (design.on_forced(&own), design.on_prepared_cancel(&own), design.on_untracked_cancel(&own)),
                (design.on_in_progress_cancel(&own), design.on_canceling(&own)),
                (design.may_start(&cr), design.may_prepare(&cr), design.enqueues_periodically(&cr)),
                (design.may_accept(&cr), design.on_missing_pod_at_peek(&own), design.on_untracked(&own)),
                design.mover_polls(Some(&cr)),
                heard.map(|it| design.mover_hears(&it)),
            )
        ));
    }
    let pods = [PodPhase::Pending, PodPhase::Unpullable, PodPhase::Running, PodPhase::Succeeded, PodPhase::Failed];
    for (phase, end, deleted) in pods.into_iter().flat_map(|phase| {
        let ends = [End::Completed, End::Canceled, End::Failed, End::Crashed, End::Killed, End::Evicted];
        ends.into_iter().flat_map(move |end| [false, true].map(move |deleted| (phase, end, deleted)))
    }) {
        let ended = PodEnded { phase, end, deleted };
        let heard = [PodHeard::Update(phase), PodHeard::Delete].map(|it| design.watcher_hears(it));
        let finish = design.watcher_outcome(&ended);
        out.push(format!(
            "{:?}",
            (finish, heard, design.finishes(Kind::DataUpload, finish), design.on_pod_event(phase))
        ));
    }
    out
}

/// Makes a run and looks whether a goroutine is left with an operation that it cannot do.
fn watched(scenario: &Scenario, design: &dyn Design, scheduler: &mut dyn Scheduler) -> (Report, Option<Op>) {
    let mut last = None;
    let report = observe(scenario, design, scheduler, &mut |it| last = Some(*it.is));
    let Some(world) = last.filter(|_| report.ended == Ended::AtRest) else { return (report, None) };
    let workers = world.node_ids().map(|n| world.nodes[n].worker);
    let callbacks = world.task_ids().map(|t| world.tasks[t].watcher.routine);
    let waits = |op| matches!(op, Op::SendPod | Op::CloseDataPath); // for somebody else
    let stuck = workers
        .chain(callbacks)
        .find(|it| it.is_busy() && matches!(it.attempt, Attempt::Begin | Attempt::Got) && !waits(it.plan.first()));
    (report, stuck.map(|it| it.plan.first()))
}
