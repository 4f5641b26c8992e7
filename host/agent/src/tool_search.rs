//! `tool_search`: the tool with which a model finds and loads tools whose definitions are not declared, since all of
//! them would fill its window. It runs in the host itself, like the rest of the agent.
//!
//! Promises: what is found can be called from the next request on, until the conversation ends: it is declared, or
//! loaded into the conversation by a service that can; finding a tool allows nothing; the list of names in the
//! description is bounded, whatever servers call their tools.
//!
//! Deliberately not here: which tools there are, and when they are too many.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use futures::FutureExt;
use futures::future::BoxFuture;
use host_message::{Annotations, Display, FunctionCall, Output, TOOL_SEARCH, ToolName, ToolSpec};
use host_text::{clip, counted, excerpt};
use host_tool::{CallContext, CallFailure, FailureKind, Outcome, Tool};
use serde_json::{Value, json};

/// How many tools one search loads if it does not say.
const USUAL: usize = 5;
/// The most tools that one search loads. Protects the model's window.
const MOST: usize = 20;
/// The longest query, in characters. Protects the search.
const MAX_QUERY: usize = 500;
/// How much of a tool's description the answer repeats, in characters: the definition comes with the next request.
const SHOWN: usize = 200;
/// How much of the names of tools the description lists, in characters. Protects the model's window.
const NAMES: usize = 4_000;

/// How much a word in a tool's name counts, beside one in its description.
const IN_NAME: usize = 4;

const DESCRIPTION: &str = "\
Finds tools of MCP servers and loads them: what it finds can be called from your next message on. The tools below are not \
declared to you until then. Search by what you want to do, in a few words, or load tools by their exact names with `names`.";

/// The end of the description if there are none, as while servers start.
const NO_TOOLS: &str = "0 tools until now; a message names them when servers have some.";

/// The tools that are not declared, and which of them the model loaded.
#[derive(Debug, Default)]
pub struct DeferredTools(RwLock<Deferred>);

#[derive(Debug, Default)]
struct Deferred {
    tools: Vec<ToolSpec>,
    loaded: BTreeSet<ToolName>,
    /// The names in the declarations of all requests until now.
    declared: BTreeSet<ToolName>,
    /// Whether the search was ever offered: from then on it stays.
    has_search: bool,
    /// How often something was loaded.
    loads: u64,
}

impl DeferredTools {
    /// Replaces the tools that can be found. What was loaded stays loaded.
    pub fn set(&self, tools: Vec<ToolSpec>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).tools = tools;
    }

    /// Loads tools by their names.
    pub fn load(&self, names: impl IntoIterator<Item = ToolName>) {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        held.loaded.extend(names);
        held.loads += 1;
    }

    /// Returns how often something was loaded.
    pub fn loads(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).loads
    }

    /// Returns whether a tool was loaded.
    pub fn is_loaded(&self, name: &ToolName) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).loaded.contains(name)
    }

    /// Takes note of what was declared in a request.
    pub fn was_declared(&self, tools: &[ToolSpec]) {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        held.declared.extend(tools.iter().map(|tool| tool.name.clone()));
    }

    /// Returns whether a request was sent.
    pub fn is_asked(&self) -> bool {
        !self.0.read().unwrap_or_else(PoisonError::into_inner).declared.is_empty()
    }

    /// Returns whether a tool was declared in a request.
    pub fn is_declared(&self, name: &ToolName) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).declared.contains(name)
    }

    /// Returns whether the search is offered: if it is needed, and if it ever was in this conversation.
    pub fn has_search(&self, is_needed: bool) -> bool {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        held.has_search |= is_needed;
        held.has_search
    }

    /// Returns the names of all tools, in order.
    fn names(&self) -> Vec<String> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    /// Returns the tools with these names.
    fn named(&self, names: &[&str]) -> Vec<ToolSpec> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.tools.iter().filter(|tool| names.contains(&tool.name.as_str())).cloned().collect()
    }

    /// Returns the tools that fit the words best, the best first.
    fn search(&self, query: &str, most: usize) -> Vec<ToolSpec> {
        let words: Vec<String> = words(query).collect();
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<(usize, &ToolSpec)> =
            held.tools.iter().map(|tool| (score(tool, &words), tool)).filter(|(score, _)| *score > 0).collect();
        // Equal ones stay in the order of their servers.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.into_iter().take(most).map(|(_, tool)| tool.clone()).collect()
    }
}

/// The words of a text, in lower case; `readFile` and `read_file` are two words each.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut apart = String::with_capacity(text.len());
    let mut was_small = false;
    for c in text.chars() {
        if c.is_uppercase() && was_small {
            apart.push(' ');
        }
        was_small = c.is_lowercase();
        apart.push(c);
    }
    let split: Vec<String> =
        apart.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    split.into_iter()
}

/// How well a tool fits the words: a word counts once for its name and once for its description, the beginning of a
/// word half.
fn score(tool: &ToolSpec, query: &[String]) -> usize {
    let name: Vec<String> = words(tool.name.as_str()).chain(tool.title.iter().flat_map(|title| words(title))).collect();
    let description: BTreeSet<String> = words(&tool.description).collect();
    let fits = |known: &str, word: &str| match known {
        known if known == word => 2,
        known if word.len() > 2 && (known.starts_with(word) || word.starts_with(known) && known.len() > 2) => 1,
        _ => 0,
    };
    let of_word = |word: &String| {
        let in_name = name.iter().map(|known| fits(known, word)).max().unwrap_or_default();
        let in_description = description.iter().map(|known| fits(known, word)).max().unwrap_or_default();
        in_name * IN_NAME + in_description
    };
    query.iter().map(of_word).sum()
}

/// Returns the part of the search's description that says what it finds.
pub(crate) fn finds(description: &str) -> &str {
    description.rsplit_once("\n\n").map_or(description, |(_, finds)| finds)
}

/// The tool. Clones load into the same conversation.
#[derive(Clone)]
pub struct ToolSearch {
    spec: ToolSpec,
    tools: Arc<DeferredTools>,
}

impl ToolSearch {
    /// Creates the tool, which finds these.
    pub fn new(tools: Arc<DeferredTools>) -> Self {
        let names = tools.names();
        // The names come from servers and can be of any number.
        let listed = format!("{}: {}", counted(names.len(), "tool"), clip(&names.join(", "), NAMES));
        let spec = ToolSpec {
            name: ToolName::new(TOOL_SEARCH),
            title: Some("Search for tools".to_owned()),
            description: format!("{DESCRIPTION}\n\n{}", if names.is_empty() { NO_TOOLS.to_owned() } else { listed }),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "maxLength": MAX_QUERY,
                        "description": "What the tool should do, in a few words, such as `list open pull requests`.",
                    },
                    "names": {
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": MOST,
                        "description": "Exact names of tools to load, instead of a query.",
                    },
                    "max_results": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MOST,
                        "description": format!("How many tools to load at most; {USUAL} if it is left out."),
                    },
                },
                "additionalProperties": false,
            })
            .into(),
            output_schema: None,
            // Finding a tool changes nothing, and allows nothing.
            annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: false },
        };
        Self { spec, tools }
    }

    fn run(&self, call: &FunctionCall) -> Outcome {
        let query = call.arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let names = call.arguments.get("names").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).take(MOST).collect();
        let most = call.arguments.get("max_results").and_then(Value::as_u64).map_or(USUAL, |most| most as usize);
        let found = match (names.is_empty(), query.trim().is_empty()) {
            (false, _) => self.tools.named(&names),
            (true, false) => self.tools.search(&clip(query, MAX_QUERY), most.clamp(1, MOST)),
            (true, true) => {
                let why = "give a `query`, or the `names` of tools";
                return CallFailure::new(FailureKind::InvalidArguments, why).into();
            }
        };
        if found.is_empty() {
            let why = match names.as_slice() {
                [] => {
                    format!("no tool fits `{}`; the description of `{TOOL_SEARCH}` lists all names", excerpt(query, 80))
                }
                names => format!("there is no tool `{}`", excerpt(&names.join("`, `"), 200)),
            };
            return CallFailure::new(FailureKind::NotFound, why).into();
        }
        let line = |tool: &ToolSpec| format!("{}: {}", tool.name, excerpt(&tool.description, SHOWN));
        let text = found.iter().map(line).collect::<Vec<_>>().join("\n");
        let summary = found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
        // Declared from the next request on: the present one was sent without them.
        self.tools.load(found.iter().map(|tool| tool.name.clone()));
        let told = format!("Loaded; you can call these from your next message on:\n{text}");
        let display = Some(Display::Summary(excerpt(&summary, 80)));
        Outcome::Success(Output { display, found, ..Output::text(told) })
    }
}

impl Tool for ToolSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, _context: CallContext) -> BoxFuture<'a, Outcome> {
        async move { self.run(call) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use host_message::CallId;

    use super::*;

    fn tools() -> Arc<DeferredTools> {
        let tool = |(name, description): (&str, &str)| ToolSpec {
            name: ToolName::new(name),
            title: None,
            description: description.to_owned(),
            input_schema: json!({"type": "object"}).into(),
            output_schema: None,
            annotations: Annotations::default(),
        };
        let all = [
            ("github__list_pull_requests", "Lists the pull requests of a repository."),
            ("github__create_issue", "Creates an issue in a repository."),
            ("github__search_code", "Finds code in all repositories."),
            ("mail__sendMessage", "Sends a mail to somebody."),
        ];
        let tools = Arc::new(DeferredTools::default());
        tools.set(all.into_iter().map(tool).collect());
        tools
    }

    fn call(arguments: Value) -> FunctionCall {
        let Value::Object(arguments) = arguments else { unreachable!("the tests give objects") };
        FunctionCall::new(CallId::new("1"), ToolName::new(TOOL_SEARCH), arguments)
    }

    #[test]
    fn tool_search_finds_the_nearest_first_and_loads_what_it_found() {
        let check = |arguments: Value, expected: &[&str]| {
            let tools = tools();
            let outcome = ToolSearch::new(Arc::clone(&tools)).run(&call(arguments.clone()));
            let loaded: Vec<String> =
                tools.names().into_iter().filter(|name| tools.is_loaded(&ToolName::new(name.as_str()))).collect();
            assert_eq!(loaded, expected, "{arguments}");
            let found = match &outcome {
                Outcome::Success(output) => output.found.iter().map(|tool| tool.name.as_str()).collect(),
                _ => Vec::new(),
            };
            assert_eq!(found, expected, "{arguments}: {outcome:?}");
        };
        check(json!({"query": "open pull requests", "max_results": 1}), &["github__list_pull_requests"]);
        check(json!({"query": "create issues", "max_results": 1}), &["github__create_issue"]);
        check(json!({"query": "send message", "max_results": 1}), &["mail__sendMessage"]);
        check(json!({"names": ["github__search_code", "none"]}), &["github__search_code"]);
        check(json!({"query": "weather"}), &[]);
        check(json!({"names": ["none"]}), &[]);
        check(json!({"query": "  "}), &[]);
    }

    #[test]
    fn tool_search_description_is_bounded_whatever_servers_call_their_tools() {
        let many = Arc::new(DeferredTools::default());
        let spec = tools().named(&["github__search_code"]).remove(0);
        many.set(
            (0..5_000)
                .map(|at| ToolSpec { name: ToolName::new(format!("s__{at}{}", "x".repeat(40))), ..spec.clone() })
                .collect(),
        );
        let search = ToolSearch::new(Arc::clone(&many));
        assert!(search.spec().description.chars().count() < DESCRIPTION.len() + NAMES + 200);
        many.set(Vec::new());
        assert!(ToolSearch::new(many).spec().description.contains("0 tools"));
    }
}
