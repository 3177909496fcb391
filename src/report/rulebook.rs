//! What the doc comment of a rule says: its first sentence, and whom it cites.
//!
//! Doc comments do not reach the running program, so the source of the model is kept in it and searched. There is
//! no second copy of a sentence that could go stale.

use crate::model::rules::Rule;

/// What a rule does and who says that it does so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The first sentence of its doc comment.
    pub sentence: String,
    /// The rules of the written specification that it implements, as `R8e, T1`; nothing for the clock, for stalls and
    /// for their end, which are the model's own.
    pub spec: Option<String>,
    /// The code that it was read from, as ``Velero: `path`, `function`.``; some rules cite Kubernetes or client-go.
    pub source: Option<String>,
}

impl Citation {
    /// Both citations as one line, as in the source: ``Spec: R2a. Velero: `path`, `function`.``
    pub fn cites(&self) -> String {
        let spec = self.spec.as_ref().map(|it| format!("Spec: {it}."));
        [spec.as_deref(), self.source.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

macro_rules! sources {
    ($($group:literal: $file:literal;)*) => {
        /// For each goroutine the source of its rules.
        const SOURCES: &[(&str, &str)] = &[$(($group, include_str!(concat!("../model/", $file)))),*];
    };
}

sources! {
    "api_server": "api_server.rs";
    "callback": "node_agent/callback.rs";
    "clock": "clock.rs";
    "cr_watch": "cr_watch.rs";
    "data_mover": "data_mover.rs";
    "event_watch": "event_watch.rs";
    "garbage_collector": "garbage_collector.rs";
    "kube_scheduler": "kube_scheduler.rs";
    "kubelet": "kubelet.rs";
    "node_fault": "faults/node_fault.rs";
    "node_recovery": "faults/node_recovery.rs";
    "periodic_enqueue": "node_agent/periodic_enqueue.rs";
    "pod_events": "node_agent/pod_events.rs";
    "pod_fault": "faults/pod_fault.rs";
    "pod_recovery": "faults/pod_recovery.rs";
    "pod_watch": "pod_watch.rs";
    "user": "user.rs";
    "velero_server": "velero_server.rs";
    "watcher": "node_agent/watcher.rs";
    "work_queue": "node_agent/work_queue.rs";
    "worker": "node_agent/worker.rs";
}

/// What the doc comment of `rule` says.
pub fn citation(rule: Rule) -> Citation {
    let (group, function) = rule.name().split_once("::").unwrap_or(("", rule.name()));
    let source = SOURCES.iter().find(|it| it.0 == group).map_or("", |it| it.1);
    let paragraphs = doc_of(source, function);
    let cites = paragraphs.iter().find_map(|it| it.strip_prefix("Spec: "));
    let (spec, code) = match cites.map(|it| it.split_once(". ").unwrap_or((it, ""))) {
        Some((spec, code)) => (Some(spec.trim_end_matches('.').to_owned()), Some(code.to_owned())),
        None => (None, None),
    };
    Citation {
        sentence: paragraphs.first().map_or_else(String::new, |it| first_sentence(it)),
        spec,
        source: code.filter(|it| !it.is_empty()),
    }
}

/// The paragraphs of the doc comment above the free function of that name.
fn doc_of(source: &str, function: &str) -> Vec<String> {
    let is_it = |line: &str| {
        let rest = line.strip_prefix("pub fn ").and_then(|it| it.strip_prefix(function));
        rest.is_some_and(|it| it.starts_with(['(', '<']))
    };
    let lines: Vec<&str> = source.lines().collect();
    let Some(at) = lines.iter().position(|it| is_it(it)) else { return Vec::new() };
    let doc: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .take_while(|it| it.starts_with("///") || it.starts_with("#["))
        .filter_map(|it| it.strip_prefix("///"))
        .map(str::trim)
        .collect();
    doc.rsplit(|it| it.is_empty()).map(|it| it.iter().rev().copied().collect::<Vec<_>>().join(" ")).collect()
}

fn first_sentence(paragraph: &str) -> String {
    paragraph.find(". ").map_or(paragraph, |end| &paragraph[..=end]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rules::Class;

    /// A new rule without a sentence or without a citation fails here, and so does one whose file is not listed.
    #[test]
    fn every_rule_says_what_it_does_and_cites_its_source() {
        let own = |rule: Rule| {
            matches!(rule.class(), Class::Clock | Class::Recovery)
                || (rule.class() == Class::Fault && rule.name().contains("::stalls_"))
        };
        for &rule in Rule::ALL {
            let it = citation(rule);
            assert!(it.sentence.ends_with('.') && it.sentence.len() > 10, "{}: {it:?}", rule.name());
            assert!(it.spec.is_some() || own(rule), "{}: no Spec", rule.name());
            assert!(it.source.is_some() || rule.class() != Class::Step, "{}: cites no code", rule.name());
        }
    }

    #[test]
    fn a_citation_is_what_stands_above_the_function() {
        let it = citation(Rule::WorkerTakesSlot);
        assert_eq!(it.sentence, "It takes a slot and makes a watcher, or comes again in 5 s where none is free.");
        assert_eq!(it.cites(), "Spec: R8e, T1. Velero: `pkg/datapath/manager.go`, `CreateMicroServiceBRWatcher`.");
    }

    #[test]
    fn only_the_first_sentence_is_taken() {
        assert_eq!(citation(Rule::DataMoverPolls).sentence, "It polls and finds its custom resource InProgress.");
    }
}
