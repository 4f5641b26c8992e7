//! The completions of the application as lists of the terminal.

use std::sync::Arc;

use host_app::app::App;
use host_app::completion::{self, Completable, Completion, Suggestion};
use host_terminal::{Candidate, Completer, Completions, Lookup};

use super::commands;

/// Completes what can be completed in this workspace.
pub(super) fn completer(app: &App) -> Completer {
    let known = Arc::new(completion::Completer::new(app, commands::all()));
    let looked_up = Arc::clone(&known);
    Completer {
        at_once: Some(Box::new(move |before| match known.at_once(before) {
            Completable::Now(found) => Lookup::Now(listed(found)),
            Completable::Later => Lookup::Later,
            Completable::Nothing => Lookup::Nothing,
        })),
        looked_up: Some(Box::new(move |before| listed(looked_up.look_up(before)))),
    }
}

fn listed(Completion { replaced, suggestions, may_grow, note }: Completion) -> Completions {
    let candidate = |Suggestion { text, label, about, sends }| Candidate { text, label, words: about, sends };
    Completions { replaced, candidates: suggestions.into_iter().map(candidate).collect(), may_grow, note }
}
