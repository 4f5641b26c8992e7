//! Reading what every run needs while it begins.
//!
//! A start is mostly one thread's work, and reads what is the same for each run: the manifests of the built-in tools,
//! the built-in agents, git's settings. On a second core this is done when the run comes to it; on one it takes as long
//! as before.
//!
//! Deliberately not here: anything that depends on the command line or the project.

use std::sync::atomic::{AtomicBool, Ordering};

use host_agent::Declared;

use crate::plugins::sources;

/// Begins to read it on a thread that ends by itself; does nothing when it was begun before. An error is not reported
/// here: the run meets it when it reads the same.
pub fn begin() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    if BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    let reading = std::thread::Builder::new().name("ahead".to_owned()).spawn(|| {
        sources::read_ahead();
        host_plugin::read_git_settings();
        Declared::built_in().ok();
    });
    if let Err(error) = reading {
        tracing::info!(%error, "no thread to read ahead with; everything is read when it is needed");
    }
}
