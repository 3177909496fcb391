//! The pages under `docs/` keep up with the code: whatever it cites can be looked up there, and whatever they name exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use vgdp_sim::designs::BUILT_IN;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::rules::{Class, Rule};
use vgdp_sim::scenario::Scenario;

const PROTOCOL: &str = include_str!("../docs/protocol.md");
const KUBERNETES: &str = include_str!("../docs/kubernetes.md");
const INVARIANTS_PAGE: &str = include_str!("../docs/invariants.md");
const SCENARIOS_PAGE: &str = include_str!("../docs/scenarios.md");
const DESIGNS_PAGE: &str = include_str!("../docs/designs.md");
const DESIGN_PAGE: &str = include_str!("../docs/design.md");
const GUIDE_PAGE: &str = include_str!("../docs/guide.md");
const SCALE_PAGE: &str = include_str!("../docs/scale.md");
const CONTRIBUTING: &str = include_str!("../CONTRIBUTING.md");
const ARCHITECTURE: &str = include_str!("../ARCHITECTURE.md");

/// The pages that this test looks after.
const PAGES: [(&str, &str); 10] = [
    ("docs/protocol.md", PROTOCOL),
    ("docs/kubernetes.md", KUBERNETES),
    ("docs/invariants.md", INVARIANTS_PAGE),
    ("docs/scenarios.md", SCENARIOS_PAGE),
    ("docs/designs.md", DESIGNS_PAGE),
    ("docs/design.md", DESIGN_PAGE),
    ("docs/guide.md", GUIDE_PAGE),
    ("docs/scale.md", SCALE_PAGE),
    ("CONTRIBUTING.md", CONTRIBUTING),
    ("ARCHITECTURE.md", ARCHITECTURE),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust source under a directory of the crate.
fn sources(dir: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a directory of the crate") {
            let path = entry.expect("an entry of it").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// The first cells of the rows of a page's tables, heads aside.
fn first_cells(page: &str) -> Vec<&str> {
    let rows = page.lines().filter_map(|it| it.strip_prefix("| ")?.split_once(" |").map(|(cell, _)| cell.trim()));
    rows.filter(|it| *it != "id" && !it.starts_with("---")).collect()
}

/// What can be looked up: the ids that have a row of their own, or stand in the list of hazards that are left out.
fn explained() -> BTreeSet<&'static str> {
    let left_out = PROTOCOL.lines().filter(|it| it.starts_with("| ") && it.contains(" | HZ-"));
    let left_out = left_out.flat_map(|it| it.split([' ', ',', '|'])).filter(|it| it.starts_with("HZ-"));
    first_cells(PROTOCOL).into_iter().chain(first_cells(KUBERNETES)).chain(left_out).collect()
}

/// The ids of a citation such as `R8g`, `R0 to R10` or `W2, loop 1`; a range stands for all that lies in it.
fn ids(citation: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for part in citation.split([',', ';']).map(str::trim) {
        if let Some((from, to)) = part.split_once(" to ") {
            ids.extend(range(from, to));
        } else if is_id(part) {
            ids.push(part.to_owned());
        }
    }
    ids
}

/// An id is one word that begins with a capital or a digit: `W1e`, `2.G`, `S-cb`, `CBfailed`, `GMR`.
fn is_id(word: &str) -> bool {
    !word.contains(' ')
        && (word.starts_with(|it: char| it.is_ascii_uppercase()) || word.starts_with(|it: char| it.is_ascii_digit()))
}

/// From `R0` to `R10` and from `W1a` to `W1d`: whichever differs at the end counts up.
fn range(from: &str, to: &str) -> Vec<String> {
    let common = from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b && !a.is_ascii_digit()).count();
    if let (Ok(first), Ok(last)) = (from[common..].parse::<u8>(), to[common..].parse::<u8>()) {
        return (first..=last).map(|it| format!("{}{it}", &from[..common])).collect();
    }
    let (stem, first) = from.split_at(from.len() - 1);
    let (same, last) = to.split_at(to.len() - 1);
    assert_eq!(stem, same, "{from} to {to} is no range");
    (first.as_bytes()[0]..=last.as_bytes()[0]).map(|it| format!("{stem}{}", char::from(it))).collect()
}

/// What follows `Spec:` up to who says so.
fn citation(line: &str) -> Option<&str> {
    let cited = line.trim().strip_prefix("/// Spec: ")?;
    let end = [". Velero:", ". Kubernetes:", ". client-go:", ". controller-runtime:"];
    let end = end.iter().filter_map(|it| cited.find(it)).min().unwrap_or(cited.len());
    Some(cited[..end].trim_end_matches('.'))
}

/// What this test makes of the citations that there are.
#[test]
fn a_citation_is_taken_apart() {
    let of = |line| citation(line).map(ids).expect(line);
    assert_eq!(of("/// Spec: U2, K8S-2."), ["U2", "K8S-2"]);
    assert_eq!(of("/// Spec: R7a to R7c. Velero: `a.go`, `B`."), ["R7a", "R7b", "R7c"]);
    assert_eq!(of("/// Spec: N4, R8 to R10. Velero: `a.go`, `B`."), ["N4", "R8", "R9", "R10"]);
    assert_eq!(of("/// Spec: EV1 to EV2. Velero: `a.go`, `B`."), ["EV1", "EV2"]);
    assert_eq!(of("/// Spec: W6, 2.G, 7.3. Velero: `a.go`, `B`."), ["W6", "2.G", "7.3"]);
    assert_eq!(of("/// Spec: W2, loop 1. Velero: `a.go`, `B`."), ["W2"]);
    assert_eq!(of("/// Spec: K1; a volume, for one. Kubernetes: `a.go`, `B`."), ["K1"]);
}

#[test]
fn each_id_that_a_rule_cites_is_explained() {
    let explained = explained();
    let mut cited = 0;
    let mut unknown = BTreeSet::new();
    for (path, text) in sources("src/model") {
        for (number, line) in (1..).zip(text.lines()) {
            for id in citation(line).map(ids).unwrap_or_default() {
                cited += 1;
                if !explained.contains(id.as_str()) {
                    unknown.insert(format!("{id} ({}:{number})", path.display()));
                }
            }
        }
    }
    assert!(cited > 100, "only {cited} citations: they are not found any more");
    assert!(unknown.is_empty(), "not in docs/protocol.md or docs/kubernetes.md: {unknown:#?}");
}

/// Comments cite ids as well, without `Spec:`.
#[test]
fn each_id_in_a_comment_is_explained() {
    let explained = explained();
    let mut cited = 0;
    let mut unknown = BTreeSet::new();
    for (path, text) in sources("src").into_iter().chain(sources("tests")) {
        for (number, line) in (1..).zip(text.lines()) {
            let Some((_, comment)) = line.split_once("//") else { continue };
            for word in comment.split('`').step_by(2).flat_map(|it| it.split(|c: char| !is_of_id(c))) {
                if is_numbered(word) {
                    cited += 1;
                    if !explained.contains(word) {
                        unknown.insert(format!("{word} ({}:{number})", path.display()));
                    }
                }
            }
        }
    }
    assert!(cited > 200, "only {cited} citations: they are not found any more");
    assert!(unknown.is_empty(), "not in docs/protocol.md or docs/kubernetes.md: {unknown:#?}");
}

fn is_of_id(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.')
}

/// `R8d`, `EV2`, `HZ-10`, `K8S-5`: up to three capitals, a number, and perhaps a letter.
fn is_numbered(word: &str) -> bool {
    if let Some(number) = word.strip_prefix("HZ-").or_else(|| word.strip_prefix("K8S-")) {
        return number.parse::<u8>().is_ok();
    }
    let number = word.trim_start_matches(|it: char| it.is_ascii_uppercase());
    let (capitals, number) = (word.len() - number.len(), number.trim_end_matches(|it: char| it.is_ascii_lowercase()));
    (1..=3).contains(&capitals) && word.len() - capitals - number.len() <= 1 && number.parse::<u8>().is_ok()
}

/// A page explains an id once.
#[test]
fn no_id_is_explained_twice() {
    for (name, page) in [("protocol.md", PROTOCOL), ("kubernetes.md", KUBERNETES)] {
        let mut seen = BTreeSet::new();
        for id in first_cells(page) {
            assert!(seen.insert(id), "{id} has two rows in {name}");
        }
    }
}

/// The tables of Kubernetes name the tests that there are, and leave out what has none.
#[test]
fn each_rule_of_kubernetes_names_its_test() {
    let rows = include_str!("conformance.rs").lines().filter_map(|it| {
        let (id, said) = it.strip_prefix("//! | ")?.strip_suffix(" |")?.split_once(" | ")?;
        (id != "rule").then_some((id, said))
    });
    let mut rules = 0;
    for (id, said) in rows {
        rules += 1;
        let start = format!("| {id} | ");
        let row = KUBERNETES.lines().find(|it| it.starts_with(&start)).unwrap_or_else(|| panic!("{id} has no row"));
        let prefix = format!("{}_", id.to_lowercase());
        match said.split('`').find(|it| it.starts_with(&prefix)) {
            Some(test) => assert!(row.ends_with(&format!("| `{test}` |")), "{id} is tested by {test}"),
            None => assert!(row.contains("| left out: "), "{id} is left out"),
        }
    }
    assert_eq!(rules, 65);
}

/// Each invariant has its section, in the order of tables, and no section is left over.
#[test]
fn each_invariant_has_its_section() {
    let sections: Vec<_> = INVARIANTS_PAGE.lines().filter_map(|it| it.strip_prefix("## ")).collect();
    let ids: Vec<_> = INVARIANTS.iter().map(|it| it.id).collect();
    assert_eq!(sections, ids);
    for section in INVARIANTS_PAGE.split("\n## ").skip(1) {
        for part in ["**But** ", "**Upstream** ", "**Planted** ", "**With it** "] {
            assert!(section.contains(part), "{part}is missing in {section}");
        }
    }
}

/// A section says the sentence of its invariant.
#[test]
fn each_section_says_what_its_invariant_says() {
    for (section, it) in INVARIANTS_PAGE.split("\n## ").skip(1).zip(INVARIANTS) {
        let said = section.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        assert!(said.contains(&it.sentence.to_lowercase()), "{}: {}", it.id, it.sentence);
    }
}

/// Each scenario has its paragraph, in their order, at its price.
#[test]
fn each_scenario_has_its_paragraph() {
    let paragraphs: Vec<_> = SCENARIOS_PAGE
        .split("\n\n")
        .filter_map(|it| it.strip_prefix("**")?.split_once("** (price "))
        .map(|(name, rest)| (name, rest[..1].parse::<u8>().expect(name)))
        .collect();
    let scenarios = Scenario::built_in();
    let all: Vec<_> = scenarios.iter().map(|it| (it.name, it.price)).collect();
    assert_eq!(paragraphs, all);
}

/// Each design has its row, in their order.
#[test]
fn each_design_has_its_row() {
    let rows: Vec<_> = first_cells(DESIGNS_PAGE).into_iter().filter_map(|it| it.strip_prefix('`')).collect();
    let names: Vec<_> = BUILT_IN.iter().map(|it| format!("{}`", it.name())).collect();
    assert_eq!(rows, names);
}

/// What the pages put between backticks.
fn quoted() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.into_iter().flat_map(|(name, page)| {
        page.lines().flat_map(|it| it.split('`').skip(1).step_by(2)).map(move |quoted| (name, quoted))
    })
}

/// A rule, a test or a file of this crate that a page names exists.
#[test]
fn what_the_pages_name_exists() {
    let rules: BTreeSet<&str> = Rule::ALL.iter().map(|it| it.name()).collect();
    let tests: String = sources("tests").into_iter().map(|it| it.1).collect();
    let mut named = 0;
    for (page, it) in quoted() {
        let ours = ["src/", "tests/", "examples/"].iter().any(|dir| it.starts_with(dir));
        let test = !it.contains(['/', ':', '.', '-', ' ']) && it.matches('_').count() >= 3;
        if it.contains("::") {
            assert!(rules.contains(it), "{page}: there is no rule `{it}`");
        } else if ours {
            assert!(root().join(it).exists(), "{page}: there is no `{it}`");
        } else if test {
            assert!(tests.contains(&format!("fn {it}(")), "{page}: there is no test `{it}`");
        } else {
            continue;
        }
        named += 1;
    }
    assert!(named > 200, "only {named} names: they are not found any more");
}

/// Each planted fault that the page of invariants names is one of the tests'.
#[test]
fn the_planted_faults_are_those_of_the_tests() {
    let planted = include_str!("support/planted.rs");
    for line in INVARIANTS_PAGE.lines().filter_map(|it| it.strip_prefix("**Planted** `")) {
        let fault = line.split('`').next().unwrap_or_default();
        let built_in = BUILT_IN.iter().any(|it| it.name() == fault);
        assert!(built_in || planted.contains(&format!("    {fault} {{")), "there is no planted fault `{fault}`");
    }
}

/// Each rule but faults, their end and the clock is named by a page, so that none is undocumented.
#[test]
fn each_rule_is_named() {
    let named: BTreeSet<_> = quoted().map(|it| it.1).collect();
    let silent: Vec<_> = Rule::ALL
        .iter()
        .filter(|it| matches!(it.class(), Class::Step | Class::Operator))
        .map(|it| it.name())
        .filter(|it| !named.contains(it))
        .collect();
    assert!(silent.is_empty(), "no page says what these do: {silent:#?}");
}

/// A link from page to page leads somewhere.
#[test]
fn each_link_leads_somewhere() {
    let pages =
        ["", "docs"].map(|dir| root().join(dir)).into_iter().flat_map(|dir| fs::read_dir(dir).expect("a directory"));
    let pages = pages.map(|it| it.expect("an entry").path()).filter(|it| it.extension().is_some_and(|it| it == "md"));
    let mut links = 0;
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|it| it.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let beside = page.parent().expect("a page is in a directory").join(target);
            links += 1;
            let leads = target.is_empty() || link.starts_with("https://") || beside.exists();
            assert!(leads, "{}: {link}", page.display());
        }
    }
    assert!(links > 20, "only {links} links: they are not found any more");
}
