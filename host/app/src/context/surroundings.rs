//! What a conversation begins with beside the instructions: the environment and the context of the workspace, as texts
//! that it keeps.
//!
//! Promises: they stand before the first prompt; a part joins again only if it says something else than the
//! conversation has, so that nothing that was sent ever changes. Reading them is quick: only the date is looked up for
//! each turn.
//!
//! Deliberately not here: reading the context (`context`), and finding out about the environment (`prompted`).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use host_agent::prompts::Environment;
use host_agent::{ContextSource, KeptText};

use super::{Context, ContextPart};

/// The text in place of a part that the workspace does not have any more.
const NONE: &str = "There is nothing of this any more.";

/// The surroundings of a session.
pub(crate) struct Surroundings(Mutex<State>);

struct State {
    environment: Environment,
    context: Vec<KeptText>,
    /// The texts that joined in this process, under their headings.
    joined: HashMap<String, KeptText>,
}

impl Surroundings {
    /// Creates those of a session.
    pub(crate) fn new(environment: Environment, context: &Context) -> Self {
        Self(Mutex::new(State { environment, context: texts(context), joined: HashMap::new() }))
    }

    /// Takes note that the session has another mode, model or grants.
    pub(crate) fn set_environment(&self, environment: Environment) {
        self.state().environment = environment;
    }

    /// Takes note that the context was read again.
    pub(crate) fn set_context(&self, context: &Context) {
        self.state().context = texts(context);
    }

    /// Takes note that the conversation lost messages, or is another one.
    pub(crate) fn forget(&self) {
        self.state().joined.clear();
    }

    /// Returns the texts that a new conversation would begin with.
    pub(crate) fn texts(&self) -> Vec<KeptText> {
        let state = self.state();
        environment_now(&state).news(None).into_iter().chain(state.context.iter().cloned()).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ContextSource for Surroundings {
    fn take(&self, kept: &[KeptText]) -> Vec<KeptText> {
        let told = |heading: &str| kept.iter().find(|kept| kept.heading == heading);
        let mut state = self.state();
        let mut news: Vec<KeptText> =
            environment_now(&state).news(told(host_agent::prompts::ENVIRONMENT)).into_iter().collect();
        news.extend(state.context.iter().filter_map(|text| text.clone().as_news(told(&text.heading))));
        for part in ContextPart::ALL.map(ContextPart::name) {
            if !state.context.iter().any(|text| text.heading == part) {
                let none = KeptText { heading: part.to_owned(), text: NONE.to_owned() };
                news.extend(told(part).and_then(|told| none.as_news(Some(told))));
            }
        }
        // What was left out of a conversation for want of room would be left out again.
        let is_left_out =
            |text: &KeptText| told(&text.heading).is_none() && state.joined.get(&text.heading) == Some(text);
        news.retain(|text| !is_left_out(text));
        state.joined.extend(news.iter().map(|text| (text.heading.clone(), text.clone())));
        news
    }
}

/// The environment today.
fn environment_now(state: &State) -> Environment {
    Environment { date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(), ..state.environment.clone() }
}

/// The parts of a context as texts that a conversation keeps.
fn texts(context: &Context) -> Vec<KeptText> {
    let text = |(part, text): &(ContextPart, String)| KeptText {
        heading: part.name().to_owned(),
        text: text.trim().to_owned(),
    };
    context.parts.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use host_tool::ApprovalMode;

    use super::*;

    fn environment(mode: ApprovalMode) -> Environment {
        Environment {
            workspace: "/work/app".to_owned(),
            git: None,
            system: "linux x86_64".to_owned(),
            date: String::new(),
            model: "gemini/x".to_owned(),
            mode,
            is_attended: true,
            added: Vec::new(),
            servers: None,
            has_servers: false,
        }
    }

    fn context(parts: &[(ContextPart, &str)]) -> Context {
        let parts = parts.iter().map(|(part, text)| (*part, (*text).to_owned())).collect();
        Context { parts, warnings: Vec::new(), files: Vec::new() }
    }

    fn headings(texts: &[KeptText]) -> Vec<&str> {
        texts.iter().map(|text| text.heading.as_str()).collect()
    }

    #[test]
    fn surroundings_join_once_and_again_when_they_change() {
        let begun = context(&[(ContextPart::Tree, "\n\nsrc/"), (ContextPart::Files, "Use tabs.")]);
        let surroundings = Surroundings::new(environment(ApprovalMode::Default), &begun);
        let mut kept = surroundings.take(&[]);
        assert_eq!(headings(&kept), ["environment", "file tree", "context files"]);
        assert_eq!((kept.clone(), surroundings.take(&kept)), (surroundings.texts(), Vec::new()));
        surroundings.set_environment(environment(ApprovalMode::Auto));
        let news = surroundings.take(&kept);
        assert_eq!(headings(&news), ["environment"]);
        kept[0] = news[0].clone();
        surroundings.set_context(&context(&[(ContextPart::Tree, "src/")]));
        let news = surroundings.take(&kept);
        assert_eq!((headings(&news), news[0].said()), (vec!["context files"], NONE));
        kept[2] = news[0].clone();
        assert_eq!(surroundings.take(&kept), []);
    }

    #[test]
    fn surroundings_that_a_conversation_has_no_room_for_do_not_join_again() {
        let surroundings = Surroundings::new(environment(ApprovalMode::Default), &context(&[]));
        assert_eq!(surroundings.take(&[]).len(), 1);
        assert_eq!(surroundings.take(&[]), []);
        surroundings.forget();
        assert_eq!(surroundings.take(&[]).len(), 1, "the prompt that had it was taken back");
    }
}
