//! Ctrl-C ends a search, not the command: what was found until then is printed, and kept.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What Ctrl-C sets, for a search to look at now and then. A second Ctrl-C ends the process at once.
pub fn interrupted() -> &'static AtomicBool {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let hears = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        };
        let _ = ctrlc::set_handler(hears); // without a handler Ctrl-C does what it always does
    });
    &INTERRUPTED
}
