//! A schedule as a regression tells it: JSON with `scenario` and `schedule`, a list of actions, and perhaps `nodes`, `tasks`,
//! `design` and `invariant`. What else stands there is for people.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Headers, Schedule, ScheduleError, action};

/// What of the file makes a schedule, each as it stands there.
#[derive(Deserialize)]
struct Regression<'a> {
    #[serde(borrow)]
    scenario: &'a RawValue,
    nodes: Option<&'a RawValue>,
    tasks: Option<&'a RawValue>,
    design: Option<&'a RawValue>,
    invariant: Option<&'a RawValue>,
    schedule: Vec<&'a RawValue>,
}

/// What other files of this program say that they are.
#[derive(Deserialize)]
struct Other {
    schema: String,
}

/// Whether a text is meant to be JSON: no line of a schedule begins so.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Errors name the lines of the file.
pub(super) fn read(text: &str) -> Result<Schedule, ScheduleError> {
    if let Ok(Other { schema }) = serde_json::from_str(text) {
        return Err(ScheduleError::Json { what: format!("it is `{schema}`") });
    }
    let Regression { scenario, nodes, tasks, design, invariant, schedule: actions } =
        serde_json::from_str(text).map_err(|it| ScheduleError::Json { what: it.to_string() })?;
    let mut headers = Headers::default();
    let given = [("nodes", nodes), ("tasks", tasks), ("design", design), ("invariant", invariant)];
    let given = given.into_iter().filter_map(|(header, it)| Some((header, it?)));
    for (header, it) in [("scenario", scenario)].into_iter().chain(given) {
        headers.set(line(text, it), header, &word(it))?;
    }
    let mut schedule = headers.schedule(line(text, scenario))?;
    for it in actions {
        let line = line(text, it);
        schedule.actions.push(action(line, &word(it), &schedule.scenario)?);
        schedule.lines.push(line);
    }
    Ok(schedule)
}

/// A text without its quotation marks; all else as it stands.
fn word(it: &RawValue) -> String {
    serde_json::from_str(it.get()).unwrap_or_else(|_| it.get().to_owned())
}

/// The line in which a part of the text begins.
fn line(text: &str, part: &RawValue) -> usize {
    let offset = part.get().as_ptr().addr() - text.as_ptr().addr();
    text[..offset].matches('\n').count() + 1
}
