use std::fmt;

use super::Draws;
use crate::model::rules::{Action, Class, Enabled};

/// Among which of the enabled actions a choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All of them.
    All,
    /// What somebody owes, time, and the end of stalls.
    Inside,
    /// What operators and faults may do.
    Outside,
}

impl Among {
    /// Whether these include `action`.
    #[inline]
    pub fn includes(self, action: Action) -> bool {
        let is_outside = matches!(action.class(), Class::Operator | Class::Fault);
        match self {
            Among::All => true,
            Among::Inside => !is_outside,
            Among::Outside => is_outside,
        }
    }
}

/// A way to choose by chance. It allocates nothing.
pub trait Chooser: fmt::Debug + Clone {
    /// Draws what stays the same for a whole run, of which `length` steps are chosen by chance.
    fn start(draws: &mut Draws, length: u32) -> Self;

    /// An action was taken, whoever chose it.
    fn takes(&mut self, _action: Action) {}

    /// Chooses one of some actions, by its index in `enabled`; `None` where there is none of them.
    fn choose(&mut self, enabled: &Enabled, among: Among, draws: &mut Draws) -> Option<usize>;
}

/// A goroutine at its place, in one number.
pub(super) type Goroutine = u64;

/// Whose action it is.
#[inline]
pub(super) fn goroutine(action: Action) -> Goroutine {
    placed(tables::GOROUTINES[action.rule() as usize], action)
}

/// The action in one number.
#[inline]
pub(super) fn identity(action: Action) -> u64 {
    placed(tables::RULES[action.rule() as usize], action)
}

/// What kind of action it is: its name up to the first underscore of its verb.
#[inline]
pub(super) fn family(action: Action) -> u64 {
    u64::from(tables::FAMILIES[action.rule() as usize])
}

#[inline]
fn placed(hash: u32, action: Action) -> u64 {
    let node = action.node().map_or(0, |it| it.0 + 1);
    let task = action.task().map_or(0, |it| it.0 + 1);
    u64::from(hash) << 16 | u64::from(node) << 8 | u64::from(task)
}

/// One of those of `enabled` for which `is_wanted` holds, each as likely as any other.
#[inline]
pub(super) fn evenly(enabled: &Enabled, draws: &mut Draws, is_wanted: impl Fn(Action) -> bool) -> Option<usize> {
    let count = enabled.iter().filter(|it| is_wanted(**it)).count() as u32;
    if count == 0 {
        return None;
    }
    let nth = draws.below(count) as usize;
    let mut wanted = enabled.iter().enumerate().filter(|(_, it)| is_wanted(**it));
    wanted.nth(nth).map(|it| it.0)
}

/// Names as numbers, so that a new rule changes no priority of another.
mod tables {
    use super::super::draws::hashed;
    use crate::model::rules::Rule;

    /// The name of each rule.
    pub static RULES: [u32; Rule::ALL.len()] = table(Until::End);

    /// The goroutine of each rule: its name up to the colons.
    pub static GOROUTINES: [u32; Rule::ALL.len()] = table(Until::Colons);

    /// The kind of each rule: its name up to the first underscore of its verb.
    pub static FAMILIES: [u32; Rule::ALL.len()] = table(Until::Word);

    /// How much of a name counts.
    #[derive(Clone, Copy)]
    enum Until {
        Colons,
        Word,
        End,
    }

    const fn table(until: Until) -> [u32; Rule::ALL.len()] {
        let mut hashes = [0; Rule::ALL.len()];
        let mut at = 0;
        while at < hashes.len() {
            let name = Rule::ALL[at].name().as_bytes();
            let mut end = 0;
            let mut in_verb = false;
            while end < name.len() {
                in_verb |= name[end] == b':';
                match until {
                    Until::Colons if in_verb => break,
                    Until::Word if in_verb && name[end] == b'_' => break,
                    Until::Colons | Until::Word | Until::End => end += 1,
                }
            }
            hashes[at] = hashed(Rule::ALL[at].name(), end);
            at += 1;
        }
        hashes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::rules::Rule;

    /// No two names have one number.
    #[test]
    fn goroutines_and_rules_are_told_apart() {
        let goroutines: BTreeMap<u32, &str> = Rule::ALL
            .iter()
            .map(|it| (tables::GOROUTINES[*it as usize], it.name().split(':').next().unwrap()))
            .collect();
        for it in Rule::ALL {
            assert_eq!(goroutines[&tables::GOROUTINES[*it as usize]], it.name().split(':').next().unwrap());
        }
        let rules: BTreeMap<u32, &str> = Rule::ALL.iter().map(|it| (tables::RULES[*it as usize], it.name())).collect();
        assert_eq!(rules.len(), Rule::ALL.len());
    }
}
