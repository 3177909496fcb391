//! A schedule as one word: `vgdp1-` and some dozens of letters and digits.
//!
//! A token says which design and scenario it is for and where the schedule departs from the normal one. It is safe to
//! copy: letters and digits but for the one hyphen, in either case, without `i`, `l`, `o` and `u`, with check
//! characters at the end.
//!
//! Names are hashed one by one, so a rule, an event, a scenario or a design that is added breaks no token; one that is
//! renamed breaks those that name it, and the error says so. A token says nothing of budgets and times: they are those of
//! the scenario of that name.
//!
//! # Format
//!
//! Crockford's base32 of the bytes below, most significant bit first, the last character filled with zeros; then four
//! characters that check them, the lower 20 bits of a hash folded by XOR with its upper 12. Hashes are FNV-1a; what has
//! more than one byte begins with its least significant one; a count is a varint of seven bits a byte.
//!
//! | bytes | meaning |
//! |---|---|
//! | count | how many bytes follow |
//! | 2 | the table of rules, all names hashed and folded: only informs |
//! | 4 | hash of the scenario's name |
//! | 4 | hash of the design's name |
//! | 1 | nodes in the upper half, tasks in the lower; the highest bit is set where [ticks](Ticks) are fine |
//! | ... | the deviations |
//!
//! A deviation is a byte of flags, then what they leave open: the event after which it is, as 4 bytes of hash and a byte
//! for its task unless it is the first, and a count unless it is its first time; the action before which it is, as 4
//! bytes of hash and a byte with its node in the upper half and its task in the lower, and a count unless it is about to
//! be taken for the first time; the action that is taken instead, or the event that is waited for.

use std::fmt;
use std::iter;

use crate::designs;
use crate::event::Event;
use crate::model::api_server::PodPhase;
use crate::model::design::Design;
use crate::model::place::{NODES, NodeId, TASKS, TaskId};
use crate::model::rules::{Action, Class, Rule};
use crate::model::time::Ticks;
use crate::scenario::Scenario;
use crate::scheduler::{Departure, Deviation, Point, Until};

/// What every token begins with, but for the version.
const NAME: &str = "vgdp";
/// The version of the format that is written and read here.
const VERSION: &str = "1";
/// Crockford's base32.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters that check the others.
const CHECKS: usize = 4;
/// The half of a byte that is no place.
const NOWHERE: u8 = 15;
/// What is set beside the nodes where ticks are fine: more nodes than there are, for whoever does not know of ticks.
const FINE: u8 = 8;

mod flag {
    /// What is done, in two bits: an action is taken, or one waits in one of three ways.
    pub(super) const ACTS: u8 = 0;
    pub(super) const WAITS_IN_INSTANT: u8 = 1;
    pub(super) const WAITS: u8 = 2;
    pub(super) const WAITS_FOR_EVENT: u8 = 3;
    pub(super) const DEPARTURE: u8 = 3;
    /// It comes after a visible change...
    pub(super) const AFTER: u8 = 1 << 2;
    /// ...that was not the first of its kind...
    pub(super) const AGAIN: u8 = 1 << 3;
    /// ...or of another task than the first.
    pub(super) const OTHER_TASK: u8 = 1 << 4;
    /// An action was about to be taken...
    pub(super) const BEFORE: u8 = 1 << 5;
    /// ...not for the first time.
    pub(super) const ONCE_MORE: u8 = 1 << 6;
    pub(super) const UNUSED: u8 = 1 << 7;
}

/// A schedule that is told by its deviations from the normal one, for a scenario and a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The scenario, in the scope of the token.
    pub scenario: Scenario,
    /// Where and how the schedule departs from the normal one.
    pub deviations: Vec<Deviation>,
    design: u32,
    rules: u16,
}

impl Token {
    /// A token for any design, built in or not.
    pub fn new(scenario: &Scenario, design: &dyn Design, deviations: &[Deviation]) -> Token {
        Token {
            scenario: scenario.clone(),
            deviations: deviations.to_vec(),
            design: hash(design.name().as_bytes()),
            rules: table_of_rules(scenario.ticks),
        }
    }

    /// Reads a token for a built-in scenario.
    ///
    /// # Errors
    ///
    /// When the text is no token, was damaged, or names what there is not; the error says what to type instead.
    pub fn read(text: &str) -> Result<Token, TokenError> {
        Token::read_among(text, &Scenario::built_in())
    }

    /// Reads a token for one of `scenarios`.
    ///
    /// # Errors
    ///
    /// As [`read`](Token::read).
    pub fn read_among(text: &str, scenarios: &[Scenario]) -> Result<Token, TokenError> {
        let bytes = unseal(text)?;
        let mut bytes = Bytes(&bytes);
        let rules = u16::from_le_bytes(bytes.take()?);
        let named = u32::from_le_bytes(bytes.take()?);
        let design = u32::from_le_bytes(bytes.take()?);
        let (nodes, tasks) = halves(bytes.byte()?);
        let (nodes, ticks) = if nodes & FINE == 0 { (nodes, Ticks::Boundaries) } else { (nodes ^ FINE, Ticks::Fine) };
        let scenario = scenarios.iter().find(|it| hash(it.name.as_bytes()) == named);
        let scenario = scenario.ok_or(TokenError::UnknownScenario { hash: named })?;
        if !(1..=NODES).contains(&usize::from(nodes)) || !(1..=TASKS).contains(&usize::from(tasks)) {
            return Err(TokenError::Senseless);
        }
        let scenario = Scenario { ticks, ..scenario.clone().scope(nodes, tasks) };
        let mut deviations = Vec::new();
        while !bytes.0.is_empty() {
            let deviation = bytes.deviation(&scenario, deviations.len() + 1)?;
            deviations.push(deviation);
        }
        Ok(Token { scenario, deviations, design, rules })
    }

    /// The built-in design that it was made for.
    ///
    /// # Errors
    ///
    /// When that design is not built in.
    pub fn design(&self) -> Result<&'static dyn Design, TokenError> {
        let known = designs::BUILT_IN.iter().find(|it| self.is_for(**it));
        known.copied().ok_or(TokenError::UnknownDesign { hash: self.design })
    }

    /// Whether it was made for a design of that name.
    pub fn is_for(&self, design: &dyn Design) -> bool {
        self.design == hash(design.name().as_bytes())
    }

    /// Whether the table of rules is another now than when the token was made. A token replays all the same, as long as
    /// what it names is still there; but the normal schedule may take another course.
    pub fn is_of_other_rules(&self) -> bool {
        self.rules != table_of_rules(self.scenario.ticks)
    }

    /// Whether `text` means to be a token, and not a file, say: it begins like one, whatever follows.
    pub fn is_meant_by(text: &str) -> bool {
        version_of(text).is_some()
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::new();
        bytes.extend(self.rules.to_le_bytes());
        bytes.extend(hash(self.scenario.name.as_bytes()).to_le_bytes());
        bytes.extend(self.design.to_le_bytes());
        let fine = if self.scenario.ticks == Ticks::Fine { FINE } else { 0 };
        bytes.push((self.scenario.nodes | fine) << 4 | self.scenario.tasks);
        for it in &self.deviations {
            write_deviation(&mut bytes, it);
        }
        f.write_str(&seal(&bytes))
    }
}

/// A text that is no token, or none that can be replayed here: why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It does not begin like one.
    #[error("a token begins with `vgdp1-`, and this does not; `vgdp-sim compare --tokens` prints tokens")]
    NotAToken,
    /// It was made by another version of the format.
    #[error(
        "the token is one of version {version}, and this program reads version 1; replay it with the program that made it"
    )]
    UnknownVersion {
        /// Which.
        version: String,
    },
    /// It has a character that no token has.
    #[error("`{character}` is in no token (letters but for u, and digits); copy it once more, as a whole")]
    Malformed {
        /// The character.
        character: char,
    },
    /// Its end is missing.
    #[error("the token is cut short, by {missing} or more characters; copy it once more, as a whole")]
    Truncated {
        /// How many characters at the least.
        missing: usize,
    },
    /// It goes on after its end.
    #[error("the token is too long, by {surplus} characters; copy it once more, and nothing that follows it")]
    TooLong {
        /// How many characters.
        surplus: usize,
    },
    /// It was damaged: its check characters say so.
    #[error("the token is damaged, at least one of its characters is wrong; copy it once more, do not type it")]
    BadCheck,
    /// It is whole and yet says nothing that makes sense.
    #[error("the token is whole but makes no sense; it was not made by this program, so make it anew with `vgdp-sim`")]
    Senseless,
    /// It is for a scenario that does not exist here.
    #[error(
        "the token is for a scenario that is not built in (its name has the hash {hash:08x}); give its file as well, with `--scenario FILE` (`vgdp-sim list scenarios` shows what is built in)"
    )]
    UnknownScenario {
        /// The hash of its name.
        hash: u32,
    },
    /// It is for a design that does not exist here.
    #[error(
        "the token is for a design that is not built in (its name has the hash {hash:08x}); say with `--design NAME` on which to replay it (`vgdp-sim list designs` shows them all)"
    )]
    UnknownDesign {
        /// The hash of its name.
        hash: u32,
    },
    /// It names a rule that does not exist here.
    #[error(
        "deviation {deviation} of the token names a rule that is not known here (the hash of its name is {hash:08x}), renamed perhaps since; replay it with the version that made it, or search anew with `vgdp-sim compare --scenario {scenario}`"
    )]
    UnknownRule {
        /// The deviation that names it, from 1.
        deviation: usize,
        /// The hash of its name.
        hash: u32,
        /// What to type for the scenario of the token.
        scenario: String,
    },
    /// It names a visible change that does not exist here.
    #[error(
        "deviation {deviation} of the token names an event that is not known here (the hash of its name is {hash:08x}), renamed perhaps since; replay it with the version that made it, or search anew with `vgdp-sim compare --scenario {scenario}`"
    )]
    UnknownEvent {
        /// The deviation that names it, from 1.
        deviation: usize,
        /// The hash of its name.
        hash: u32,
        /// What to type for the scenario of the token.
        scenario: String,
    },
}

fn write_deviation(bytes: &mut Vec<u8>, it: &Deviation) {
    let Deviation { point: Point { after, next, nth }, departure } = *it;
    let mut flags = match departure {
        Departure::Does(_) | Departure::First(_) => flag::ACTS,
        Departure::Waits(Until::LastInInstant) => flag::WAITS_IN_INSTANT,
        Departure::Waits(Until::Last) => flag::WAITS,
        Departure::Waits(Until::Event(_)) => flag::WAITS_FOR_EVENT,
    };
    let mut set = |flag, when| flags |= if when { flag } else { 0 };
    set(flag::AFTER, after.is_some());
    set(flag::AGAIN, after.is_some_and(|it| it.1 != 1));
    set(flag::OTHER_TASK, after.is_some_and(|it| it.0.task() != TaskId(0)));
    set(flag::BEFORE, next.is_some());
    set(flag::ONCE_MORE, nth != 1);
    bytes.push(flags);
    if let Some((event, nth)) = after {
        bytes.extend(name_of(event).to_le_bytes());
        if event.task() != TaskId(0) {
            bytes.push(event.task().0);
        }
        if nth != 1 {
            write_count(bytes, u64::from(nth));
        }
    }
    if let Some(action) = next {
        write_action(bytes, action);
    }
    if nth != 1 {
        write_count(bytes, u64::from(nth));
    }
    match departure {
        Departure::Does(action) | Departure::First(action) => write_action(bytes, action),
        Departure::Waits(Until::Event(event)) => {
            bytes.extend(name_of(event).to_le_bytes());
            bytes.push(event.task().0);
        }
        Departure::Waits(Until::LastInInstant | Until::Last) => {}
    }
}

fn write_action(bytes: &mut Vec<u8>, action: Action) {
    bytes.extend(hash(action.rule().name().as_bytes()).to_le_bytes());
    bytes.push(action.node().map_or(NOWHERE, |it| it.0) << 4 | action.task().map_or(NOWHERE, |it| it.0));
}

fn write_count(bytes: &mut Vec<u8>, mut count: u64) {
    while count > 0x7f {
        bytes.push(count as u8 | 0x80);
        count >>= 7;
    }
    bytes.push(count as u8);
}

/// What is still to be read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], TokenError> {
        let (&first, rest) = self.0.split_first_chunk().ok_or(TokenError::Senseless)?;
        self.0 = rest;
        Ok(first)
    }

    fn byte(&mut self) -> Result<u8, TokenError> {
        self.take().map(|[it]| it)
    }

    /// A count as it is written: with no more bytes than it needs.
    fn count(&mut self) -> Result<u64, TokenError> {
        let mut count = 0;
        for shift in (0..=56).step_by(7) {
            let byte = self.byte()?;
            count |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 { Err(TokenError::Senseless) } else { Ok(count) };
            }
        }
        Err(TokenError::Senseless)
    }

    /// The second, third or later time of something.
    fn nth(&mut self) -> Result<u8, TokenError> {
        self.count()?.try_into().ok().filter(|it| *it > 1).ok_or(TokenError::Senseless)
    }

    fn deviation(&mut self, scenario: &Scenario, deviation: usize) -> Result<Deviation, TokenError> {
        let flags = self.byte()?;
        let has = |flag| flags & flag != 0;
        if has(flag::UNUSED) || (!has(flag::AFTER) && has(flag::AGAIN | flag::OTHER_TASK)) {
            return Err(TokenError::Senseless);
        }
        let after = if has(flag::AFTER) {
            let event = u32::from_le_bytes(self.take()?);
            let task = if has(flag::OTHER_TASK) { self.byte()? } else { 0 };
            let nth = if has(flag::AGAIN) { self.nth()? } else { 1 };
            if has(flag::OTHER_TASK) && task == 0 {
                return Err(TokenError::Senseless);
            }
            Some((event_of(event, task, scenario, deviation)?, nth))
        } else {
            None
        };
        let next = if has(flag::BEFORE) { Some(self.action(scenario, deviation)?) } else { None };
        let nth = if has(flag::ONCE_MORE) { self.nth()? } else { 1 };
        let departure = match flags & flag::DEPARTURE {
            flag::ACTS => {
                let action = self.action(scenario, deviation)?;
                match action.class() {
                    Class::Operator | Class::Fault => Departure::Does(action),
                    Class::Step | Class::Clock | Class::Recovery => Departure::First(action),
                }
            }
            flag::WAITS_IN_INSTANT => Departure::Waits(Until::LastInInstant),
            flag::WAITS => Departure::Waits(Until::Last),
            _ => {
                let event = u32::from_le_bytes(self.take()?);
                let task = self.byte()?;
                Departure::Waits(Until::Event(event_of(event, task, scenario, deviation)?))
            }
        };
        Ok(Deviation { point: Point { after, next, nth }, departure })
    }

    fn action(&mut self, scenario: &Scenario, deviation: usize) -> Result<Action, TokenError> {
        let named = u32::from_le_bytes(self.take()?);
        let (node, task) = halves(self.byte()?);
        let rule = Rule::ALL.iter().find(|it| hash(it.name().as_bytes()) == named);
        let unknown = || TokenError::UnknownRule { deviation, hash: named, scenario: scenario.argument() };
        let rule = *rule.ok_or_else(unknown)?;
        let place = |half: u8, of: u8| if half < of { Ok(Some(half)) } else { Err(TokenError::Senseless) };
        let node = if node == NOWHERE { None } else { place(node, scenario.nodes)?.map(NodeId) };
        let task = if task == NOWHERE { None } else { place(task, scenario.tasks)?.map(TaskId) };
        Action::new(rule, node, task).ok_or(TokenError::Senseless)
    }
}

fn event_of(named: u32, task: u8, scenario: &Scenario, deviation: usize) -> Result<Event, TokenError> {
    if task >= scenario.tasks {
        return Err(TokenError::Senseless);
    }
    let unknown = || TokenError::UnknownEvent { deviation, hash: named, scenario: scenario.argument() };
    Event::all(TaskId(task)).find(|it| name_of(*it) == named).ok_or_else(unknown)
}

/// The hash of the name of an event, whosever it is. These names are the format, not how an event is printed.
fn name_of(event: Event) -> u32 {
    let name = match event {
        Event::Phase(_, phase) => format!("phase {phase:?}"),
        Event::Cancelled(_) => "cancelled".to_owned(),
        Event::Deleting(_) => "deleting".to_owned(),
        Event::Finalizer(_) => "finalizer".to_owned(),
        Event::NoFinalizer(_) => "no finalizer".to_owned(),
        Event::Gone(_) => "gone".to_owned(),
        Event::Pod(_, PodPhase::Absent) => "pod gone".to_owned(),
        Event::Pod(_, phase) => format!("pod {phase:?}"),
    };
    hash(name.as_bytes())
}

/// The upper and the lower half of a byte.
fn halves(byte: u8) -> (u8, u8) {
    (byte >> 4, byte & 15)
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &it| (hash ^ u32::from(it)).wrapping_mul(0x0100_0193))
}

/// All rules that schedules are made of, at a glance: it changes with every name, so it can only inform.
fn table_of_rules(ticks: Ticks) -> u16 {
    let rules = Rule::ALL.iter().filter(|it| **it != Rule::ClockStopsShort || ticks == Ticks::Fine);
    let names: Vec<u8> = rules.flat_map(|it| it.name().bytes().chain(iter::once(b'\n'))).collect();
    let hash = hash(&names);
    (hash ^ hash >> 16) as u16
}

/// The bytes as a token, with their length before and their check behind.
fn seal(bytes: &[u8]) -> String {
    let mut all = Vec::with_capacity(bytes.len() + 2);
    write_count(&mut all, bytes.len() as u64);
    all.extend(bytes);
    let mut text = format!("{NAME}{VERSION}-");
    let (mut held, mut bits) = (0_u32, 0);
    for &byte in &all {
        held = held << 8 | u32::from(byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(character(held >> bits));
        }
    }
    if bits > 0 {
        text.push(character(held << (5 - bits)));
    }
    text.extend(check(&all));
    text
}

/// The bytes of a token, if it is whole.
fn unseal(text: &str) -> Result<Vec<u8>, TokenError> {
    let (version, coded) = version_of(text).ok_or(TokenError::NotAToken)?;
    if version != VERSION {
        return Err(TokenError::UnknownVersion { version: version.chars().take(20).collect() });
    }
    let mut symbols = Vec::new();
    for it in coded.chars().filter(|it| *it != '-' && !it.is_whitespace()) {
        symbols.push(symbol(it).ok_or(TokenError::Malformed { character: it })?);
    }
    let mut all = Vec::with_capacity(symbols.len() * 5 / 8);
    let (mut held, mut bits) = (0_u32, 0);
    for &it in symbols.iter().take(symbols.len().saturating_sub(CHECKS)) {
        held = held << 5 | u32::from(it);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            all.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    // How long it should be, as far as that can be told.
    let mut rest = Bytes(&all);
    let length = match rest.count() {
        Ok(it) if it <= 1 << 20 => it as usize,
        Ok(_) => return Err(TokenError::BadCheck),
        Err(_) => 1,
    };
    let whole = ((all.len() - rest.0.len()).max(1) + length) * 8;
    let whole = whole.div_ceil(5) + CHECKS;
    if symbols.len() < whole {
        return Err(TokenError::Truncated { missing: whole - symbols.len() });
    }
    if symbols.len() > whole {
        return Err(TokenError::TooLong { surplus: symbols.len() - whole });
    }
    let checks = symbols[symbols.len() - CHECKS..].iter().map(|it| character(u32::from(*it)));
    if held != 0 || !checks.eq(check(&all)) {
        return Err(TokenError::BadCheck);
    }
    Ok(rest.0.to_vec())
}

/// The version of what begins like a token, and what follows it.
fn version_of(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let name = text.get(..NAME.len())?;
    let (version, rest) = text[NAME.len()..].split_once('-')?;
    let is_version = !version.is_empty() && version.bytes().all(|it| it.is_ascii_digit());
    (name.eq_ignore_ascii_case(NAME) && is_version).then_some((version, rest))
}

fn check(bytes: &[u8]) -> impl Iterator<Item = char> {
    let hash = hash(bytes);
    let check = hash ^ hash >> 20;
    (0..CHECKS as u32).rev().map(move |it| character(check >> (5 * it)))
}

/// The character of the lowest five bits.
fn character(symbol: u32) -> char {
    char::from(ALPHABET[symbol as usize % ALPHABET.len()])
}

/// The five bits of a character; what looks like a digit is one.
fn symbol(it: char) -> Option<u8> {
    let it = match it.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        it => it,
    };
    ALPHABET.iter().position(|at| char::from(*at) == it).map(|it| it as u8)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::designs::Upstream;

    fn below(chance: &mut ChaCha8Rng, bound: usize) -> usize {
        chance.next_u32() as usize % bound
    }

    /// Any deviation that a scenario of that scope could have.
    fn any_deviation(chance: &mut ChaCha8Rng) -> Deviation {
        let event = |chance: &mut ChaCha8Rng| {
            let all: Vec<Event> = (0..2).flat_map(|t| Event::all(TaskId(t))).collect();
            all[below(chance, all.len())]
        };
        let action = |chance: &mut ChaCha8Rng| {
            let rule = Rule::ALL[below(chance, Rule::ALL.len())];
            let (n, t) = (NodeId(below(chance, 2) as u8), TaskId(below(chance, 2) as u8));
            let forms = [(None, None), (Some(n), None), (None, Some(t)), (Some(n), Some(t))];
            forms.into_iter().find_map(|(n, t)| Action::new(rule, n, t)).unwrap()
        };
        let nth = |chance: &mut ChaCha8Rng| [1, 1, 2, 127, 128, 255][below(chance, 6)];
        let after = (below(chance, 4) > 0).then(|| (event(chance), nth(chance)));
        let next = (below(chance, 4) > 0).then(|| action(chance));
        let departure = match below(chance, 6) {
            0 => Departure::Waits(Until::Last),
            1 => Departure::Waits(Until::LastInInstant),
            2 => Departure::Waits(Until::Event(event(chance))),
            _ => match action(chance) {
                it if matches!(it.class(), Class::Operator | Class::Fault) => Departure::Does(it),
                it => Departure::First(it),
            },
        };
        Deviation { point: Point { after, next, nth: nth(chance) }, departure }
    }

    fn any_token(chance: &mut ChaCha8Rng, most: usize) -> Token {
        let ticks = Ticks::ALL[below(chance, 2)];
        let scenario = Scenario { ticks, ..Scenario::named("anything").unwrap().scope(2, 2) };
        let deviations: Vec<Deviation> = (0..below(chance, most + 1)).map(|_| any_deviation(chance)).collect();
        Token::new(&scenario, &Upstream, &deviations)
    }

    #[test]
    fn any_token_is_read_back_as_it_was_written() {
        let mut chance = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..2_000 {
            let token = any_token(&mut chance, 12);
            assert_eq!(Token::read(&token.to_string()).as_ref(), Ok(&token), "{token}");
        }
    }

    /// Damage behind an intact check, as a program that is not this one would make it.
    #[test]
    fn bytes_that_make_no_sense_are_refused_and_never_a_panic() {
        let mut chance = ChaCha8Rng::seed_from_u64(2);
        let (mut read, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let mut bytes = unseal(&any_token(&mut chance, 3).to_string()).unwrap();
            for _ in 0..=below(&mut chance, 3) {
                let at = below(&mut chance, bytes.len());
                match below(&mut chance, 4) {
                    0 => bytes.truncate(at.max(1)),
                    1 => bytes.insert(at, chance.next_u32() as u8),
                    2 if bytes.len() > 1 => drop(bytes.remove(at)),
                    _ => bytes[at] ^= 1 << below(&mut chance, 8),
                }
            }
            let text = seal(&bytes);
            match Token::read(&text) {
                Ok(it) => {
                    assert_eq!(it.to_string(), text, "there are two ways to write one token");
                    read += 1;
                }
                Err(it) => {
                    assert!(!it.to_string().is_empty());
                    refused += 1;
                }
            }
        }
        assert!(read > 100 && refused > 10_000, "{read} read, {refused} refused");
    }

    #[test]
    fn no_two_names_have_the_same_hash() {
        let rules = Rule::ALL.iter().map(|it| hash(it.name().as_bytes())).collect::<Vec<_>>();
        let events = Event::all(TaskId(0)).map(name_of).collect();
        let scenarios = Scenario::built_in().into_iter().map(|it| hash(it.name.as_bytes())).collect();
        let designs = designs::BUILT_IN.iter().map(|it| hash(it.name().as_bytes())).collect();
        for all in [rules, events, scenarios, designs] {
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        }
    }

    #[test]
    fn hashes_are_those_of_everybody() {
        assert_eq!(hash(b""), 0x811c_9dc5);
        assert_eq!(hash(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn every_place_fits_into_half_a_byte() {
        assert!(NODES < usize::from(NOWHERE) && TASKS < usize::from(NOWHERE));
        assert!(NODES < usize::from(FINE));
    }
}
