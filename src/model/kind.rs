//! The kinds of custom resource, as data: what differs between them.

use super::node_agent::routine::{Op, Plan};
use super::time::Obligation;

/// A kind of custom resource that a data mover serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A backup: from a volume snapshot into the repository.
    #[default]
    DataUpload,
    /// A restore: from the repository into a volume.
    DataDownload,
}

impl Kind {
    /// Its name, as Kubernetes spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::DataUpload => "DataUpload",
            Kind::DataDownload => "DataDownload",
        }
    }

    /// R6: from a new custom resource to its pod. A download first looks for the volume that it shall fill (R6d).
    pub(super) const fn start(self) -> Plan {
        match self {
            Kind::DataUpload => Plan::of(&[Op::Accept, Op::Expose, Op::CreatePod]),
            Kind::DataDownload => Plan::of(&[Op::FindTarget, Op::Accept, Op::Expose, Op::CreatePod]),
        }
    }

    /// How long the exposure takes.
    pub(super) const fn expose(self) -> Obligation {
        match self {
            Kind::DataUpload => Obligation::Expose,
            Kind::DataDownload => Obligation::ExposeDownload,
        }
    }

    /// Whether a clean-up deletes what the exposure is made from, so that one under way fails.
    pub(super) const fn cleans_up_source(self) -> bool {
        matches!(self, Kind::DataUpload)
    }

    /// Whether a clean-up waits for the volume to go.
    pub(super) const fn clean_up_waits(self) -> bool {
        matches!(self, Kind::DataUpload)
    }

    /// What a watcher does once its mover has completed. A download hands its volume over first; if that fails it
    /// returns, without a status and without a clean-up.
    pub const fn completed(self) -> Plan {
        match self {
            Kind::DataUpload => Plan::of(&[Op::ReportProgress, Op::ReadCr, Op::Complete]),
            Kind::DataDownload => Plan::of(&[
                Op::ReportProgress,
                Op::ReadCr,
                Op::RebindDeletePod,
                Op::RebindDeleteVolume,
                Op::Rebind,
                Op::Complete,
            ]),
        }
    }
}
