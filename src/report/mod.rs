//! What is shown to people: schedules as text, timelines, tables.
//!
//! Everything here makes text and prints nothing, so a test, a notebook or another command line can use it as well.
//! The same input gives the same bytes: no clock, no path of this machine, no width but the one asked for.

pub mod comparison;
pub mod expected;
pub mod explained;
pub mod facts;
pub mod itf;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod merge;
pub mod mermaid;
pub mod page;
pub mod proof;
pub mod rulebook;
pub mod schedule;
pub mod sensitivity;
pub mod summary;
pub mod tables;
pub mod timeline;
pub mod token;
pub mod told;

pub use comparison::Tokens;
pub use expected::{Expected, ExpectedError};
pub use facts::{Change, Fact, Scope, changes, facts};
pub use rulebook::{Citation, citation};
pub use schedule::{Replayed, Schedule, ScheduleError, Then};
pub use summary::command_of_run;
pub use timeline::{About, Aside, Lane, Lanes, Missed, OutOfScope, Story, Style, UnknownLane};
pub use token::{Token, TokenError};
pub use told::Told;

/// The nearest of `names` to what was typed, by the fewest edits; the first of them where several are as near.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names.into_iter().min_by_key(|it| edits(typed, it))
}

fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

/// Seconds as `12s`, `5m02s` or `4h00m10s`.
pub fn duration(seconds: u32) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest:02}s"),
        _ => format!("{hours}h{minutes:02}m{rest:02}s"),
    }
}

/// A number with a comma between each three digits: `20,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 step`, `2 steps`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Text as XML or HTML, in an element or an attribute.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Breaks `text` at spaces into lines of at most `width` characters; a word that is longer gets a line of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        let line = lines.last_mut().expect("there is always a line");
        if used > 0 && used + 1 + length > width {
            lines.push(word.to_owned());
            used = length;
        } else {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
}

/// `text` broken into lines of `width`, each after `indent` spaces, each ended.
pub(crate) fn paragraph(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    for line in wrapped(text, width.saturating_sub(indent).max(20)) {
        out.push_str(&" ".repeat(indent));
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_takes_the_fewest_edits() {
        assert_eq!(nearest("cancle", ["normal", "cancel", "anything"]), Some("cancel"));
        assert_eq!(nearest("", ["abc", "a"]), Some("a"));
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn durations_read_as_a_person_would_say_them() {
        assert_eq!([0, 59, 302, 14_410].map(duration), ["0s", "59s", "5m02s", "4h00m10s"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 20_000, 1_234_567].map(grouped), ["0", "999", "1,000", "20,000", "1,234,567"]);
    }

    #[test]
    fn lines_break_at_spaces_and_never_inside_a_word() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible it is", 5), ["incomprehensible", "it is"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
