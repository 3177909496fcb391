//! Tokens: they replay for ever, survive being copied by people, and never crash whoever reads one.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use vgdp_sim::designs::{self, Upstream};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::report::{Token, TokenError, Told};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::sweep;

/// A token and the invariant that it breaks on a line each, from `vgdp-sim compare --tokens`. Lines are added and never
/// changed: who has a token in a pull request can replay it with any later version. Where a change of the model is right
/// and a schedule no longer exists, the commit that takes out its line says so.
const GOLDEN: &str = include_str!("golden_tokens.txt");

fn golden() -> Vec<(&'static str, &'static str)> {
    let lines = GOLDEN.lines().map(|it| it.split('#').next().unwrap_or("").trim()).filter(|it| !it.is_empty());
    lines.map(|it| it.split_once(' ').unwrap_or_else(|| panic!("`{it}` is not a token and an invariant"))).collect()
}

#[test]
fn golden_tokens_break_what_they_always_broke() {
    assert!(golden().len() >= 10);
    for (text, id) in golden() {
        let token = Token::read(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        let invariant = INVARIANTS.iter().position(|it| it.id == id).unwrap_or_else(|| panic!("no invariant is {id}"));
        let told = Told::tell(&token.scenario, token.design().unwrap(), &token.deviations);
        assert_eq!(told.missed(), None, "{text}: a deviation was not made");
        assert!(told.story.report.broken[invariant].is_some(), "{text} does not break {id} any more");
    }
}

#[test]
fn a_token_is_as_short_as_a_person_copies() {
    for (text, _) in golden() {
        let deviations = Token::read(text).unwrap().deviations.len();
        assert!((30..=80).contains(&text.len()) || deviations > 2, "{} characters: {text}", text.len());
    }
}

#[test]
fn a_token_is_safe_to_copy() {
    for (text, _) in golden() {
        let token = Token::read(text).unwrap();
        assert!(text.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-'), "{text}");
        for copied in [
            text.to_uppercase(),
            format!("  {text}\n"),
            format!("{}\n    {}", &text[..20], &text[20..]),
            text[..6].to_owned() + &text[6..].replace('0', "O").replace('1', "l"),
        ] {
            assert_eq!(Token::read(&copied).as_ref(), Ok(&token), "{copied}");
        }
    }
}

/// Whoever damages a token hears of it, whatever the damage.
#[test]
fn a_damaged_token_is_refused_and_never_a_panic() {
    const ANY: &[char] = &['0', '1', 'a', 'g', 'z', 'Z', 'o', 'u', '-', ' ', '\n', '!', 'é', '\u{1F980}', '\0'];
    let tokens = golden();
    let mut chance = ChaCha8Rng::seed_from_u64(7);
    let mut below = |bound: usize| chance.next_u32() as usize % bound;
    for _ in 0..20_000 {
        let (text, _) = tokens[below(tokens.len())];
        let token = Token::read(text).unwrap();
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..=below(4) {
            let at = below(characters.len());
            match below(6) {
                0 => characters.truncate(at.max(1)),
                1 => characters.insert(at, ANY[below(ANY.len())]),
                2 if characters.len() > 1 => drop(characters.remove(at)),
                3 => {
                    let other = below(characters.len());
                    characters.swap(at, other);
                }
                4 => characters.extend_from_within(at..),
                _ => characters[at] = ANY[below(ANY.len())],
            }
        }
        let damaged: String = characters.into_iter().collect();
        match Token::read(&damaged) {
            Ok(read) => assert_eq!(read, token, "{damaged} was read as another token than {text}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn each_damage_has_its_own_error() {
    let (text, _) = golden()[0];
    let last = if text.ends_with('0') { "1" } else { "0" };
    assert_eq!(Token::read("tests/a.schedule"), Err(TokenError::NotAToken));
    assert_eq!(Token::read(&text.replace("vgdp1", "vgdp7")), Err(TokenError::UnknownVersion { version: "7".into() }));
    assert_eq!(Token::read(&text.replacen("vgdp1-", "vgdp1-!", 1)), Err(TokenError::Malformed { character: '!' }));
    assert_eq!(Token::read(&text[..text.len() - 5]), Err(TokenError::Truncated { missing: 5 }));
    assert!(matches!(Token::read("vgdp1-"), Err(TokenError::Truncated { .. })));
    assert_eq!(Token::read(&format!("{text}00")), Err(TokenError::TooLong { surplus: 2 }));
    assert_eq!(Token::read(&format!("{}{last}", &text[..text.len() - 1])), Err(TokenError::BadCheck));
    let here: Vec<Scenario> = Vec::new();
    assert!(matches!(Token::read_among(text, &here), Err(TokenError::UnknownScenario { .. })));
}

#[test]
fn the_tokens_of_a_sweep_say_what_it_found() {
    for name in ["cancel", "two-uploads-one-slot", "anything"] {
        let scenario = Scenario::named(name).unwrap();
        for broken in sweep(&scenario, &Upstream, 1, 1_000_000).broken {
            let token = Token::new(&scenario, &Upstream, &broken.deviations);
            let read = Token::read(&token.to_string()).unwrap();
            assert_eq!((&read.deviations, &read.scenario), (&broken.deviations, &scenario));
            assert!(read.is_for(&Upstream) && !read.is_of_other_rules());
        }
    }
}

/// Somebody's fix, in somebody's crate.
struct NoFailureIsACancel;

impl Design for NoFailureIsACancel {
    fn name(&self) -> &'static str {
        "no-failure-is-a-cancel"
    }
}

#[test]
fn a_design_that_is_not_built_in_has_tokens_too() {
    assert!(designs::named(NoFailureIsACancel.name()).is_err());
    let scenario = Scenario::named("cancel").unwrap();
    let sweep = sweep(&scenario, &NoFailureIsACancel, 1, 1_000_000);
    let broken = sweep.broken.first().expect("it is upstream by another name");
    let text = Token::new(&scenario, &NoFailureIsACancel, &broken.deviations).to_string();

    let token = Token::read(&text).unwrap();
    let error = token.design().err().expect("it is not built in").to_string();
    assert!(error.contains("--design NAME"), "{error}");
    assert!(token.is_for(&NoFailureIsACancel) && !token.is_for(&Upstream));
    let told = Told::tell(&token.scenario, &NoFailureIsACancel, &token.deviations);
    assert!(told.story.report.broken[broken.invariant].is_some());
}
