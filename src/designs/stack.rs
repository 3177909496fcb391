use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use crate::model::api_server::{DataUpload, PodPhase};
use crate::model::design::{
    Design, EarlyCancel, Ended, Finish, Heard, PodHeard, PodReaction, Poll, ResultSignal, Upstream,
};
use crate::model::kind::Kind;
use crate::model::node_agent::routine::Plan;
use crate::model::node_agent::worker::Own;

/// Several designs at once: is one enough without the other?
///
/// At each decision every member is asked. An answer equal to upstream's abstains; what is left must agree. Two that
/// differ are a [`Conflict`]: the first member has its way, and [`Stack::conflicts`] tells.
///
/// ```
/// use vgdp_sim::designs::{CloseOnTerminal, LevelTriggeredCancel, Stack};
/// use vgdp_sim::scenario::Scenario;
/// use vgdp_sim::search::sweep;
///
/// let both = Stack::new("both", &[&CloseOnTerminal, &LevelTriggeredCancel]);
/// let found = sweep(&Scenario::named("cancel")?, &both, 1, 1_000_000);
/// assert!(both.conflicts().is_empty());
/// # assert!(found.worlds > 0);
/// # Ok::<(), vgdp_sim::scenario::UnknownScenario>(())
/// ```
pub struct Stack<'a> {
    name: &'static str,
    members: &'a [&'a dyn Design],
    conflicts: Mutex<BTreeSet<Conflict>>,
}

/// Two members of a stack that decide the same thing differently.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// The decision: a method of [`Design`].
    pub decision: &'static str,
    /// Whose answer was taken.
    pub taken: &'static str,
    /// Whose was not.
    pub other: &'static str,
    /// What was asked.
    pub situation: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { decision, taken, other, situation } = self;
        write!(f, "{taken} and {other} contradict each other in `{decision}`, asked {situation}; leave one of them out")
    }
}

impl<'a> Stack<'a> {
    /// A stack of `members`, the most important first.
    pub fn new(name: &'static str, members: &'a [&'a dyn Design]) -> Stack<'a> {
        Stack { name, members, conflicts: Mutex::default() }
    }

    /// The contradictions that were met so far.
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.conflicts.lock().expect("nobody panics while holding it").iter().cloned().collect()
    }

    fn decide<T: PartialEq>(
        &self,
        decision: &'static str,
        situation: &dyn Fn() -> String,
        ask: impl Fn(&dyn Design) -> T,
    ) -> T {
        let upstream = ask(&Upstream);
        let mut taken: Option<(&'static str, T)> = None;
        for member in self.members {
            let answer = ask(*member);
            match &taken {
                _ if answer == upstream => {}
                None => taken = Some((member.name(), answer)),
                Some((_, first)) if *first == answer => {}
                Some((first, _)) => {
                    let conflict = Conflict { decision, taken: first, other: member.name(), situation: situation() };
                    self.conflicts.lock().expect("nobody panics while holding it").insert(conflict);
                }
            }
        }
        taken.map_or(upstream, |it| it.1)
    }
}

impl fmt::Debug for Stack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<&str> = self.members.iter().map(|it| it.name()).collect();
        write!(f, "Stack({}: {members:?})", self.name)
    }
}

macro_rules! decisions {
    ($($decision:ident($($of:ident: $type:ty),*) -> $answer:ty;)*) => {$(
        fn $decision(&self, $($of: $type),*) -> $answer {
            #[allow(unused_mut)]
            let situation = || {
                let mut parts: Vec<String> = Vec::new();
                $(parts.push(format!("{:?}", $of));)*
                parts.join(", ")
            };
            self.decide(stringify!($decision), &situation, |it| it.$decision($($of),*))
        }
    )*};
}

impl Design for Stack<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    decisions! {
        on_not_found(own: &Own) -> Plan;
        on_deleting(own: &Own) -> Plan;
        on_final(own: &Own) -> Plan;
        may_force(own: &Own) -> bool;
        on_forced(own: &Own) -> Plan;
        may_accept(fresh: &DataUpload) -> bool;
        rechecks_before_pod() -> bool;
        on_missing_pod_at_peek(own: &Own) -> Plan;
        reserves_slot_first() -> bool;
        on_untracked(own: &Own) -> Plan;
        on_pod_event(pod: PodPhase) -> PodReaction;
        on_prepared_cancel(own: &Own) -> Plan;
        on_untracked_cancel(own: &Own) -> Plan;
        on_in_progress_cancel(own: &Own) -> Plan;
        on_canceling(own: &Own) -> Plan;
        may_start(fresh: &DataUpload) -> bool;
        may_prepare(fresh: &DataUpload) -> bool;
        enqueues_periodically(cr: &DataUpload) -> bool;
        watcher_hears(heard: PodHeard) -> bool;
        watcher_outcome(ended: &Ended) -> Finish;
        epilog_wait(upstream: u16) -> u16;
        finishes(kind: Kind, finish: Finish) -> Plan;
        mover_polls(found: Option<&DataUpload>) -> Poll;
        mover_cancels_early() -> EarlyCancel;
        mover_hears(heard: &Heard) -> bool;
        result_signal() -> ResultSignal;
        pod_grace() -> u16;
    }
}
