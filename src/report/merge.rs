//! Joins the [shards](crate::search::Shard) of a comparison, as [`json`](super::json) wrote them, into the JSON of the whole.
//!
//! What was found stands in the result byte for byte as it stood in its shard. So it is what one machine would have written,
//! if the shards are as they were written; of files that something has laid out anew since, it has the new layout.
//!
//! That shards belong together is judged by what they say of themselves: the version, the effort, and every word about the
//! invariants, the designs and the scenarios. Nothing tells apart two builds of one version.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{Part, SCHEMA};
use crate::search::Shard;

/// A whole comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// What `vgdp-sim compare --json` prints.
    pub json: String,
    /// Runs by chance that came to no rest.
    pub undecided: u64,
    /// The scenarios in which nothing that they allow ever acted, by name.
    pub vacuous: Vec<String>,
}

/// Why files do not make a comparison.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There are no files.
    #[error("there is nothing to merge; give files that `vgdp-sim compare --shard I/N --json` printed")]
    Nothing,
    /// A file that is no JSON; perhaps it was not written to its end.
    #[error("`{file}` is not JSON: {why}; make it anew with `vgdp-sim compare --shard I/N --json`")]
    NoJson {
        /// The file.
        file: String,
        /// What is wrong, and where.
        why: String,
    },
    /// JSON that says another schema than a comparison's, or none.
    #[error(
        "`{file}` has {found} and not the schema `{SCHEMA}`; give files that `vgdp-sim compare --shard I/N --json` printed"
    )]
    Schema {
        /// The file.
        file: String,
        /// What it has instead.
        found: String,
    },
    /// A comparison that is whole.
    #[error(
        "`{file}` is a whole comparison and no shard; give files that `vgdp-sim compare --shard I/N --json` printed"
    )]
    Whole {
        /// The file.
        file: String,
    },
    /// A shard as no `compare` has written it.
    #[error("`{file}` is not as it was written: {what}; make it anew with `vgdp-sim compare --shard I/N --json`")]
    Changed {
        /// The file.
        file: String,
        /// What is wrong there.
        what: String,
    },
    /// Shards of two comparisons.
    #[error(
        "`{first}` and `{file}` are of different comparisons: they differ in {what}; give the shards of one of them"
    )]
    Differs {
        /// The file.
        file: String,
        /// The first of the files.
        first: String,
        /// In what.
        what: String,
    },
    /// The same shard in two files.
    #[error("`{first}` and `{file}` both are shard {shard}; give one of them")]
    Twice {
        /// The file.
        file: String,
        /// An earlier one.
        first: String,
        /// Which shard both are.
        shard: Shard,
    },
    /// Shards that no file is of.
    #[error(
        "`{first}` is one of {} shards, and not all are given: {count} missing, the first {missing}; make it with `vgdp-sim compare --shard {missing} --json` and the other options that made `{first}`",
        missing.of()
    )]
    Missing {
        /// The first of the files.
        first: String,
        /// How many are missing.
        count: u64,
        /// The first that is.
        missing: Shard,
    },
}

/// Joins the shards of one comparison, each the name and the text of a file, in any order.
///
/// # Errors
///
/// When they are not all the shards of one comparison, each once.
pub fn merge(files: &[(String, String)]) -> Result<Merged, MergeError> {
    let mut shards = files.iter().map(|(file, text)| InFile::read(file, text)).collect::<Result<Vec<_>, _>>()?;
    let [first, others @ ..] = &shards[..] else { return Err(MergeError::Nothing) };
    others.iter().try_for_each(|it| it.belongs_to(first))?;
    let first = first.file;
    shards.sort_by_key(|it| it.shard); // a stable sort: of two alike the earlier comes first
    are_complete(&shards, first)?;
    whole(&shards)
}

/// Each shard once, in their order.
fn are_complete(shards: &[InFile<'_>], first: &str) -> Result<(), MergeError> {
    if let Some((a, b)) = shards.iter().zip(&shards[1..]).find(|(a, b)| a.shard == b.shard) {
        return Err(MergeError::Twice { file: b.file.to_owned(), first: a.file.to_owned(), shard: b.shard });
    }
    let of = shards[0].shard.of();
    let all = (1..=of).filter_map(|number| Shard::new(number, of));
    let given = shards.iter().map(|it| Some(it.shard)).chain([None]);
    match all.zip(given).find(|(shard, given)| Some(*shard) != *given) {
        Some((missing, _)) => {
            let count = u64::from(of) - shards.len() as u64;
            Err(MergeError::Missing { first: first.to_owned(), count, missing })
        }
        None => Ok(()),
    }
}

/// The first of the shards, with the pairs of all.
fn whole(shards: &[InFile<'_>]) -> Result<Merged, MergeError> {
    let InFile { document, scenarios, designs, .. } = &shards[0];
    let (mut undecided, mut vacuous) = (0, Vec::new());
    let mut places = Vec::new();
    for (s, (scenario, place)) in scenarios.0.iter().enumerate() {
        let mut pairs = Vec::new();
        for (d, design) in designs.iter().enumerate() {
            let index = s * designs.len() + d;
            let shard = &shards[index % shards.len()];
            let pair = shard.pairs[index / shards.len()];
            let tried: Tried =
                shard.parsed(pair, || format!("what it says of {scenario} and {design} is incomplete"))?;
            undecided += tried.undecided;
            if tried.vacuous && vacuous.last() != Some(scenario) {
                vacuous.push(scenario.clone());
            }
            pairs.push((design.clone(), Tree::Kept(pair)));
        }
        places.push((scenario.clone(), place.with("designs", pairs)));
    }
    let document = document.with("scenarios", places);
    let mut json = serde_json::to_string_pretty(&document).expect("what was read can be written");
    json.push('\n');
    Ok(Merged { json, undecided, vacuous })
}

/// A shard as it stands in a file.
struct InFile<'a> {
    file: &'a str,
    shard: Shard,
    /// All that it says, without which shard it is.
    document: Object<&'a RawValue>,
    scenarios: Object<Object<&'a RawValue>>,
    /// The names of all designs.
    designs: Vec<String>,
    /// What it found for each pair that it holds, in their order.
    pairs: Vec<&'a RawValue>,
}

impl<'a> InFile<'a> {
    fn read(file: &'a str, text: &'a str) -> Result<InFile<'a>, MergeError> {
        let schema = |found: String| MergeError::Schema { file: file.to_owned(), found };
        let changed = |what: &str| MergeError::Changed { file: file.to_owned(), what: what.to_owned() };
        let json: &RawValue = serde_json::from_str(text)
            .map_err(|it| MergeError::NoJson { file: file.to_owned(), why: it.to_string() })?;
        let Ok(mut document) = parsed::<Object<&RawValue>>(json) else { return Err(schema("no object".to_owned())) };
        match document.get("schema").map(|it| parsed::<String>(it)) {
            Some(Ok(it)) if it == SCHEMA => {}
            Some(Ok(it)) => return Err(schema(format!("the schema `{it}`"))),
            _ => return Err(schema("no schema".to_owned())),
        }
        let Some(shard) = document.get("shard") else { return Err(MergeError::Whole { file: file.to_owned() }) };
        let shard = parsed::<Part>(shard).ok().and_then(|it| Shard::new(it.number, it.of));
        let shard = shard.ok_or_else(|| changed("there is no such `shard`"))?;
        document.0.retain(|it| it.0 != "shard");
        let designs = document.get("designs").and_then(|it| parsed::<Object<&RawValue>>(it).ok());
        let designs: Vec<String> = designs.ok_or_else(|| changed("it has no `designs`"))?.names();
        let scenarios = document.get("scenarios").and_then(|it| parsed::<Object<Object<&RawValue>>>(it).ok());
        let scenarios = scenarios.ok_or_else(|| changed("it has no `scenarios`"))?;
        let mut pairs = Vec::new();
        for (s, (scenario, place)) in scenarios.0.iter().enumerate() {
            let held = place.get("designs").and_then(|it| parsed::<Object<&RawValue>>(it).ok());
            let held = held.ok_or_else(|| changed(&format!("the scenario {scenario} has no `designs`")))?;
            let due = designs.iter().enumerate().filter(|(d, _)| shard.holds(s * designs.len() + d));
            if !due.map(|(_, it)| it).eq(held.0.iter().map(|(it, _)| it)) {
                return Err(changed(&format!(
                    "it does not have the designs of shard {shard} in the scenario {scenario}"
                )));
            }
            pairs.extend(held.0.iter().map(|(_, it)| *it));
        }
        Ok(InFile { file, shard, document, scenarios, designs, pairs })
    }

    /// Whether both say the same of all but what they found.
    fn belongs_to(&self, first: &InFile<'_>) -> Result<(), MergeError> {
        let differs = |what: &str| {
            Err(MergeError::Differs { file: self.file.to_owned(), first: first.file.to_owned(), what: what.to_owned() })
        };
        if self.shard.of() != first.shard.of() {
            return differs("how many shards there are");
        }
        if let Some(what) = self.document.difference(&first.document, "scenarios") {
            return differs(&format!("`{what}`"));
        }
        let places = |it: &InFile<'_>| it.scenarios.names();
        if places(self) != places(first) {
            return differs("`scenarios`");
        }
        for ((scenario, a), (_, b)) in self.scenarios.0.iter().zip(&first.scenarios.0) {
            if let Some(what) = a.difference(b, "designs") {
                return differs(&format!("`{what}` of the scenario {scenario}"));
            }
        }
        Ok(())
    }

    fn parsed<'b, T: Deserialize<'b>>(&self, it: &'b RawValue, what: impl Fn() -> String) -> Result<T, MergeError> {
        parsed(it).map_err(|_| MergeError::Changed { file: self.file.to_owned(), what: what() })
    }
}

fn parsed<'a, T: Deserialize<'a>>(it: &'a RawValue) -> serde_json::Result<T> {
    serde_json::from_str(it.get())
}

/// What of a pair decides how a comparison ends.
#[derive(Deserialize)]
struct Tried {
    undecided: u64,
    vacuous: bool,
}

/// An object of JSON that keeps the order of what it has.
struct Object<T>(Vec<(String, T)>);

impl<T> Object<T> {
    fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|it| it.0 == name).map(|it| &it.1)
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|it| it.0.clone()).collect()
    }
}

impl<'a> Object<&'a RawValue> {
    /// The first name under which the two do not have the same text, `but` that one.
    fn difference(&self, other: &Object<&RawValue>, but: &str) -> Option<String> {
        let text = |it: &Object<&RawValue>, name: &str| it.get(name).map(|it| it.get().to_owned());
        let names = self.0.iter().map(|it| &it.0).chain(other.0.iter().map(|it| &it.0));
        names.filter(|it| *it != but).find(|it| text(self, it) != text(other, it)).cloned()
    }

    /// The same, but this object under that name.
    fn with(&self, name: &str, object: Vec<(String, Tree<'a>)>) -> Tree<'a> {
        let mut made = Some(Tree::Made(Object(object)));
        let entries = self.0.iter().map(|(it, kept)| {
            let made = if it == name { made.take() } else { None };
            (it.clone(), made.unwrap_or(Tree::Kept(kept)))
        });
        Tree::Made(Object(entries.collect()))
    }
}

/// JSON of which parts are as they were read.
#[derive(Serialize)]
#[serde(untagged)]
enum Tree<'a> {
    Kept(&'a RawValue),
    Made(Object<Tree<'a>>),
}

impl<T: Serialize> Serialize for Object<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, it)| (name, it)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(it) = map.next_entry()? {
            entries.push(it);
        }
        Ok(Object(entries))
    }
}
