//! The mapping of pod events to requests, which writes to the API server from the informer's listener goroutine.

use super::super::api_server::{Held, Phase};
use super::super::design::PodReaction;
use super::super::place::{NodeId, TaskId};
use super::super::rules::Step;
use super::super::world::World;
use super::routine::{self, Op, Plan, Seat};
use crate::require;

/// For whom the mapping of `n` works, or would work next.
pub fn subject(now: &World, n: NodeId) -> Option<TaskId> {
    if now.nodes[n].mapping.is_busy() {
        Some(now.nodes[n].mapping.task)
    } else {
        now.nodes[n].pods.next_for_mapping().map(|it| it.task)
    }
}

/// It hears that one of its pods changed, and decides by the upload in the cache.
///
/// Spec: M0 to M3, N3. Velero: `pkg/controller/data_upload_controller.go`, `findDataUploadForPod`.
pub fn hears(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(!now.nodes[n].mapping.is_busy());
    let entry = now.nodes[n].pods.next_for_mapping()?;
    require!(entry.task == t);

    let design = step.setup.design;
    let next = step.fires()?;
    next.nodes[n].pods.mapping_is_told();
    let cr = next.tasks[t].at[n].cr;
    if cr.exists && cr.phase == Phase::Accepted {
        let plan = match design.on_pod_event(entry.phase) {
            PodReaction::Prepare => Plan::of(&[Op::MarkPrepared, Op::EnqueueKey]), // M1
            PodReaction::Cancel => Plan::of(&[Op::SetCancel, Op::EnqueueKey]),     // M2
            PodReaction::Nothing => Plan::NONE,                                    // M3
        };
        let held = Held { cr, current: false };
        next.begin(Seat::Mapping(n), t, held, plan, false);
    }
    Some(())
}

/// It reads the upload again, for a write that it repeats on conflict.
///
/// Spec: GMR. Velero: `pkg/controller/data_upload_controller.go`, `UpdateDataUploadWithRetry`.
pub fn gets(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::gets(step, Seat::Mapping(n))
}

/// It marks the upload Prepared, and this node its owner, whatever the phase is by now.
///
/// Spec: M1. Velero: `pkg/controller/data_upload_controller.go`, `findDataUploadForPod`.
pub fn marks_prepared(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Mapping(n), Op::MarkPrepared)
}

/// It cancels the upload, since its pod cannot recover.
///
/// Spec: M2. Velero: `pkg/controller/data_upload_controller.go`, `findDataUploadForPod`.
pub fn sets_cancel(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Mapping(n), Op::SetCancel)
}
