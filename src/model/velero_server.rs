//! The velero server: it creates the uploads of a backup and cancels the ones that take too long.

use super::api_server::DataUpload;
use super::place::TaskId;
use super::rules::Step;
use super::time::{Obligation, Window};
use crate::require;

/// It creates the `DataUpload` and starts the clock of its item operation.
///
/// Spec: S1. Velero: `pkg/backup/actions/csi/pvc_action.go`, `createDataUpload`.
pub fn creates(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.shared.budget.creations[t] > 0, !now.tasks[t].cr.exists);
    step.waits_for(step.now().cr_log_has_room())?;

    let operation = step.window(Obligation::OperationTimeout);
    let next = step.fires()?;
    next.shared.budget.creations[t] -= 1;
    next.tasks[t].operation = operation;
    next.store(t, DataUpload { exists: true, ..DataUpload::ABSENT });
    Some(())
}

/// It cancels the upload of an item operation that is older than its timeout: once, by a patch that never conflicts. Where
/// somebody was faster the patch would change nothing (A3), so nothing is owed.
///
/// Spec: S3. Velero: `pkg/controller/backup_operations_controller.go`, `getBackupItemOperationProgress`.
pub fn cancels_operation(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(!task.operation.is_off(), task.cr.is_live(), !task.cr.cancel);
    step.within(now.tasks[t].operation)?;
    step.waits_for(step.now().cr_log_has_room())?;

    let next = step.fires()?;
    next.tasks[t].operation = Window::OFF;
    let stored = next.tasks[t].cr;
    next.store(t, DataUpload { cancel: true, ..stored });
    Some(())
}
