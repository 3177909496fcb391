//! Colour, where it is wanted. It adds nothing that the text does not say.

/// Whether colour is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

/// What a piece of text is, as far as colour goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// What happens.
    Plain,
    /// Less than that: what is folded, headings, citations.
    Quiet,
    /// An operator or a fault.
    Disturbance,
    /// A deviation, and whatever else is said between steps.
    Aside,
    /// Somebody misses something.
    Missed,
    /// An invariant is broken.
    Broken,
}

impl Paint {
    pub(super) fn with(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.0 || text.is_empty() => return text.to_owned(),
            Tone::Plain => return text.to_owned(),
            Tone::Quiet => "2",
            Tone::Disturbance => "33",
            Tone::Aside => "36",
            Tone::Missed => "35",
            Tone::Broken => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
