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

/// A source without its comments, so that they may speak of anything.
fn code(text: &str) -> String {
    text.lines().map(|it| it.split("//").next().unwrap_or("").to_owned() + "\n").collect()
}

/// From `start` to the end of the item that begins there: its closing brace, or a semicolon before any brace.
fn item(code: &str, start: usize) -> &str {
    let mut depth = 0;
    for (at, it) in code[start..].char_indices() {
        match it {
            '{' => depth += 1,
            '}' if depth == 1 => return &code[start..=start + at],
            '}' => depth -= 1,
            ';' if depth == 0 => return &code[start..start + at],
            _ => {}
        }
    }
    &code[start..]
}

/// What of this source is hashed, compared as bytes or serialised by a derived implementation, and every function that
/// writes the bytes of a token.
fn persisted(code: &str) -> Vec<&str> {
    const TRAITS: &[&str] = &["Hash", "IntoBytes", "Serialize", "Deserialize"];
    let derives = code.match_indices("#[derive(").filter(|(at, _)| {
        let list = code[*at..].split(")]").next().unwrap_or("");
        list.split(['(', ',']).any(|it| TRAITS.contains(&it.trim()))
    });
    let derives = derives.map(|(at, _)| item(code, at + code[at..].find(")]").expect("it is closed") + 2));
    let writers = code.match_indices("fn write_").map(|(at, _)| item(code, at));
    derives.chain(writers.filter(|it| it.contains("Vec<u8>"))).collect()
}

/// Whether one of the words is of another size on another platform.
fn depends_on_the_platform(code: &str) -> bool {
    code.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| it == "usize" || it == "isize")
}

fn sources(dir: &std::path::Path, all: &mut Vec<(String, String)>) {
    for it in std::fs::read_dir(dir).unwrap() {
        let path = it.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else {
            all.push((path.display().to_string(), code(&std::fs::read_to_string(&path).unwrap())));
        }
    }
}

/// Tokens, fingerprints and documents are the same on any platform: no `usize` or `isize` is in what is hashed or
/// written, no bytes are in the order of this machine, and a hasher says itself what it does with the number of a
/// variant, which the derived `Hash` gives as an `isize`.
///
/// It is a look at the text, so it sees what is written down, not what a generic type stands for. The tests of this file
/// run on 32 bits as well: `cargo test --no-default-features --test tokens --target i686-unknown-linux-musl`, with
/// `rust-lld` as its linker.
#[test]
fn nothing_that_is_hashed_or_written_has_the_size_of_a_word() {
    let mut all = Vec::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let (mut items, mut hashers) = (0, 0);
    for (name, code) in &all {
        for it in persisted(code) {
            assert!(!depends_on_the_platform(it), "{name}: give this a size of its own: {it}");
            items += 1;
        }
        for it in ["to_ne_bytes", "from_ne_bytes", "usize::from_le_bytes", ".len().to_le_bytes", "usize).to_le_bytes"] {
            assert!(!code.contains(it), "{name}: {it}");
        }
        for (at, _) in code.match_indices("impl Hasher for ") {
            let hasher = item(code, at);
            let says = hasher.contains("fn write_isize(") && hasher.contains("fn write_usize(");
            assert!(says || hasher.contains("unreachable!("), "{name}: say how many bytes an isize has: {hasher}");
            hashers += 1;
        }
    }
    assert!(items > 40 && hashers == 2, "{items} items and {hashers} hashers were looked at");
}

#[test]
fn a_word_in_what_is_hashed_is_seen() {
    let found = |text: &str| persisted(&code(text)).into_iter().any(depends_on_the_platform);
    assert!(found("#[derive(Clone, Hash)]\nstruct A { of: u8, at: usize }"));
    assert!(found("#[derive(\n    IntoBytes,\n)]\nenum A { B(isize) }"));
    assert!(found("fn write_it(bytes: &mut Vec<u8>, it: usize) { }"));
    assert!(!found("#[derive(Clone)]\nstruct A { at: usize }\n#[derive(Hash)]\nstruct B(u8);\nfn c() -> usize { 1 }"));
    assert!(!found("#[derive(Hash)]\nstruct A { // a usize\n of: [u8; N] }"));
}
