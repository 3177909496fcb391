//! Who acts, as the columns of a timeline: a place on the line says who, so that one actor's steps line up by eye.

use std::fmt;
use std::str::FromStr;

use crate::model::place::{NODES, NodeId, TASKS, TaskId};
use crate::model::rules::Action;
use crate::report::nearest;

/// A column: one actor, or a few of whom there is no need to tell which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Users, operators, and faults.
    User,
    /// The velero server.
    Server,
    /// The API server, and what only moves its objects: garbage collector and kube-scheduler.
    Api,
    /// The node-agent of a node, with all its goroutines.
    Agent(NodeId),
    /// The kubelets.
    Kubelet,
    /// The mover of a task.
    Mover(TaskId),
}

impl Lane {
    /// All that a world of that size has, from left to right.
    pub fn all(nodes: u8, tasks: u8) -> impl Iterator<Item = Lane> {
        let agents = (0..nodes).map(|n| Lane::Agent(NodeId(n)));
        let movers = (0..tasks).map(|t| Lane::Mover(TaskId(t)));
        [Lane::User, Lane::Server, Lane::Api].into_iter().chain(agents).chain([Lane::Kubelet]).chain(movers)
    }

    /// Whose column an action stands in. The clock has none.
    pub fn of(action: Action) -> Option<Lane> {
        match (action.rule().actor(), action.node(), action.task()) {
            ("user" | "fault", ..) => Some(Lane::User),
            ("velero-server", ..) => Some(Lane::Server),
            ("api-server" | "garbage-collector" | "scheduler", ..) => Some(Lane::Api),
            ("node-agent", Some(n), _) => Some(Lane::Agent(n)),
            ("kubelet", ..) => Some(Lane::Kubelet),
            ("mover", _, Some(t)) => Some(Lane::Mover(t)),
            _ => None,
        }
    }

    /// What it stands for, in a legend.
    pub fn meaning(self) -> &'static str {
        match self {
            Lane::User => "user, operator, fault",
            Lane::Server => "velero server",
            Lane::Api => "API server, kube-scheduler, garbage collector",
            Lane::Agent(_) => "node-agent",
            Lane::Kubelet => "kubelet",
            Lane::Mover(_) => "mover",
        }
    }

    fn bit(self) -> u16 {
        let place = match self {
            Lane::User => 0,
            Lane::Server => 1,
            Lane::Api => 2,
            Lane::Kubelet => 3,
            Lane::Agent(n) => 4 + u16::from(n.0),
            Lane::Mover(t) => 4 + NODES as u16 + u16::from(t.0),
        };
        1 << place
    }
}

/// What stands above the column; also its name on the command line.
impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lane::User => f.write_str("user"),
            Lane::Server => f.write_str("srv"),
            Lane::Api => f.write_str("api"),
            Lane::Agent(n) => write!(f, "{n}"),
            Lane::Kubelet => f.write_str("kub"),
            Lane::Mover(t) => write!(f, "{t}"),
        }
    }
}

/// Some columns, as `--columns` names them: `user,n0,a`, where `node-agents` and `movers` are all of these, and `server`
/// and `kubelet` mean `srv` and `kub`.
///
/// ```
/// use vgdp_sim::report::Lanes;
///
/// assert!("movers,kub".parse::<Lanes>().is_ok());
/// let error = "mover".parse::<Lanes>().unwrap_err().to_string();
/// assert!(error.starts_with("no column is called `mover`; did you mean `movers`?"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes(u16);

impl Lanes {
    /// Whether `lane` is one of them.
    pub fn contains(self, lane: Lane) -> bool {
        self.0 & lane.bit() != 0
    }

    /// Those of `lanes`.
    pub fn of(lanes: impl IntoIterator<Item = Lane>) -> Lanes {
        Lanes(lanes.into_iter().map(Lane::bit).fold(0, |all, it| all | it))
    }

    /// The first of them that a world of that size has not.
    pub(super) fn beyond(self, nodes: u8, tasks: u8) -> Option<Lane> {
        let asks_for_all = |lanes: Lanes| self.0 & lanes.0 == lanes.0;
        let agents = Lanes::of((0..NODES as u8).map(|n| Lane::Agent(NodeId(n))));
        let movers = Lanes::of((0..TASKS as u8).map(|t| Lane::Mover(TaskId(t))));
        every_lane().filter(|&it| self.contains(it)).find(|it| match *it {
            Lane::Agent(n) => n.0 >= nodes && !asks_for_all(agents),
            Lane::Mover(t) => t.0 >= tasks && !asks_for_all(movers),
            Lane::User | Lane::Server | Lane::Api | Lane::Kubelet => false,
        })
    }
}

/// A column that nobody has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no column is called `{name}`; did you mean `{nearest}`? (They are user, srv, api, node-agents or one of them as n0, \
     kub, movers or one of them as a; write several with commas between.)"
)]
pub struct UnknownLane {
    name: String,
    nearest: String,
}

impl FromStr for Lanes {
    type Err = UnknownLane;

    fn from_str(text: &str) -> Result<Lanes, UnknownLane> {
        let names = names();
        let mut all = 0;
        for name in text.split(',').map(str::trim) {
            let Some((_, lanes)) = names.iter().find(|it| it.0 == name) else {
                let nearest = nearest(name, names.iter().map(|it| it.0.as_str())).unwrap_or_default().to_owned();
                return Err(UnknownLane { name: name.to_owned(), nearest });
            };
            all |= lanes.0;
        }
        Ok(Lanes(all))
    }
}

fn every_lane() -> impl Iterator<Item = Lane> {
    Lane::all(NODES as u8, TASKS as u8)
}

/// What may be asked for by name.
fn names() -> Vec<(String, Lanes)> {
    let groups = [
        ("node-agents", Lanes::of(every_lane().filter(|it| matches!(it, Lane::Agent(_))))),
        ("movers", Lanes::of(every_lane().filter(|it| matches!(it, Lane::Mover(_))))),
        ("server", Lanes::of([Lane::Server])),
        ("kubelet", Lanes::of([Lane::Kubelet])),
    ];
    let lanes = every_lane().map(|it| (it.to_string(), Lanes::of([it])));
    groups.into_iter().map(|(name, lanes)| (name.to_owned(), lanes)).chain(lanes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rules::{Class, Rule};

    /// An actor that is new fails here until it has a column.
    #[test]
    fn everybody_but_the_clock_has_a_column() {
        for &rule in Rule::ALL {
            let forms =
                [(None, None), (Some(NodeId(0)), None), (None, Some(TaskId(0))), (Some(NodeId(0)), Some(TaskId(0)))];
            let action = forms.into_iter().find_map(|(n, t)| Action::new(rule, n, t)).unwrap();
            assert_eq!(Lane::of(action).is_none(), rule.class() == Class::Clock, "{action}");
        }
    }

    #[test]
    fn columns_are_distinct_and_each_is_found_by_its_heading() {
        for lane in every_lane() {
            let parsed: Lanes = lane.to_string().parse().unwrap();
            let found: Vec<Lane> = every_lane().filter(|&it| parsed.contains(it)).collect();
            assert_eq!(found, [lane]);
        }
    }

    #[test]
    fn a_group_means_those_that_there_are() {
        let beyond = |text: &str| text.parse::<Lanes>().unwrap().beyond(2, 1);
        assert_eq!([beyond("node-agents,movers"), beyond("n1,a,user")], [None, None]);
        assert_eq!(beyond("n2"), Some(Lane::Agent(NodeId(2))));
        assert_eq!(beyond("movers,n2"), Some(Lane::Agent(NodeId(2))));
        assert_eq!(beyond("b"), Some(Lane::Mover(TaskId(1))));
    }
}
