//! What an outsider sees of a step: the visible changes by which schedules are anchored.

use std::fmt;

use crate::model::api_server::{Phase, PodPhase};
use crate::model::place::TaskId;
use crate::model::world::World;

/// A visible change of an API object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Event {
    /// The upload gets another phase; New when it is created.
    Phase(TaskId, Phase),
    /// Its cancel is set.
    Cancelled(TaskId),
    /// It gets a deletion timestamp.
    Deleting(TaskId),
    /// It gets its finalizer.
    Finalizer(TaskId),
    /// It loses its finalizer and stays.
    NoFinalizer(TaskId),
    /// It is gone.
    Gone(TaskId),
    /// Its pod gets another phase; Pending when it is created.
    Pod(TaskId, PodPhase),
}

impl Event {
    /// The first thing that changed visibly between two worlds, in the order of the tasks.
    #[inline]
    pub fn between(was: &World, is: &World) -> Option<Event> {
        is.task_ids().find_map(|t| Event::of_task(was, is, t))
    }

    /// How many API objects differ.
    #[inline]
    pub fn objects(was: &World, is: &World) -> u8 {
        is.task_ids()
            .map(|t| {
                let (was, is) = (&was.tasks[t], &is.tasks[t]);
                u8::from(was.cr != is.cr) + u8::from(was.pod.phase != is.pod.phase)
            })
            .sum()
    }

    fn of_task(was: &World, is: &World, t: TaskId) -> Option<Event> {
        let (old, new) = (was.tasks[t].cr, is.tasks[t].cr);
        if old != new {
            return Some(if !new.exists {
                Event::Gone(t)
            } else if !old.exists || old.phase != new.phase {
                Event::Phase(t, new.phase)
            } else if old.cancel != new.cancel {
                Event::Cancelled(t)
            } else if old.deleting != new.deleting {
                Event::Deleting(t)
            } else if new.finalizer {
                Event::Finalizer(t)
            } else {
                Event::NoFinalizer(t)
            });
        }
        let phase = is.tasks[t].pod.phase;
        (was.tasks[t].pod.phase != phase).then_some(Event::Pod(t, phase))
    }

    /// One bit of 128 for each event of each task.
    pub(crate) fn bit(self) -> u128 {
        let of_task = match self {
            Event::Phase(_, phase) => phase as u32,
            Event::Cancelled(_) => 8,
            Event::Deleting(_) => 9,
            Event::Finalizer(_) => 10,
            Event::NoFinalizer(_) => 11,
            Event::Gone(_) => 12,
            Event::Pod(_, phase) => 13 + phase as u32,
        };
        1 << (u32::from(self.task().0) * 32 + of_task)
    }

    /// Whose.
    pub fn task(self) -> TaskId {
        let (Event::Phase(t, _)
        | Event::Cancelled(t)
        | Event::Deleting(t)
        | Event::Finalizer(t)
        | Event::NoFinalizer(t)
        | Event::Gone(t)
        | Event::Pod(t, _)) = self;
        t
    }

    /// All events of a task, in a fixed order.
    pub fn all(t: TaskId) -> impl Iterator<Item = Event> {
        use Phase as P;
        let phases =
            [P::New, P::Accepted, P::Prepared, P::InProgress, P::Canceling, P::Canceled, P::Completed, P::Failed];
        let pods = [
            PodPhase::Absent,
            PodPhase::Pending,
            PodPhase::Unpullable,
            PodPhase::Running,
            PodPhase::Succeeded,
            PodPhase::Failed,
        ];
        let others =
            [Event::Cancelled(t), Event::Deleting(t), Event::Finalizer(t), Event::NoFinalizer(t), Event::Gone(t)];
        let phases = phases.into_iter().map(move |it| Event::Phase(t, it));
        phases.chain(others).chain(pods.into_iter().map(move |it| Event::Pod(t, it)))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Phase(t, Phase::New) => write!(f, "{t} is created"),
            Event::Phase(t, phase) => write!(f, "{t} becomes {phase:?}"),
            Event::Cancelled(t) => write!(f, "{t} is cancelled"),
            Event::Deleting(t) => write!(f, "{t} is deleted"),
            Event::Finalizer(t) => write!(f, "{t} gets its finalizer"),
            Event::NoFinalizer(t) => write!(f, "{t} loses its finalizer"),
            Event::Gone(t) => write!(f, "{t} is gone"),
            Event::Pod(t, PodPhase::Absent) => write!(f, "the pod of {t} is gone"),
            Event::Pod(t, PodPhase::Pending) => write!(f, "the pod of {t} is created"),
            Event::Pod(t, phase) => write!(f, "the pod of {t} is {phase:?}"),
        }
    }
}
