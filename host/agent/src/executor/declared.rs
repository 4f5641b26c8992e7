//! The declarations of tools in one conversation. A service caches them in front of all messages.
//!
//! Promises: a declaration stays in its place and as it was first sent, whatever becomes of its tool; tools that come
//! later stand behind the others. What differs from the declarations is said in a text that the conversation keeps.
//!
//! Deliberately not here: which tools there are, and which calls may run.

use std::fmt::Write as _;
use std::sync::Arc;

use host_message::{TOOL_SEARCH, ToolName, ToolSpec};

use crate::{KeptText, tool_search};

/// The heading of the text about tools that are not as they were declared.
const HEADING: &str = "tools";

/// The declarations of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Declarations(Arc<Vec<ToolSpec>>);

impl Declarations {
    /// Declares the tools that are not declared yet.
    pub fn add(&mut self, tools: &[ToolSpec]) {
        for tool in tools {
            if !self.0.iter().any(|known| known.name == tool.name) {
                Arc::make_mut(&mut self.0).push(tool.clone());
            }
        }
    }

    /// Forgets all of them, for a model whose service has cached nothing.
    pub(super) fn clear(&mut self) {
        self.0 = Arc::default();
    }

    /// Returns them in their order.
    pub fn specs(&self) -> Arc<Vec<ToolSpec>> {
        Arc::clone(&self.0)
    }

    /// Returns what the model is to know of the tools as they are now; `None` if it knows from the declarations and the
    /// texts that the conversation has.
    pub(super) fn news(&self, now: &[ToolSpec], kept: &[KeptText]) -> Option<KeptText> {
        let told = kept.iter().find(|kept| kept.heading == HEADING);
        let text = match (self.difference(now), told) {
            (Some(text), _) => text,
            (None, Some(_)) => "All tools can be called as they are declared.".to_owned(),
            (None, None) => return None,
        };
        KeptText { heading: HEADING.to_owned(), text }.as_news(told)
    }

    /// Returns how the tools differ from their declarations; `None` if they do not.
    fn difference(&self, now: &[ToolSpec]) -> Option<String> {
        let (mut gone, mut changed): (Vec<&ToolName>, Vec<&ToolSpec>) = (Vec::new(), Vec::new());
        let mut finds = None;
        for declared in self.0.iter() {
            match now.iter().find(|tool| tool.name == declared.name) {
                None => gone.push(&declared.name),
                Some(tool) if is_same(tool, declared) => {}
                // Only what it finds differs.
                Some(tool) if tool.name.as_str() == TOOL_SEARCH => finds = Some(tool_search::finds(&tool.description)),
                Some(tool) => changed.push(tool),
            }
        }
        let mut text = String::new();
        if !gone.is_empty() {
            let names = gone.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            text = format!("These tools cannot be called now: {names}.");
        }
        if let Some(finds) = finds {
            let between = if text.is_empty() { "" } else { "\n\n" };
            let _ = write!(
                text,
                "{between}The tool `{TOOL_SEARCH}` finds these now, in place of those in its declaration:\n{finds}"
            );
        }
        for ToolSpec { name, description, input_schema, .. } in changed {
            let between = if text.is_empty() { "" } else { "\n\n" };
            let _ = write!(
                text,
                "{between}The tool `{name}` has changed. This holds in place of its declaration:\n{description}\n\
                 Schema of its arguments: {input_schema}"
            );
        }
        (!text.is_empty()).then_some(text)
    }
}

/// Returns whether both tell a model the same.
fn is_same(one: &ToolSpec, other: &ToolSpec) -> bool {
    one.description == other.description && one.input_schema == other.input_schema
}

#[cfg(test)]
mod tests {
    use host_message::Annotations;
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec {
            name: ToolName::new(name),
            title: None,
            description: description.to_owned(),
            input_schema: json!({"type": "object"}).into(),
            output_schema: None,
            annotations: Annotations::default(),
        }
    }

    fn names(declared: &Declarations) -> Vec<String> {
        declared.specs().iter().map(|tool| format!("{} {}", tool.name, tool.description)).collect()
    }

    #[test]
    fn declarations_stay_as_they_were_sent_and_what_changed_is_said() {
        let mut declared = Declarations::default();
        let first = [tool("read", "Reads."), tool("edit", "Edits.")];
        declared.add(&first);
        assert_eq!(declared.news(&first, &[]), None);
        let now = [tool("plan", "Plans."), tool("read", "Reads more.")];
        let mut search = Declarations::default();
        search.add(&[tool(TOOL_SEARCH, "Finds.\n\n1 tool: a")]);
        let news = search.news(&[tool(TOOL_SEARCH, "Finds.\n\n2 tools: a, b")], &[]).expect("it finds another one");
        insta::assert_snapshot!(news.text, @r"
        The tool `tool_search` finds these now, in place of those in its declaration:
        2 tools: a, b
        ");
        declared.add(&now);
        assert_eq!(names(&declared), ["read Reads.", "edit Edits.", "plan Plans."]);
        let news = declared.news(&now, &[]).expect("something changed");
        insta::assert_snapshot!(news.text, @r#"
        These tools cannot be called now: `edit`.

        The tool `read` has changed. This holds in place of its declaration:
        Reads more.
        Schema of its arguments: {"type":"object"}
        "#);
        let kept = [news];
        assert_eq!(declared.news(&now, &kept), None, "it was said");
        let back = [tool("read", "Reads."), tool("edit", "Edits."), tool("plan", "Plans.")];
        let news = declared.news(&back, &kept).expect("it is as it was");
        assert!(news.text.ends_with("All tools can be called as they are declared."), "{}", news.text);
        assert_eq!(declared.news(&back, &[news]), None);
    }
}
