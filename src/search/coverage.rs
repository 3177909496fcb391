use std::collections::BTreeMap;
use std::fmt;

use crate::invariants::{COUNT, INVARIANTS, Kind};
use crate::model::api_server::{Phase, PodPhase};
use crate::model::faults::Disturbance;
use crate::model::place::{TASKS, TaskId};
use crate::model::rules::{Rule, Setup};
use crate::model::world::World;
use crate::run::Moment;
use crate::scenario::Scenario;

/// What an outsider sees of a task: the phase of its upload and of its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The phase of the upload; `None` where there is none.
    pub upload: Option<Phase>,
    /// The phase of its pod.
    pub pod: PodPhase,
}

/// From one to the next thing that an outsider sees of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Before.
    pub was: Seen,
    /// After.
    pub is: Seen,
}

/// What a campaign came to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How often each rule fired, in the order of [`Rule::ALL`].
    pub fired: Vec<u64>,
    /// The edges that were seen, each with the number of runs that saw it, in a fixed order.
    pub edges: Vec<(Edge, u64)>,
    /// For each invariant that is a question about worlds, whether the harm was there for a moment at least, in one of
    /// the runs that were asked: without that its silence says nothing. True for those about steps, which each step
    /// puts to the test.
    pub tested: [bool; COUNT],
    /// How many runs were asked that, the first ones: it takes time.
    pub asked: u64,
}

impl Coverage {
    /// Rules that never fired.
    pub fn never_fired(&self) -> impl Iterator<Item = Rule> + '_ {
        Rule::ALL.iter().copied().filter(|it| self.fired[*it as usize] == 0)
    }

    /// Disturbances that the scenario allows and that never struck.
    pub fn never_struck(&self, scenario: &Scenario) -> impl Iterator<Item = Disturbance> + '_ {
        let struck = |what| Rule::ALL.iter().any(|it| disturbance(*it) == Some(what) && self.fired[*it as usize] > 0);
        let allowed = scenario.allows.iter().filter(|it| it.1 > 0).map(|it| it.0);
        allowed.filter(move |it| !struck(*it))
    }

    /// How many edges exactly one run saw.
    pub fn seen_once(&self) -> u64 {
        self.edges.iter().filter(|it| it.1 == 1).count() as u64
    }
}

/// What an operator or a fault does with this rule.
pub fn disturbance(rule: Rule) -> Option<Disturbance> {
    use Disturbance as D;
    Some(match rule {
        Rule::UserCancels => D::Cancel,
        Rule::UserDeletes => D::Delete,
        Rule::UserDeletesFinished => D::DeleteFinished,
        Rule::UserDeletesPod => D::DeletePod,
        Rule::UserStripsFinalizer => D::StripFinalizer,
        Rule::NodeFaultBreaksCrWatch => D::BreakCrWatch,
        Rule::NodeFaultBreaksPodWatch => D::BreakPodWatch,
        Rule::NodeFaultFailsExpose => D::ExposeFails,
        Rule::NodeFaultStallsAgent
        | Rule::NodeFaultStallsCrWatch
        | Rule::NodeFaultStallsPodWatch
        | Rule::PodFaultStallsKubelet
        | Rule::PodFaultStallsMover => D::Stall,
        Rule::PodFaultBreaksMoverWatch => D::BreakMoverWatch,
        Rule::PodFaultEvicts => D::Evict,
        Rule::PodFaultFailsRepository => D::RepositoryFails,
        Rule::PodFaultFailsTransfer => D::TransferFails,
        Rule::PodFaultHangsTransfer => D::HangTransfer,
        Rule::PodFaultKillsMover => D::KillMover,
        Rule::PodFaultMakesUnkillable => D::Unkillable,
        Rule::PodFaultNeverStarts => D::NeverStart,
        Rule::PodFaultSlowsUploader => D::SlowUploader,
        Rule::PodFaultSpoilsImage => D::SpoilImage,
        _ => return None,
    })
}

/// Phases of an upload, and none.
const UPLOADS: usize = 9;
/// Phases of a pod.
const PODS: usize = 6;
/// What can be seen of a task.
const SEEN: usize = UPLOADS * PODS;

impl Seen {
    fn of(world: &World, t: TaskId) -> Seen {
        let task = &world.tasks[t];
        Seen { upload: task.cr.exists.then_some(task.cr.phase), pod: task.pod.phase }
    }

    fn index(self) -> usize {
        self.upload.map_or(0, |it| it as usize + 1) * PODS + self.pod as usize
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = |it: Option<Phase>| it.map_or("absent".to_owned(), |it| format!("{it:?}"));
        let Edge { was, is } = self;
        if was.upload == is.upload {
            write!(f, "{}: pod {:?} -> {:?}", phase(was.upload), was.pod, is.pod)
        } else if was.pod == is.pod {
            write!(f, "{} -> {}, pod {:?}", phase(was.upload), phase(is.upload), is.pod)
        } else {
            write!(f, "{} -> {}, pod {:?} -> {:?}", phase(was.upload), phase(is.upload), was.pod, is.pod)
        }
    }
}

/// Watches runs for a [`Coverage`].
pub(super) struct Watch {
    fired: [u64; Rule::ALL.len()],
    /// For each pair of things seen: the last run that saw one follow the other, and how many did.
    edges: Vec<(u64, u64)>,
    /// What they are.
    named: BTreeMap<usize, Edge>,
    tested: [bool; COUNT],
}

impl Watch {
    pub fn new() -> Watch {
        let tested = INVARIANTS.iter().map(|it| matches!(it.broken, Kind::Step(_))).collect::<Vec<_>>();
        Watch {
            fired: [0; Rule::ALL.len()],
            edges: vec![(u64::MAX, 0); SEEN * SEEN],
            named: BTreeMap::new(),
            tested: tested.try_into().expect("one for each invariant"),
        }
    }

    /// A step of run `run`.
    #[inline]
    pub fn sees(&mut self, run: u64, it: &Moment<'_>) {
        self.fired[it.action.rule() as usize] += 1;
        for t in it.is.task_ids() {
            let edge = Edge { was: Seen::of(it.was, t), is: Seen::of(it.is, t) };
            if edge.was != edge.is {
                let index = edge.was.index() * SEEN + edge.is.index();
                let (last, runs) = &mut self.edges[index];
                if *last != run {
                    *last = run;
                    *runs += 1;
                    self.named.entry(index).or_insert(edge);
                }
            }
        }
    }

    /// Asks whether the harm of each invariant is there at this moment.
    pub fn asks(&mut self, setup: &Setup<'_>, world: &World) {
        for (tested, invariant) in self.tested.iter_mut().zip(INVARIANTS) {
            if let Kind::Within(_, harm) | Kind::AtRest(harm) = invariant.broken {
                *tested = *tested || world.task_ids().any(|t| harm(world, setup, t));
            }
        }
    }

    /// Others that watched other runs.
    pub fn joins(&mut self, other: Watch) {
        self.fired.iter_mut().zip(other.fired).for_each(|(it, more)| *it += more);
        self.edges.iter_mut().zip(other.edges).for_each(|(it, more)| it.1 += more.1);
        self.named.extend(other.named);
        self.tested.iter_mut().zip(other.tested).for_each(|(it, more)| *it |= more);
    }

    /// What it all was; the first `asked` runs were asked.
    pub fn coverage(self, asked: u64) -> Coverage {
        let edges = self.named.into_iter().map(|(index, it)| (it, self.edges[index].1)).collect();
        Coverage { fired: self.fired.to_vec(), edges, tested: self.tested, asked }
    }
}

const _: () = assert!(TASKS * SEEN < u16::MAX as usize && SEEN > PodPhase::Failed as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rules::Class;

    /// Whoever acts from outside does something that has a price, and each such thing has somebody who does it.
    #[test]
    fn operators_and_faults_disturb_and_nobody_else_does() {
        for &rule in Rule::ALL {
            let is_outside = matches!(rule.class(), Class::Operator | Class::Fault);
            assert_eq!(disturbance(rule).is_some(), is_outside, "{}", rule.name());
        }
        for &what in Disturbance::ALL {
            assert!(Rule::ALL.iter().any(|it| disturbance(*it) == Some(what)), "{}", what.what());
        }
    }
}
