//! What a hunt showed: which invariants were broken, and for each finding what to type to see it again.

use std::fmt::{self, Write as _};

use super::schedule::{Schedule, Then};
use super::token::Token;
use super::{counted, grouped, paragraph};
use crate::designs::{self, Upstream};
use crate::invariants::{COUNT, INVARIANTS};
use crate::model::design::Design;
use crate::model::time::Ticks;
use crate::run::run;
use crate::scenario::Scenario;
use crate::scheduler::{Deviating, PORTFOLIO, Policy, policy_named};
use crate::search::{Answer, Bug, Campaign, Finding, Vacuous, deviate};

/// What is asked of a hunt in one scenario.
#[derive(Clone, Copy)]
pub struct Quest<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The design.
    pub design: &'a dyn Design,
    /// Who chooses in each run.
    pub policy: &'a dyn Policy,
    /// The seed of the campaign.
    pub seed: u64,
    /// How many runs.
    pub runs: u64,
}

impl fmt::Debug for Quest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Quest { scenario, design, policy, seed, runs } = self;
        let mut out = f.debug_struct("Quest");
        out.field("scenario", scenario).field("design", &design.name()).field("policy", policy);
        out.field("seed", seed).field("runs", runs).finish()
    }
}

/// A finding, and how to see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// The finding.
    pub finding: Finding,
    /// What to type to make the run again that showed it.
    pub command: String,
    /// Its schedule in one word, where it can be told by deviations.
    pub token: Option<Token>,
    /// Its schedule, which the normal schedule completes.
    pub schedule: Schedule,
}

/// What became of the file of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is at this path.
    At(String),
    /// It could not be written.
    Not,
}

/// A quest and what came of it.
#[derive(Clone, Debug)]
pub struct Hunted<'a> {
    /// What was asked.
    pub quest: Quest<'a>,
    /// What came of it.
    pub campaign: Campaign,
    /// How to see each of its findings, in their order, and where its schedule is.
    pub leads: Vec<(Lead, Kept)>,
}

/// What to type to make run `run` of a campaign again, and no other: nothing where the command line cannot, since the
/// design or the policy is not built in. A scenario that is not built in is looked for in the file of its name.
///
/// ```
/// use vgdp_sim::designs::Upstream;
/// use vgdp_sim::report::command_of_run;
/// use vgdp_sim::scenario::Scenario;
/// use vgdp_sim::scheduler::{PORTFOLIO, policy_named};
///
/// let cancel = Scenario::named("cancel")?;
/// let command = command_of_run(&cancel, &Upstream, &PORTFOLIO, 1, 113);
/// assert_eq!(command.as_deref(), Some("vgdp-sim run --design upstream --scenario cancel --seed 1 --run 113"));
///
/// let command = command_of_run(&cancel.scope(1, 2), &Upstream, policy_named("uniform")?, 1, 113).expect("all built in");
/// assert!(command.ends_with("--scenario cancel --nodes 1 --tasks 2 --policy uniform --seed 1 --run 113"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn command_of_run(
    scenario: &Scenario,
    design: &dyn Design,
    policy: &dyn Policy,
    seed: u64,
    run: u64,
) -> Option<String> {
    let usual = if scenario.is_built_in() { Scenario::named(scenario.name).ok()? } else { scenario.clone() };
    let Scenario { nodes, tasks, ticks, .. } = *scenario;
    let is_portfolio = policy_named(policy.name()).ok()?.name() == PORTFOLIO.name();
    let unless = |usual: bool, option: String| if usual { String::new() } else { option };
    let options = unless(usual.nodes == nodes, format!(" --nodes {nodes}"))
        + &unless(usual.tasks == tasks, format!(" --tasks {tasks}"))
        + &unless(usual.ticks == ticks, format!(" --ticks {}", ticks.name()))
        + &unless(is_portfolio, format!(" --policy {}", policy.name()));
    let design = designs::named(design.name()).ok()?.name();
    let name = scenario.argument();
    Some(format!("vgdp-sim run --design {design} --scenario {name}{options} --seed {seed} --run {run}"))
}

impl Quest<'_> {
    /// What to type to make that run of it again.
    pub fn command(&self, run: u64) -> String {
        let Quest { scenario, design, policy, seed, .. } = *self;
        command_of_run(scenario, design, policy, seed, run).unwrap_or_else(|| {
            let (scenario, design, policy) = (scenario.name, design.name(), policy.name());
            format!("run {run} of seed {seed}, scenario {scenario}, design {design}, policy {policy}")
        })
    }

    /// How to see a finding of it again.
    ///
    /// # Panics
    ///
    /// When the scope of the scenario is too large, or its prefix is not enabled.
    pub fn lead(&self, finding: &Finding) -> Lead {
        let Quest { scenario, design, .. } = *self;
        let Finding { invariant, price, run: index, ref schedule, .. } = *finding;
        let deviations = deviate(scenario, design, schedule, invariant, price).filter(|it| {
            let mut deviating = Deviating::new(it);
            let report = run(scenario, design, &mut deviating);
            report.broken[invariant].is_some_and(|it| it.price <= price) && deviating.missed().is_none()
        });
        Lead {
            finding: finding.clone(),
            command: self.command(index),
            token: deviations.map(|it| Token::new(scenario, design, &it)),
            schedule: Schedule::new(scenario.clone(), design, Some(invariant), Then::Normal, schedule.clone()),
        }
    }

    /// What is done in each scenario, and how to read what comes of it.
    pub fn heading(&self, width: usize) -> String {
        let Quest { design, policy, seed, runs, .. } = self;
        let what = format!(
            "Seed {seed}, {} of each scenario, design {}, policy {}.",
            counted(*runs, "run"),
            design.name(),
            policy.name()
        );
        let how = "The price of a violation is what the outside world had to do wrong for it; price 0 is a race of normal operation. Below each invariant stands what makes the run again that broke it cheapest, and what replays it without all that it does not need. What was not found may still be there.";
        paragraph(&what, 0, width) + &paragraph(how, 0, width)
    }

    /// Which run it is that `vgdp-sim run` makes.
    pub fn heading_of_run(&self, run: u64, width: usize) -> String {
        let Quest { design, policy, seed, .. } = self;
        paragraph(&format!("Run {run} of seed {seed}, design {}, policy {}.", design.name(), policy.name()), 0, width)
    }
}

impl Lead {
    /// The id of its invariant.
    pub fn id(&self) -> &'static str {
        INVARIANTS[self.finding.invariant].id
    }

    /// A name for the file of its schedule.
    pub fn file_name(&self) -> String {
        let Schedule { scenario, design, .. } = &self.schedule;
        let of = if *design == Upstream.name() { String::new() } else { format!("-{design}") };
        format!("{}{of}-{}.schedule", scenario.name, self.id())
    }

    /// The text of that file: what it is, how it was found, and the schedule.
    pub fn file_text(&self) -> String {
        let Lead { finding: Finding { invariant, price, .. }, command, token, schedule } = self;
        let told = token.as_ref().map_or_else(String::new, |it| format!(", as {it}"));
        let (id, sentence) = (self.id(), INVARIANTS[*invariant].sentence);
        format!("# {id}: {sentence}.\n# Broken at price {price}{told}. Found by `{command}`, then shrunk.\n{schedule}")
    }

    /// The file of its schedule, or else the schedule itself.
    fn replay(&self, kept: &Kept) -> String {
        match kept {
            Kept::At(path) => format!("    vgdp-sim replay {}\n", quoted(path)),
            Kept::Not => {
                let all = self.file_text();
                let lines = all.lines().map(|line| format!("{:6}{line}", ""));
                lines.map(|it| it.trim_end().to_owned() + "\n").collect()
            }
        }
    }
}

/// What to type to see the schedule of a finding: the shortest token of its bug, or else its file.
fn replay(it: &Hunted<'_>, lead: &Lead, kept: &Kept) -> String {
    let Finding { invariant, price, run, .. } = lead.finding;
    let bug = bugs(&it.campaign, invariant).find(|it| it.price == price && it.runs.contains(&run));
    let bug = bug.map(|bug| Token::new(it.quest.scenario, it.quest.design, &bug.deviations));
    match lead.token.clone().into_iter().chain(bug).min_by_key(|it| it.deviations.len()) {
        Some(token) => format!("    vgdp-sim replay {token}\n"),
        None => lead.replay(kept),
    }
}

/// What was found in a scenario, what was not, and how much that says.
pub fn of_scenario(it: &Hunted<'_>, width: usize) -> String {
    let Scenario { name, sentence, ticks, .. } = it.quest.scenario;
    let how = if *ticks == Ticks::default() { String::new() } else { format!(" ({})", ticks.what()) };
    let mut out = format!("\n{}", paragraph(&format!("{name}: {sentence}{how}"), 0, width));
    for (ids, ways) in groups(it, width) {
        out.push_str(&ids);
        out.push_str(&ways);
    }
    out.push_str(&answers(&it.campaign, width));
    out.push_str(&limits(&it.campaign, width));
    out
}

/// The invariants that were broken, each on a line; together those that one run and one schedule break.
fn groups(it: &Hunted<'_>, width: usize) -> Vec<(String, String)> {
    let mut groups: Vec<(String, String)> = Vec::new();
    for (lead, kept) in &it.leads {
        let line = line(lead, &it.campaign);
        let mut ways = format!("    {}\n{}", lead.command, replay(it, lead, kept));
        ways += &other_bugs(it, lead, width);
        match groups.iter_mut().find(|group| group.1 == ways) {
            Some(group) => group.0 += &line,
            None => groups.push((line, ways)),
        }
    }
    groups
}

/// `  slot-leak  price 0 in 71 of 20,000 runs; the first 4 are 2 bugs`.
fn line(lead: &Lead, campaign: &Campaign) -> String {
    let Finding { invariant, price, .. } = lead.finding;
    let ids = INVARIANTS.iter().map(|it| it.id.len()).max().unwrap_or(0);
    let (id, runs, count) = (lead.id(), grouped(campaign.runs), grouped(campaign.broken[invariant]));
    let most = runs.len();
    let told_apart = match sampled(campaign, invariant) {
        0 | 1 => String::new(),
        sampled => {
            let bugs = bugs(campaign, invariant).count() as u64;
            format!("; the first {sampled} are {}", counted(bugs, "bug"))
        }
    };
    format!("  {id:<ids$}  price {price} in {count:>most$} of {runs} runs{told_apart}\n")
}

fn bugs(campaign: &Campaign, invariant: usize) -> impl Iterator<Item = &Bug> {
    campaign.bugs.iter().filter(move |it| it.invariant == invariant)
}

/// How many failing runs of an invariant were told apart.
fn sampled(campaign: &Campaign, invariant: usize) -> u64 {
    bugs(campaign, invariant).map(|it| it.runs.len() as u64).sum()
}

/// The bugs of an invariant but for the one that its cheapest run shows.
fn other_bugs(it: &Hunted<'_>, lead: &Lead, width: usize) -> String {
    let Quest { scenario, design, .. } = it.quest;
    let Finding { invariant, run, .. } = lead.finding;
    let sampled = sampled(&it.campaign, invariant);
    let mut out = String::new();
    for Bug { runs, price, deviations, .. } in bugs(&it.campaign, invariant).filter(|it| !it.runs.contains(&run)) {
        let others = runs.len();
        out += &paragraph(&format!("another bug, {others} of the first {sampled}, at price {price}:"), 4, width);
        let _ = writeln!(out, "    vgdp-sim replay {}", Token::new(scenario, design, deviations));
    }
    out
}

/// What the campaign says of the invariants that it did not break.
fn answers(campaign: &Campaign, width: usize) -> String {
    let (mut none, mut untested, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
    for (index, invariant) in INVARIANTS.iter().enumerate() {
        match campaign.answer(index) {
            Answer::Broken(_) => {}
            Answer::Undecided(_) => undecided.push(invariant.id),
            Answer::NoneIn(_) if campaign.vacuous.contains(&Vacuous::NeverTested(index)) => untested.push(invariant.id),
            Answer::NoneIn(_) => none.push(invariant.id),
        }
    }
    let (runs, rest) = (counted(campaign.runs, "run"), counted(campaign.undecided, "run"));
    let mut out = String::new();
    let asked = grouped(campaign.coverage.asked);
    for (what, ids) in [
        (format!("none in {runs}"), none),
        (format!("none in {runs}, but nothing in the first {asked} put it to the test"), untested),
        (format!("undecided, since {rest} came to no rest"), undecided),
    ] {
        if ids.len() == COUNT {
            out += &paragraph(&format!("{what}: each of the {COUNT} invariants"), 2, width);
        } else if !ids.is_empty() {
            out += &paragraph(&format!("{what}: {}", ids.join(", ")), 2, width);
        }
    }
    out
}

/// Why its silence says no more than it does: what never happened, and what the next run may still show.
fn limits(campaign: &Campaign, width: usize) -> String {
    let mut out = String::new();
    let never: Vec<&str> = campaign.vacuous.iter().filter_map(never_struck).collect();
    if !never.is_empty() {
        out += &paragraph(&format!("allowed, and never happened: {}", never.join("; ")), 2, width);
    }
    if campaign.vacuous.contains(&Vacuous::NeverAtRest) {
        out += &paragraph(&Vacuous::NeverAtRest.to_string(), 2, width);
    }
    let (edges, (once, runs)) = (campaign.coverage.edges.len() as u64, campaign.risk());
    let (edges, once_of) = (counted(edges, "change"), format!("{} in {}", grouped(once.max(1)), grouped(runs)));
    let odds = if once == 0 { "less than about" } else { "about" };
    let risk = format!(
        "saw {edges} of phase, {} in a single run: the chance that the next run shows a new one is {odds} {once_of}",
        grouped(once)
    );
    out + &paragraph(&risk, 2, width)
}

fn never_struck(it: &Vacuous) -> Option<&'static str> {
    match it {
        Vacuous::NeverStruck(it) => Some(it.what()),
        Vacuous::NeverAtRest | Vacuous::NeverTested(_) => None,
    }
}

/// A hunt that was ended early: how far it came, and what it never began.
pub fn stopped(hunted: &[Hunted<'_>], left: &[&str], width: usize) -> String {
    let cut = hunted.iter().filter(|it| it.campaign.runs < it.quest.runs).map(|it| {
        let (name, runs, of) = (it.quest.scenario.name, grouped(it.campaign.runs), counted(it.quest.runs, "run"));
        format!("{name} after its first {runs} of {of}")
    });
    let left = (!left.is_empty()).then(|| format!("not begun: {}", left.join(", ")));
    let text = cut.chain(left).collect::<Vec<_>>().join("; ");
    format!("\n{}", paragraph(&format!("Stopped by Ctrl-C: {text}."), 0, width))
}

/// The cheapest way in which the invariant of that id was broken in any scenario: by price, then by length.
pub fn cheapest<'a>(hunted: &'a [Hunted<'_>], id: &str) -> Option<&'a Lead> {
    let all = hunted.iter().flat_map(|it| &it.leads).map(|it| &it.0).filter(|it| it.id() == id);
    all.min_by_key(|it| (it.finding.price, it.finding.schedule.len()))
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &str) -> String {
    let plain = |it: char| it.is_alphanumeric() || "/._-+,:@%".contains(it);
    if !path.is_empty() && path.chars().all(plain) && !path.starts_with('-') {
        path.to_owned()
    } else if path.starts_with('-') {
        quoted(&format!("./{path}"))
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::Replay;
    use crate::search::hunt;

    fn hunted(scenario: &Scenario, runs: u64) -> Hunted<'_> {
        let quest = Quest { scenario, design: &Upstream, policy: &PORTFOLIO, seed: 1, runs };
        let campaign = hunt(scenario, &Upstream, 1, runs);
        let leads = campaign.findings.iter().map(|it| (quest.lead(it), Kept::Not)).collect();
        Hunted { quest, campaign, leads }
    }

    #[test]
    fn a_sample_never_says_that_an_invariant_holds() {
        for name in ["normal", "cancel"] {
            let text = of_scenario(&hunted(&Scenario::named(name).unwrap(), 5), 80);
            assert!(text.contains("in 5 runs") && !text.contains("hold"), "{text}");
        }
    }

    /// Three answers, and no invariant is without one.
    #[test]
    fn each_invariant_is_answered_once() {
        let scenario = Scenario::named("pod-deleted").unwrap();
        let mut it = hunted(&scenario, 300);
        for undecided in [0, 1] {
            it.campaign.undecided = undecided;
            let text = of_scenario(&it, 80);
            let is_answer = |id: &str, word: &str| word.trim_end_matches([',', ';']) == id;
            for invariant in INVARIANTS {
                let answers = text.split_whitespace().filter(|word| is_answer(invariant.id, word)).count();
                assert_eq!(answers, 1, "{}: {text}", invariant.id);
            }
            assert_eq!(text.contains("undecided, since 1 run came to no rest: "), undecided > 0, "{text}");
            assert!(text.contains("  none in 300 runs"), "{text}");
        }
    }

    #[test]
    fn what_never_happened_and_what_may_come_is_told() {
        let scenario = Scenario::named("anything").unwrap();
        let text = of_scenario(&hunted(&scenario, 20), 1000);
        assert!(text.contains("\n  allowed, and never happened: "), "{text}");
        let it = hunted(&scenario, 20);
        assert!(text.contains(&format!("a new one is about {} in 20\n", it.campaign.risk().0)), "{text}");
        assert!(text.contains(", but nothing in the first 20 put it to the test: "), "{text}");
    }

    #[test]
    fn each_lead_leads_to_its_invariant() {
        for name in ["pod-deleted", "anything"] {
            let scenario = Scenario::named(name).unwrap();
            let hunted = hunted(&scenario, 300);
            assert!(!hunted.leads.is_empty());
            for (lead, kept) in &hunted.leads {
                let Finding { invariant, price, ref schedule, run: index, .. } = lead.finding;
                let breaks = |scheduler: &mut dyn crate::scheduler::Scheduler| {
                    run(&scenario, &Upstream, scheduler).broken[invariant].is_some_and(|it| it.price <= price)
                };
                assert!(breaks(&mut Replay::then_normal(schedule)), "{}", lead.id());
                let again = run(&scenario, &Upstream, &mut *PORTFOLIO.start(1, index)); // its price may shrink too
                assert!(again.broken[invariant].is_some(), "{}", lead.command);
                assert!(
                    lead.token.as_ref().is_none_or(|it| breaks(&mut Deviating::new(&it.deviations))),
                    "{}",
                    lead.id()
                );
                assert_eq!(lead.file_text().parse::<Schedule>().map(|it| it.actions), Ok(schedule.clone()));
                assert_eq!(lead.replay(kept).parse::<Schedule>().map(|it| it.actions), Ok(schedule.clone()));
            }
        }
    }

    #[test]
    fn only_a_built_in_design_has_a_command_and_another_scenario_needs_its_file() {
        struct Mine;
        impl Design for Mine {
            fn name(&self) -> &'static str {
                "mine"
            }
        }
        let cancel = Scenario::named("cancel").unwrap();
        let other = Scenario { name: "dear", price: 3, ..cancel.clone() };
        assert_eq!(command_of_run(&cancel, &Mine, &PORTFOLIO, 1, 2), None);
        let command = command_of_run(&other, &Upstream, &PORTFOLIO, 1, 2).unwrap();
        assert!(command.contains(" --scenario ./dear.json --seed 1"), "{command}");
    }

    #[test]
    fn a_path_is_quoted_where_a_shell_would_break_it() {
        assert_eq!(quoted("target/vgdp-sim/a.schedule"), "target/vgdp-sim/a.schedule");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
        assert_eq!(quoted("-x"), "./-x");
    }
}
