//! A run in the Informal Trace Format (Apalache ADR-015), so that its viewers and libraries open our traces.
//!
//! Each state has the variables `action` (what led to it), `time` in seconds, and one for each fact that changes in the
//! run, named as in the world with what is no letter, digit or underscore written as an underscore. Facts that never
//! change are left out.

use serde_json::{Map, Value, json};

use super::explained;
use super::facts::{Fact, Scope, facts};
use crate::search::Explained;

/// The trace of the run.
pub fn text(it: &Explained<'_>) -> String {
    let worlds: Vec<Vec<Fact>> =
        std::iter::once(&it.run.start).chain(it.run.steps.iter().map(|it| &it.world)).map(facts).collect();
    let changing: Vec<usize> = (0..worlds[0].len())
        .filter(|&fact| worlds[0][fact].scope != Scope::Hidden)
        .filter(|&fact| worlds.iter().any(|it| it[fact].value != worlds[0][fact].value))
        .collect();
    let names: Vec<String> = changing.iter().map(|&fact| variable(&worlds[0][fact].name)).collect();
    let vars: Vec<&str> = ["action", "time"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let states: Vec<Value> = worlds
        .iter()
        .enumerate()
        .map(|(index, world)| {
            let (action, time) = match index.checked_sub(1).map(|step| &it.run.steps[step]) {
                None => ("init".to_owned(), 0),
                Some(taken) => (taken.action.to_string(), taken.time),
            };
            let mut state = Map::new();
            state.insert("#meta".to_owned(), json!({ "index": index }));
            state.insert("action".to_owned(), json!(action));
            state.insert("time".to_owned(), json!({ "#bigint": time.to_string() }));
            for (name, &fact) in names.iter().zip(&changing) {
                state.insert(name.clone(), json!(world[fact].value));
            }
            Value::Object(state)
        })
        .collect();
    let trace = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": explained::command(it),
            "description": explained::verdict(it),
        },
        "vars": vars,
        "states": states,
    });
    let mut text = serde_json::to_string_pretty(&trace).expect("a trace has no key but strings");
    text.push('\n');
    text
}

fn variable(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect()
}
