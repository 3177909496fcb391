//! An explained violation as Markdown, ready to be pasted into a pull request.

use std::fmt::Write as _;

use super::explained::{self, Entry};
use super::{duration, mermaid};
use crate::search::Explained;

/// GitHub takes comments of 65,536 characters. What is longer than this leaves its diagram out and says so.
pub const LIMIT: usize = 60_000;

/// The story, the twin, the verdict, the command that replays it, and a folded sequence diagram.
pub fn text(it: &Explained<'_>) -> String {
    let told = story(it);
    let diagram = format!(
        "\n<details>\n<summary>Sequence diagram</summary>\n\n```mermaid\n{}```\n\n</details>\n",
        mermaid::text(it)
    );
    if told.len() + diagram.len() > LIMIT {
        return told + "\nThe sequence diagram is too long for a comment; `--format mermaid` makes it.\n";
    }
    told + &diagram
}

fn story(it: &Explained<'_>) -> String {
    let mut out = String::new();
    let say = |out: &mut String, title: &str, text: &str| {
        let _ = writeln!(out, "\n**{title}** {}", escaped(text));
    };
    let _ = writeln!(out, "### `{}`: {}\n", explained::invariant(it).id, escaped(explained::invariant(it).sentence));
    let _ = writeln!(out, "{}", escaped(&explained::verdict(it)));
    let _ = writeln!(out, "\nEverybody takes turns, but for what is numbered.\n");
    let _ = writeln!(out, "| time | | what happens |\n|--:|:-:|---|");
    for Entry { time, mark, text } in explained::story(it) {
        let mark = match mark.as_str() {
            "==" => "⛔".to_owned(),
            "!!" => "❌".to_owned(),
            "" => String::new(),
            number => format!("**{}**", number.trim_end_matches('.')),
        };
        let _ = writeln!(out, "| +{} | {mark} | {} |", duration(time), escaped(&text));
    }
    say(&mut out, "No way back.", &explained::no_way_back(it));
    say(&mut out, "The same run less one deviation.", &explained::the_twin(it));
    say(&mut out, "What it costs.", &explained::the_price(it));
    let _ = writeln!(out, "\n```sh\n{}\n```", explained::command(it));
    out
}

/// Actions as code; and what Markdown, a table or a mention would take for something else is taken literally.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((from, to)) = action_in(rest) {
        out.extend(rest[..from].chars().flat_map(literally));
        let _ = write!(out, "`{}`", &rest[from..to]);
        rest = &rest[to..];
    }
    out.extend(rest.chars().flat_map(literally));
    out
}

/// Where the first action of a text stands, such as `user::cancels(a)`.
fn action_in(text: &str) -> Option<(usize, usize)> {
    let colons = text.find("::")?;
    let from = text[..colons].rfind(|it: char| !it.is_ascii_lowercase() && it != '_').map_or(0, |it| it + 1);
    let to = colons + text[colons..].find(')')? + 1;
    Some((from, to))
}

fn literally(c: char) -> impl Iterator<Item = char> {
    let means_something = matches!(c, '|' | '*' | '_' | '<' | '>' | '`' | '[' | ']' | '\\' | '#' | '~' | '@');
    means_something.then_some('\\').into_iter().chain([c])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_code_and_all_else_is_literal() {
        assert_eq!(escaped("a_b (user::cancels(a)), x|y"), "a\\_b (`user::cancels(a)`), x\\|y");
        assert_eq!(escaped("worker::reads(n0, a) and @b"), "`worker::reads(n0, a)` and \\@b");
        assert_eq!(escaped("a::b"), "a::b");
    }
}
