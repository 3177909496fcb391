//! A scenario as a file: JSON, in which everything is called as `vgdp-sim list` prints it.
//!
//! `docs/scenarios.md` explains each member, and `schemas/scenario.schema.json` is the same for editors. Only `schema`,
//! `name` and `sentence` are required; what is left out is as in the scenario `normal`.
//!
//! What a person writes is refused where it would be in vain, such as a fault that costs more than the whole price. A
//! schedule may carry any scenario that a program has made, so there only what cannot be run is refused.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write as _};
use std::ops::RangeInclusive;
use std::sync::Mutex;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Scenario;
use crate::model::api_server::Phase;
use crate::model::faults::Disturbance;
use crate::model::kind::Kind;
use crate::model::place::{NODES, NodeId, TASKS};
use crate::model::time::{Obligation, Span, Ticks, Times};
use crate::report::nearest;

/// What a file says that it is.
const FORMAT: &str = "vgdp-sim/scenario/1";

/// The members of a scenario, in the order in which they are written.
const MEMBERS: [&str; 15] = [
    "schema",
    "name",
    "sentence",
    "kind",
    "nodes",
    "tasks",
    "limit",
    "price",
    "allows",
    "only_while",
    "volumes_at",
    "latencies",
    "ticks",
    "reports_progress",
    "merges_enqueue",
];

/// What can be tied to phases: what users do to an upload.
const TRIGGERED: [Disturbance; 4] =
    [Disturbance::Cancel, Disturbance::Delete, Disturbance::StripFinalizer, Disturbance::DeletePod];

/// Of these a file may move the earliest alone: the worker asks how old something is.
const AGES: [Obligation; 3] =
    [Obligation::ForcedCancel, Obligation::ForcedCancelInProgress, Obligation::PrepareTimeout];

/// The oldest age that is told apart, in seconds.
const OLDEST: u16 = 7_200;
/// The latest end of a window, in seconds.
const LATEST: u16 = u16::MAX - 1;

/// A text that is no scenario: where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ScenarioError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    what: String,
}

impl ScenarioError {
    /// The same in a text in which the scenario begins there.
    fn behind(self, line: usize, column: usize) -> ScenarioError {
        let column = if self.line == 1 { self.column + column - 1 } else { self.column };
        ScenarioError { line: self.line + line - 1, column, ..self }
    }
}

impl Scenario {
    /// Reads what a person has written.
    ///
    /// What it was read from stays in memory as long as the program, once for each text.
    ///
    /// ```
    /// use vgdp_sim::scenario::Scenario;
    ///
    /// let text = r#"{
    ///   "schema": "vgdp-sim/scenario/1",
    ///   "name": "two-cancels",
    ///   "sentence": "The user cancels two uploads.",
    ///   "tasks": 2,
    ///   "allows": { "Cancle": 2 }
    /// }"#;
    /// let error = Scenario::read(text).unwrap_err().to_string();
    /// assert!(error.starts_with("line 6, column 16: no disturbance is called `Cancle`; did you mean `Cancel`?"));
    ///
    /// let scenario = Scenario::read(&text.replace("Cancle", "Cancel"))?;
    /// assert_eq!((scenario.name, scenario.tasks), ("two-cancels", 2));
    /// assert_eq!(Scenario::read(&scenario.to_json())?, scenario);
    /// # Ok::<(), vgdp_sim::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is no JSON, names what there is not, leaves a range, or says what would be in vain; the error
    /// says where, and what to write instead.
    pub fn read(text: &str) -> Result<Scenario, ScenarioError> {
        Reader { text, strict: true }.scenario()
    }

    /// Reads the scenario with which `text` begins, which begins in that line and column of a file; and how many bytes
    /// it takes.
    pub(crate) fn read_first(text: &str, line: usize, column: usize) -> Result<(Scenario, usize), ScenarioError> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let read = match values.next() {
            Some(Err(it)) => Err(malformed(&it)),
            Some(Ok(it)) => Reader { text: it.get(), strict: false }.scenario(),
            None => Err(ScenarioError { line: 1, column: 1, what: "a scenario is missing here".to_owned() }),
        };
        read.map(|it| (it, values.byte_offset())).map_err(|it| it.behind(line, column))
    }

    /// The scenario as a file, whole, to be edited. [`read`](Scenario::read) makes the same scenario of it.
    pub fn to_json(&self) -> String {
        let Scenario { name, sentence, kind, nodes, tasks, limit, price, allows, only_while, .. } = self;
        let Scenario { volumes_at, times, ticks, reports_progress, merges_enqueue, .. } = self;
        let allows = allows.iter().map(|(what, count)| (format!("{what:?}"), count.to_string()));
        let only_while = only_while.iter().map(|(what, phases)| (format!("{what:?}"), list(phases)));
        let volumes_at = volumes_at.map_or("null".to_owned(), |it| quoted(&it.to_string()));
        let moved = Obligation::ALL.iter().filter(|it| times.span(**it) != it.span());
        let latencies = moved.map(|it| {
            let Span { earliest, latest } = times.span(*it);
            let latest = latest.map_or("null".to_owned(), |it| it.to_string());
            (format!("{it:?}"), format!("{{ \"earliest\": {earliest}, \"latest\": {latest} }}"))
        });
        let values = [
            quoted(FORMAT),
            quoted(name),
            quoted(sentence),
            quoted(kind.name()),
            nodes.to_string(),
            tasks.to_string(),
            limit.to_string(),
            price.to_string(),
            object(allows, 2),
            object(only_while, 2),
            volumes_at,
            object(latencies, 2),
            format!("\"{ticks:?}\""),
            reports_progress.to_string(),
            merges_enqueue.to_string(),
        ];
        object(MEMBERS.map(str::to_owned).into_iter().zip(values), 0) + "\n"
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(of: &[impl Debug]) -> String {
    let all: Vec<String> = of.iter().map(|it| format!("\"{it:?}\"")).collect();
    format!("[{}]", all.join(", "))
}

/// An object with a member a line.
fn object(members: impl Iterator<Item = (String, String)>, indent: usize) -> String {
    let all: Vec<String> = members.map(|(name, value)| format!("{:indent$}  \"{name}\": {value}", "")).collect();
    if all.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n{:indent$}}}", all.join(",\n"), "") }
}

/// What is no JSON.
fn malformed(it: &serde_json::Error) -> ScenarioError {
    let told = it.to_string();
    let told = told.split(" at line ").next().unwrap_or_default();
    let what = format!("this is no JSON: {told}; `vgdp-sim scenario show cancel` prints a scenario as it must look");
    ScenarioError { line: it.line().max(1), column: it.column().max(1), what }
}

/// A scenario whose names and lists are not yet kept for good.
struct Parts {
    name: String,
    sentence: String,
    allows: Vec<(Disturbance, u8)>,
    only_while: Vec<(Disturbance, Vec<Phase>)>,
    rest: Scenario,
}

/// What was read. A scenario is passed around freely and borrows its texts, so they stay as long as the program.
static READ: Mutex<BTreeMap<String, Scenario>> = Mutex::new(BTreeMap::new());

impl Parts {
    /// The scenario that `text` means.
    fn kept_for(self, text: &str) -> Scenario {
        let mut read = READ.lock().expect("nobody panics while holding it");
        if let Some(it) = read.get(text) {
            return it.clone();
        }
        let Parts { name, sentence, allows, only_while, rest } = self;
        let only_while = only_while.into_iter().map(|(what, phases)| (what, &*phases.leak()));
        let only_while: Vec<(Disturbance, &'static [Phase])> = only_while.collect();
        let it = Scenario {
            name: name.leak(),
            sentence: sentence.leak(),
            allows: allows.leak(),
            only_while: only_while.leak(),
            ..rest
        };
        read.insert(text.to_owned(), it.clone());
        it
    }
}

/// A member of an object: both are parts of the text, so that each is where it stands.
struct Member<'a> {
    name: Cow<'a, str>,
    value: &'a str,
}

impl Member<'_> {
    /// Where its name stands; where that has an escape, its value.
    fn place(&self) -> &str {
        match &self.name {
            Cow::Borrowed(it) => it,
            Cow::Owned(_) => self.value,
        }
    }
}

/// The members of an object, as they follow each other.
struct Members<'a>(Vec<Member<'a>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(of: D) -> Result<Members<'de>, D::Error> {
        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut all = Vec::new();
                while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    all.push(Member { name, value: value.get() });
                }
                Ok(Members(all))
            }
        }
        of.deserialize_map(All)
    }
}

/// Reads one text.
struct Reader<'a> {
    text: &'a str,
    /// Whether what would be in vain is refused.
    strict: bool,
}

impl<'a> Reader<'a> {
    /// What is wrong with `part` of the text.
    fn wrong(&self, part: &str, what: impl Into<String>) -> ScenarioError {
        let offset = part.as_ptr().addr() - self.text.as_ptr().addr();
        let before = &self.text[..offset];
        let line = before.rfind('\n').map_or(before, |it| &before[it + 1..]);
        ScenarioError { line: before.matches('\n').count() + 1, column: line.chars().count() + 1, what: what.into() }
    }

    /// Refuses what would be in vain, where a person has written it.
    fn unless_in_vain(&self, sensible: bool, part: &str, what: impl FnOnce() -> String) -> Result<(), ScenarioError> {
        if sensible || !self.strict { Ok(()) } else { Err(self.wrong(part, what())) }
    }

    fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let whole: &RawValue = serde_json::from_str(self.text).map_err(|it| malformed(&it))?;
        let whole = whole.get();
        let example = format!("{{ \"schema\": \"{FORMAT}\", ... }}");
        let members = self.members(whole, "a scenario", &example)?;
        let member = |name: &str| members.iter().find(|it| it.name == name);
        for it in &members {
            if it.name != "$schema" && !MEMBERS.contains(&&*it.name) {
                let (name, nearest) = (&it.name, nearest(&it.name, MEMBERS).unwrap_or_default());
                let what = format!("a scenario has no `{name}`; did you mean `{nearest}`?");
                return Err(self.wrong(it.place(), what));
            }
        }
        for (name, example) in [("schema", FORMAT), ("name", "my-scenario"), ("sentence", "The user cancels.")] {
            if member(name).is_none() {
                let what = format!("the scenario has no `{name}`; write `\"{name}\": \"{example}\"`, say");
                return Err(self.wrong(whole, what));
            }
        }
        let mut parts = Parts {
            name: String::new(),
            sentence: String::new(),
            allows: Vec::new(),
            only_while: Vec::new(),
            rest: Scenario::default(),
        };
        for it in &members {
            self.read(it, &mut parts)?;
        }
        self.fits_together(&members, &parts)?;
        let scenario = parts.kept_for(self.text);
        let name = member("name").map_or(whole, |it| it.value);
        let taken = Scenario::named(scenario.name).is_ok() && !scenario.is_built_in();
        self.unless_in_vain(!taken, name, || {
            let name = scenario.name;
            format!(
                "`{name}` is built in, and this scenario is another one; give it a name of its own, such as `\"name\": \"my-{name}\"`"
            )
        })?;
        Ok(scenario)
    }

    fn read(&self, it: &Member<'a>, parts: &mut Parts) -> Result<(), ScenarioError> {
        let rest = &mut parts.rest;
        match &*it.name {
            "schema" => {
                let schema = self.text(it, FORMAT)?;
                if schema != FORMAT {
                    let what =
                        format!("this program reads `{FORMAT}`, and not `{schema}`; write `\"schema\": \"{FORMAT}\"`");
                    return Err(self.wrong(it.value, what));
                }
            }
            "name" => {
                parts.name = self.text(it, "my-scenario")?;
                self.unless_in_vain(is_a_name(&parts.name), it.value, || {
                    "a name is lower-case words and digits joined by `-`; write `\"name\": \"my-scenario\"`, say"
                        .to_owned()
                })?;
            }
            "sentence" => {
                parts.sentence = self.text(it, "The user cancels.")?;
                self.unless_in_vain(!parts.sentence.trim().is_empty(), it.value, || {
                    "the sentence is empty; write `\"sentence\": \"The user cancels.\"`, say".to_owned()
                })?;
            }
            "kind" => {
                let kinds = [Kind::DataUpload, Kind::DataDownload];
                rest.kind = self.one_of("kind", &kinds, it.value, &self.text(it, "DataUpload")?)?;
            }
            "nodes" => rest.nodes = self.count(it, 1..=NODES as u8)?,
            "tasks" => rest.tasks = self.count(it, 1..=TASKS as u8)?,
            "limit" => rest.limit = self.count(it, 1..=u8::MAX)?,
            "price" => rest.price = self.count(it, 0..=u8::MAX)?,
            "allows" => parts.allows = self.allows(it)?,
            "only_while" => parts.only_while = self.only_while(it)?,
            "volumes_at" => rest.volumes_at = self.node(it)?,
            "latencies" => rest.times = self.latencies(it)?,
            "ticks" => rest.ticks = self.one_of("ticks", &Ticks::ALL, it.value, &self.text(it, "Boundaries")?)?,
            "reports_progress" => rest.reports_progress = self.truth(it)?,
            "merges_enqueue" => rest.merges_enqueue = self.truth(it)?,
            _ => {} // "$schema" is for editors
        }
        Ok(())
    }

    /// Refuses what one member says in vain because of what another says.
    fn fits_together(&self, members: &[Member<'a>], parts: &Parts) -> Result<(), ScenarioError> {
        let Parts { allows, only_while, rest, .. } = parts;
        let inside = |name: &str, what: Disturbance| {
            let it = members.iter().find(|it| it.name == name);
            let inner = it.and_then(|it| serde_json::from_str::<Members<'a>>(it.value).ok());
            let found = inner.and_then(|all| all.0.into_iter().find(|it| it.name == format!("{what:?}")));
            found.map_or(self.text, |it| it.value)
        };
        for &(what, count) in allows {
            let (cost, price) = (what.price(), rest.price);
            self.unless_in_vain(cost <= price || count == 0, inside("allows", what), || {
                format!(
                    "`{what:?}` costs {cost}, and the price of the scenario is {price}, so it never happens; write `\"price\": {cost}` or more, or leave it out"
                )
            })?;
        }
        for &(what, _) in only_while {
            self.unless_in_vain(allows.iter().any(|it| it.0 == what), inside("only_while", what), || {
                format!("the scenario does not allow `{what:?}`; write `\"allows\": {{ \"{what:?}\": 1 }}`, or leave it out here")
            })?;
        }
        let node = members.iter().find(|it| it.name == "volumes_at").map_or(self.text, |it| it.value);
        let (nodes, at) = (rest.nodes, rest.volumes_at);
        self.unless_in_vain(at.is_none_or(|it| it.0 < nodes), node, || {
            format!("the scenario has {nodes} node(s), from `n0` on; write one of those, or more `nodes`")
        })
    }

    fn members(&self, value: &'a str, what: &str, example: &str) -> Result<Vec<Member<'a>>, ScenarioError> {
        let Members(all) = serde_json::from_str(value)
            .map_err(|_| self.wrong(value, format!("{what} is an object; write `{example}`")))?;
        for (index, it) in all.iter().enumerate() {
            if all[..index].iter().any(|other| other.name == it.name) {
                let what = format!("`{}` is given a second time; leave out one of them", it.name);
                return Err(self.wrong(it.place(), what));
            }
        }
        Ok(all)
    }

    fn text(&self, it: &Member<'_>, example: &str) -> Result<String, ScenarioError> {
        let name = &it.name;
        serde_json::from_str(it.value)
            .map_err(|_| self.wrong(it.value, format!("`{name}` is a text; write `\"{name}\": \"{example}\"`, say")))
    }

    fn truth(&self, it: &Member<'_>) -> Result<bool, ScenarioError> {
        let name = &it.name;
        serde_json::from_str(it.value)
            .map_err(|_| self.wrong(it.value, format!("`{name}` is `true` or `false`; write `\"{name}\": true`, say")))
    }

    /// A whole number in its range; the error tells the nearest.
    fn number(&self, it: &Member<'_>, range: RangeInclusive<u16>) -> Result<u16, ScenarioError> {
        let (least, most) = (*range.start(), *range.end());
        it.value.parse().ok().filter(|it| range.contains(it)).ok_or_else(|| {
            let name = &it.name;
            let near = it.value.parse().map_or(least.into(), |it: i64| it.clamp(least.into(), most.into()));
            self.wrong(
                it.value,
                format!("`{name}` is a whole number from {least} to {most}; write `\"{name}\": {near}`, say"),
            )
        })
    }

    fn count(&self, it: &Member<'_>, range: RangeInclusive<u8>) -> Result<u8, ScenarioError> {
        let range = u16::from(*range.start())..=u16::from(*range.end());
        Ok(self.number(it, range)?.try_into().expect("a number from a range of bytes"))
    }

    /// One of `all` by its name.
    fn one_of<T: Copy + Debug>(&self, what: &str, all: &[T], at: &str, typed: &str) -> Result<T, ScenarioError> {
        let names: Vec<String> = all.iter().map(|it| format!("{it:?}")).collect();
        if let Some(index) = names.iter().position(|it| it == typed) {
            return Ok(all[index]);
        }
        let nearest = nearest(typed, names.iter().map(String::as_str)).unwrap_or_default();
        let names = names.join(", ");
        let typed: String = typed.chars().take(60).collect();
        Err(self.wrong(at, format!("no {what} is called `{typed}`; did you mean `{nearest}`? (There are {names}.)")))
    }

    fn disturbances(&self, it: &Member<'a>, example: &str) -> Result<Vec<(Disturbance, Member<'a>)>, ScenarioError> {
        let name = &it.name;
        let all = self.members(it.value, &format!("`{name}`"), &format!("\"{name}\": {example}"))?;
        let named = |it: Member<'a>| {
            let what = self.one_of("disturbance", Disturbance::ALL, it.place(), &it.name)?;
            Ok((what, it))
        };
        all.into_iter().map(named).collect()
    }

    fn allows(&self, it: &Member<'a>) -> Result<Vec<(Disturbance, u8)>, ScenarioError> {
        let all = self.disturbances(it, "{ \"Cancel\": 1 }")?;
        all.into_iter().map(|(what, it)| Ok((what, self.count(&it, 0..=u8::MAX)?))).collect()
    }

    fn only_while(&self, it: &Member<'a>) -> Result<Vec<(Disturbance, Vec<Phase>)>, ScenarioError> {
        let mut all = Vec::new();
        for (what, it) in self.disturbances(it, "{ \"Cancel\": [\"Prepared\"] }")? {
            self.unless_in_vain(TRIGGERED.contains(&what), it.place(), || {
                let of: Vec<String> = TRIGGERED.iter().map(|it| format!("`{it:?}`")).collect();
                format!("`{what:?}` asks for no phase, only {} do; leave it out here", of.join(", "))
            })?;
            let phases: Vec<&'a RawValue> = serde_json::from_str(it.value).map_err(|_| {
                self.wrong(
                    it.value,
                    format!("phases are a list; write `\"{what:?}\": [\"Prepared\", \"InProgress\"]`, say"),
                )
            })?;
            self.unless_in_vain(!phases.is_empty(), it.value, || {
                format!("no phase is given, so `{what:?}` never happens; write `\"{what:?}\": [\"Prepared\"]`, say")
            })?;
            let mut read = Vec::new();
            for phase in phases {
                let phase = phase.get();
                let phase = self.one_of("phase", &Phase::ALL, phase, phase.trim_matches('"'))?;
                if !read.contains(&phase) {
                    read.push(phase);
                }
            }
            all.push((what, read));
        }
        Ok(all)
    }

    fn node(&self, it: &Member<'_>) -> Result<Option<NodeId>, ScenarioError> {
        if it.value == "null" {
            return Ok(None);
        }
        let nodes: Vec<NodeId> = (0..NODES as u8).map(NodeId).collect();
        self.one_of("node", &nodes, it.value, &self.text(it, "n0")?).map(Some)
    }

    fn latencies(&self, it: &Member<'a>) -> Result<Times, ScenarioError> {
        let mut times = Times::default();
        let example = "\"latencies\": { \"Relist\": { \"earliest\": 1, \"latest\": 60 } }";
        for it in self.members(it.value, "`latencies`", example)? {
            let what = self.one_of("assumption", Obligation::ALL, it.place(), &it.name)?;
            times = times.with(what, self.span(what, &it)?);
        }
        Ok(times)
    }

    fn span(&self, what: Obligation, it: &Member<'a>) -> Result<Span, ScenarioError> {
        let mut span = what.span();
        let example = format!("\"{what:?}\": {{ \"earliest\": {} }}", span.earliest);
        for bound in self.members(it.value, &format!("`{what:?}`"), &example)? {
            match &*bound.name {
                "earliest" => span.earliest = self.number(&bound, 0..=LATEST)?,
                "latest" if bound.value == "null" => span.latest = None,
                "latest" => span.latest = Some(self.number(&bound, 0..=LATEST)?),
                other => {
                    let nearest = nearest(other, ["earliest", "latest"]).unwrap_or_default();
                    let what = format!("`{what:?}` has no `{other}`; did you mean `{nearest}`?");
                    return Err(self.wrong(bound.place(), what));
                }
            }
        }
        let Span { earliest, latest } = span;
        let is_age = AGES.contains(&what);
        if let Some(latest) = latest.filter(|it| *it < earliest) {
            let told = format!(
                "`{what:?}` ends, at {latest} s, before it begins, at {earliest} s; write `\"latest\": {earliest}` or more"
            );
            return Err(self.wrong(it.value, told));
        }
        self.unless_in_vain(!is_age || (latest.is_none() && earliest <= OLDEST), it.value, || {
            format!("`{what:?}` is from when on something may be done, no later than {OLDEST} s, and has no `latest`; write `{example}`, say")
        })?;
        self.unless_in_vain(what != Obligation::Epilog || latest == Some(earliest), it.value, || {
            format!("`{what:?}` is exact; write `\"{what:?}\": {{ \"earliest\": {earliest}, \"latest\": {earliest} }}`")
        })?;
        Ok(span)
    }
}

/// Lower-case words and digits, joined by `-`.
fn is_a_name(text: &str) -> bool {
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    text.split('-').all(is_word)
}

/// What a scenario is, in one paragraph.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scenario { name, sentence, kind, nodes, tasks, limit, price, allows, only_while, .. } = self;
        let Scenario { volumes_at, times, ticks, reports_progress, merges_enqueue, .. } = self;
        let counted = |number: u8, what: &str| crate::report::counted(u64::from(number), what);
        write!(
            f,
            "{name}: {sentence} It has {}, {} of kind {} and {} a node",
            counted(*nodes, "node"),
            counted(*tasks, "task"),
            kind.name(),
            counted(*limit, "slot"),
        )?;
        if let Some(n) = volumes_at {
            write!(f, "; all volumes are tied to {n}")?;
        }
        let mut may = String::new();
        for (what, count) in *allows {
            let _ = write!(may, "; {what:?} x{count}, price {}, {}", what.price(), what.what());
            if let Some((_, phases)) = only_while.iter().find(|it| it.0 == *what) {
                let phases: Vec<String> = phases.iter().map(|it| format!("{it:?}")).collect();
                let _ = write!(may, ", only while {}", phases.join(" or "));
            }
        }
        match may.strip_prefix("; ") {
            Some(may) => write!(f, ". For a price of {price} together it allows: {may}.")?,
            None => f.write_str(". Nobody interferes.")?,
        }
        for it in Obligation::ALL.iter().filter(|it| times.span(**it) != it.span()) {
            write!(f, " {it:?} takes {} instead of {}.", seconds(times.span(*it)), seconds(it.span()))?;
        }
        if *ticks != Ticks::default() {
            write!(f, " It has {}.", ticks.what())?;
        }
        if !reports_progress {
            f.write_str(" Transfers report no progress.")?;
        }
        if *merges_enqueue {
            f.write_str(" Caches and enqueue-only listeners move in one step.")?;
        }
        Ok(())
    }
}

/// `1 s to 30 s`.
fn seconds(Span { earliest, latest }: Span) -> String {
    match latest {
        Some(latest) if latest == earliest => format!("exactly {earliest} s"),
        Some(latest) => format!("{earliest} s to {latest} s"),
        None => format!("{earliest} s or more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of what phases trigger is that of the rules.
    #[test]
    fn what_is_tied_to_phases_asks_for_them() {
        let asks =
            |it: &Disturbance| include_str!("../model/user.rs").contains(&format!("permits(Disturbance::{it:?},"));
        let asking: Vec<Disturbance> = Disturbance::ALL.iter().copied().filter(asks).collect();
        assert_eq!(asking, TRIGGERED);
    }

    #[test]
    fn a_text_that_is_read_again_takes_no_more_room() {
        let text = Scenario::named("anything").unwrap().to_json();
        let (one, two) = (Scenario::read(&text).unwrap(), Scenario::read(&text).unwrap());
        assert!(std::ptr::eq(one.name, two.name) && std::ptr::eq(one.allows, two.allows));
    }

    #[test]
    fn a_place_counts_from_where_the_text_stands() {
        let first = |text| Scenario::read_first(text, 3, 11).map_err(|it| (it.line, it.column));
        assert_eq!(first("{ \"nam\": 1 }"), Err((3, 14)));
        assert_eq!(first("{\n  \"nam\": 1 }"), Err((4, 4)));
        assert_eq!(first("{ nodes: 1 }"), Err((3, 13)));
        let normal = Scenario::default();
        let text = normal.to_json();
        assert_eq!(first(&format!("{text}rest")), Ok((normal, text.trim_end().len())));
    }
}
