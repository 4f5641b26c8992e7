//! The registered tools, by name.
//!
//! A registry belongs to one agent: [`Registry::only`] makes a smaller one, which still knows the names that it left
//! out, so that a call to one of them is denied as such and does not count as an unknown name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use host_message::{FunctionCall, TOOL_SEARCH, ToolName, ToolSpec};
use host_text::clip;
use serde_json::Value;

use crate::{CallFailure, FailureKind, Schema, SchemaError, Tool, title};

/// How many names the error of an unknown name suggests.
const NEAREST: usize = 3;

/// What the name of a supplied tool contains: it separates a server from its tool.
const SUPPLIED: &str = "__";

/// How much of an unknown name is repeated, in characters: a model may write anything as a name.
const SHOWN_NAME: usize = 64;

/// Tools by name, in the order of their registration.
#[derive(Clone, Default)]
pub struct Registry {
    specs: Vec<ToolSpec>,
    entries: Vec<Arc<Entry>>,
    index: HashMap<ToolName, usize>,
    elsewhere: BTreeSet<ToolName>,
    undeclared: BTreeMap<ToolName, Arc<Entry>>,
    /// Names of tools that no search has found yet.
    unfound: BTreeSet<ToolName>,
    /// What a search found.
    found: Vec<ToolSpec>,
    supply: Option<Supply>,
}

/// Supplies tools that come and go while a registry is in use, such as those of MCP servers.
///
/// For the implementer: [`tools`](ToolSupply::tools) is called before each request to a model and must be cheap; it
/// waits for nothing. A name that a registry has already is left out.
pub trait ToolSupply: Send + Sync {
    /// Returns the tools that there are now, in the order in which they are declared.
    fn tools(&self) -> Vec<Supplied>;

    /// Returns a number that differs whenever [`tools`](ToolSupply::tools) would return something else than before.
    fn version(&self) -> u64;

    /// Takes note of what was declared in a request: a service may have it in its cache from now on.
    fn declared(&self, tools: &[ToolSpec]) {
        let _ = tools;
    }
}

/// A tool of a supply.
#[derive(Clone)]
pub struct Supplied {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// How the model knows of it.
    pub known: Known,
}

/// How a model knows of a supplied tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is declared in front of the conversation.
    Declared,
    /// It is not declared. A call of it is admitted all the same.
    Undeclared,
    /// A search can find it, and none has: a call of it is refused, since the model does not know its arguments.
    Unfound,
    /// A search found it, so that its definition is in the conversation.
    Found,
}

/// A supply, and which of its tools are used.
#[derive(Clone)]
struct Supply {
    supply: Arc<dyn ToolSupply>,
    /// Names of tools; `None` is all.
    only: Option<BTreeSet<ToolName>>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    schema: OnceLock<Result<Schema, SchemaError>>,
}

/// Why tools cannot be registered or selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two tools have the same name.
    #[error("there is already a tool `{name}`")]
    Duplicate {
        /// The name.
        name: ToolName,
    },
    /// The input schema is not of type `object`; the arguments of a call always are an object.
    #[error("the input schema of `{name}` is not of type `object`")]
    NotAnObject {
        /// The tool.
        name: ToolName,
    },
    /// The input schema cannot be compiled.
    #[error("invalid input schema of `{name}`")]
    Schema {
        /// The tool.
        name: ToolName,
        /// The error.
        #[source]
        cause: SchemaError,
    },
    /// A list of tools contains an unknown name.
    #[error("there is no tool `{name}`{}", suggested(nearest))]
    NoSuchTool {
        /// The name.
        name: String,
        /// The nearest known names.
        nearest: Vec<ToolName>,
    },
}

impl Registry {
    /// Creates a registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool after the others.
    ///
    /// The schema is compiled at the first call of the tool, since few tools are called in a run; [`Registry::verify`]
    /// compiles all of them.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the input schema is not of type `object`.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        let spec = tool.spec().clone();
        let name = spec.name.clone();
        if self.index.contains_key(&name) || self.undeclared.contains_key(&name) {
            return Err(RegistryError::Duplicate { name });
        }
        if spec.input_schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(RegistryError::NotAnObject { name });
        }
        self.elsewhere.remove(&name);
        self.add(name, spec, Arc::new(Entry { tool, schema: OnceLock::new() }));
        Ok(())
    }

    /// Sets what supplies further tools; [`Registry::current`] has them.
    pub fn set_supply(&mut self, supply: Arc<dyn ToolSupply>) {
        self.supply = Some(Supply { supply, only: None });
    }

    /// Returns the version of the supply, by which a caller knows that [`Registry::current`] is another one; `None` if
    /// no further tools can come.
    pub fn version(&self) -> Option<u64> {
        self.supply.as_ref().map(|held| held.supply.version())
    }

    /// Returns a registry with the tools of the supply as they are now, after the others. Those for which
    /// `is_undeclared` is true are not declared.
    #[must_use]
    pub fn current(&self, is_undeclared: impl Fn(&dyn Tool) -> bool) -> Self {
        let mut all = self.clone();
        let Some(Supply { supply, only }) = all.supply.take() else { return all };
        // An agent that names its tools without the search cannot find one.
        let can_search = only.as_ref().is_none_or(|only| only.contains(&ToolName::new(TOOL_SEARCH)));
        for Supplied { tool, known } in supply.tools() {
            let name = tool.spec().name.clone();
            let known = match known {
                Known::Unfound | Known::Found if !can_search => Known::Declared,
                known => known,
            };
            if only.as_ref().is_some_and(|only| !only.contains(&name)) {
                all.leave_out(name);
            } else if known == Known::Declared && !is_undeclared(tool.as_ref()) {
                // One whose name is taken is left out.
                all.register(tool).ok();
            } else if !all.index.contains_key(&name) && !all.undeclared.contains_key(&name) {
                match known {
                    // What prevents all of its calls answers in its own words.
                    Known::Unfound if !is_undeclared(tool.as_ref()) => {
                        all.unfound.insert(name.clone());
                    }
                    Known::Found => all.found.push(tool.spec().clone()),
                    Known::Declared | Known::Undeclared | Known::Unfound => {}
                }
                all.undeclared.insert(name, Arc::new(Entry { tool, schema: OnceLock::new() }));
            }
        }
        all
    }

    /// Compiles every input schema that is not compiled yet.
    ///
    /// # Errors
    ///
    /// With the first schema that cannot be compiled.
    pub fn verify(&self) -> Result<(), RegistryError> {
        for (spec, entry) in self.specs.iter().zip(&self.entries) {
            if let Err(cause) = entry.schema() {
                return Err(RegistryError::Schema { name: spec.name.clone(), cause: cause.clone() });
            }
        }
        Ok(())
    }

    /// Returns a registry with only the tools of these names, in their order here.
    ///
    /// # Errors
    ///
    /// If no tool here has one of the names.
    pub fn only<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<Self, RegistryError> {
        let (mut kept, mut supplied) = (BTreeSet::new(), BTreeSet::new());
        for name in names {
            let Some(at) = self.index.get(&ToolName::new(name)) else {
                // A tool that is supplied need not be there yet.
                if self.supply.is_some() && name.contains(SUPPLIED) {
                    supplied.insert(ToolName::new(name));
                    continue;
                }
                return Err(RegistryError::NoSuchTool {
                    name: clip(name, SHOWN_NAME).into_owned(),
                    nearest: self.nearest(name),
                });
            };
            kept.insert(*at);
        }
        let supply = self.supply.as_ref().map(|held| {
            let only = |name: &ToolName| held.only.as_ref().is_none_or(|only| only.contains(name));
            Supply { supply: Arc::clone(&held.supply), only: Some(supplied.into_iter().filter(only).collect()) }
        });
        let mut smaller = Self { elsewhere: self.elsewhere.clone(), supply, ..Self::default() };
        for (at, (spec, entry)) in self.specs.iter().zip(&self.entries).enumerate() {
            if kept.contains(&at) {
                smaller.add(spec.name.clone(), spec.clone(), Arc::clone(entry));
            } else {
                // Known as left out, so that a call is denied as such and the model does not look for the right
                // spelling.
                smaller.elsewhere.insert(spec.name.clone());
            }
        }
        smaller.elsewhere.extend(self.undeclared.keys().cloned());
        Ok(smaller)
    }

    /// Returns a registry that does not declare the tools for which this is true. A call of one is admitted all the
    /// same, so that whatever prevents it answers in its own words.
    #[must_use]
    pub fn undeclaring(&self, is_undeclared: impl Fn(&dyn Tool) -> bool) -> Self {
        let mut smaller = Self {
            elsewhere: self.elsewhere.clone(),
            undeclared: self.undeclared.clone(),
            unfound: self.unfound.clone(),
            found: self.found.clone(),
            supply: self.supply.clone(),
            ..Self::default()
        };
        for (spec, entry) in self.specs.iter().zip(&self.entries) {
            if is_undeclared(entry.tool.as_ref()) {
                smaller.undeclared.insert(spec.name.clone(), Arc::clone(entry));
            } else {
                smaller.add(spec.name.clone(), spec.clone(), Arc::clone(entry));
            }
        }
        smaller
    }

    /// Adds a name as that of a tool that belongs to a different agent: a call of it is denied as such.
    pub fn leave_out(&mut self, name: ToolName) {
        if !self.index.contains_key(&name) {
            self.elsewhere.insert(name);
        }
    }

    /// Returns the descriptions of the tools for a model, in order.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Returns the descriptions of the tools that a search found, which are not declared.
    pub fn found(&self) -> &[ToolSpec] {
        &self.found
    }

    /// Tells the supply what was declared in a request.
    pub fn was_declared(&self, tools: &[ToolSpec]) {
        if let Some(held) = &self.supply {
            held.supply.declared(tools);
        }
    }

    /// Returns the tool with this name.
    pub fn get(&self, name: &ToolName) -> Option<&Arc<dyn Tool>> {
        self.entry(name).map(|entry| &entry.tool)
    }

    /// Returns what a call is called on one line, beside the name of its tool, before anything is decided about it.
    pub fn title(&self, call: &FunctionCall) -> String {
        self.get(&call.name).map_or_else(|| title::of_arguments(call), |tool| tool.title(call))
    }

    /// Returns up to three names of tools here, the nearest first.
    pub fn nearest(&self, name: &str) -> Vec<ToolName> {
        let known = self.specs.iter().map(|spec| spec.name.as_str());
        host_text::nearest_few(name, known, NEAREST).into_iter().map(ToolName::new).collect()
    }

    /// Returns the tool that a call names, if the call's arguments match its schema.
    ///
    /// # Errors
    ///
    /// With the message for the model: the nearest names, that the tool belongs to a different agent, or the
    /// validator's report.
    pub fn admit(&self, call: &FunctionCall) -> Result<Arc<dyn Tool>, CallFailure> {
        let Some(entry) = self.entry(&call.name) else { return Err(self.refusal(call.name.as_str())) };
        if self.unfound.contains(&call.name) {
            let words = format!(
                "the tool `{name}` is not loaded yet: call `{TOOL_SEARCH}` with `names` = [\"{name}\"], and then call it \
                 with the arguments of its definition",
                name = call.name
            );
            return Err(CallFailure::new(FailureKind::UnknownTool, words));
        }
        let schema = entry.schema().as_ref().map_err(|error| {
            CallFailure::new(FailureKind::Failed, format!("`{}` cannot be called: {error}", call.name))
        })?;
        schema.check(&Value::Object(call.arguments.clone())).map_err(|violations| {
            let violations = violations.to_string();
            let separator = if violations.contains('\n') { '\n' } else { ' ' };
            let words = format!("invalid arguments for `{}`:{separator}{violations}", call.name);
            CallFailure::new(FailureKind::InvalidArguments, words)
        })?;
        Ok(Arc::clone(&entry.tool))
    }

    fn refusal(&self, name: &str) -> CallFailure {
        let shown = clip(name, SHOWN_NAME);
        let name = ToolName::new(name);
        if self.elsewhere.contains(&name) {
            let words = format!("the tool `{shown}` is not available to this agent");
            return CallFailure::new(FailureKind::Unauthorized, words);
        }
        let nearest = suggested(&self.nearest(name.as_str()));
        let words = match name.is_valid() {
            true if nearest.is_empty() => format!("there is no tool `{shown}`; call tools by their exact names"),
            true => format!("there is no tool `{shown}`{nearest}"),
            // The conversation does not contain the name as the model wrote it: no service would accept that.
            false => format!(
                "you called a tool by the name \"{}\", which is not a valid name (1 to 64 ASCII letters, digits, `_` and \
                 `-`, the first a letter) and appears in this conversation as `{}`; tools must be called by their exact \
                 names{nearest}",
                shown.escape_debug(),
                name.sendable()
            ),
        };
        CallFailure::new(FailureKind::UnknownTool, words)
    }

    fn entry(&self, name: &ToolName) -> Option<&Arc<Entry>> {
        self.index.get(name).and_then(|&at| self.entries.get(at)).or_else(|| self.undeclared.get(name))
    }

    fn add(&mut self, name: ToolName, spec: ToolSpec, entry: Arc<Entry>) {
        self.index.insert(name, self.specs.len());
        self.specs.push(spec);
        self.entries.push(entry);
    }
}

impl Entry {
    fn schema(&self) -> &Result<Schema, SchemaError> {
        self.schema.get_or_init(|| Schema::compile(&self.tool.spec().input_schema))
    }
}

fn suggested(names: &[ToolName]) -> String {
    host_text::did_you_mean(names).map(|help| format!("; {help}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use host_message::{Annotations, CallId};
    use serde_json::{Map, json};

    use super::*;
    use crate::{CallContext, Outcome};

    struct Named(ToolSpec);

    impl Tool for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn call<'a>(&'a self, _: &'a FunctionCall, _: CallContext) -> BoxFuture<'a, Outcome> {
            unreachable!("a registry runs nothing")
        }
    }

    fn named(name: &str, input_schema: Value) -> Arc<dyn Tool> {
        Arc::new(Named(ToolSpec {
            name: ToolName::new(name),
            title: None,
            description: String::new(),
            input_schema: input_schema.into(),
            output_schema: None,
            annotations: Annotations::default(),
        }))
    }

    fn with(names: &[&str]) -> Registry {
        let mut registry = Registry::new();
        for name in names {
            registry.register(named(name, json!({"type": "object"}))).expect("the names differ");
        }
        registry
    }

    fn names(registry: &Registry) -> Vec<&str> {
        registry.specs().iter().map(|spec| spec.name.as_str()).collect()
    }

    fn failure(registry: &Registry, name: &str) -> FailureKind {
        let call = FunctionCall::new(CallId::new("1"), ToolName::new(name), Map::new());
        registry.admit(&call).map(|_| ()).expect_err("it is not admitted").kind
    }

    #[test]
    fn a_smaller_registry_keeps_the_order_and_knows_what_it_left_out() {
        let all = with(&["ls", "read_file", "grep", "shell"]);
        let some = all.only(["grep", "ls", "read_file"]).expect("they are there");
        let few = some.only(["ls"]).expect("it is there");
        assert_eq!((names(&some), names(&few)), (vec!["ls", "read_file", "grep"], vec!["ls"]));
        for left_out in ["grep", "shell"] {
            assert_eq!(failure(&few, left_out), FailureKind::Unauthorized);
        }
        assert_eq!(failure(&few, "grepp"), FailureKind::UnknownTool);
        let mut few = few;
        few.leave_out(ToolName::new("investigator"));
        few.leave_out(ToolName::new("ls"));
        assert_eq!(failure(&few, "investigator"), FailureKind::Unauthorized);
        assert!(few.get(&ToolName::new("ls")).is_some(), "what is there stays");
        let error = all.only(["raed_file"]).map(|_| ()).expect_err("there is none").to_string();
        assert_eq!(error, "there is no tool `raed_file`; did you mean `read_file`?");
    }

    #[test]
    fn what_is_not_declared_is_admitted_and_never_suggested() {
        let mut some = with(&["ls", "grep", "shell"]).undeclaring(|tool| tool.spec().name.as_str() == "grep");
        assert_eq!(names(&some), ["ls", "shell"]);
        let call = FunctionCall::new(CallId::new("1"), ToolName::new("grep"), Map::new());
        assert_eq!(some.admit(&call).expect("it is here").spec().name, call.name);
        assert!(some.get(&call.name).is_some() && !some.nearest("grep").contains(&call.name));
        let again = some.register(named("grep", json!({"type": "object"})));
        assert_eq!(again, Err(RegistryError::Duplicate { name: ToolName::new("grep") }));
        let few = some.undeclaring(|tool| tool.spec().name.as_str() == "ls");
        assert!(few.admit(&call).is_ok() && names(&few) == ["shell"]);
        assert_eq!(failure(&few.only(["shell"]).expect("it is there"), "grep"), FailureKind::Unauthorized);
    }

    #[test]
    fn registry_reports_how_a_name_that_no_service_accepts_was_replaced() {
        let registry = with(&["ls"]);
        for (name, shown, sent) in [
            ("", "\"\"", "`invalid_name`"),
            ("l\0s", "\"l\\0s\"", "`invalid_l_s`"),
            (&"x".repeat(5_000), "xxx…", "`invalid_xxx"),
        ] {
            let call = FunctionCall::new(CallId::new("1"), ToolName::new(name), Map::new());
            let failure = registry.admit(&call).map(|_| ()).expect_err("there is no such tool");
            assert_eq!(failure.kind, FailureKind::UnknownTool);
            let message = &failure.message;
            assert!(message.contains(shown) && message.contains(sent), "{message}");
            assert!(message.len() < 600 && !message.contains('\0'), "{message}");
        }
    }

    struct Two;

    impl ToolSupply for Two {
        fn tools(&self) -> Vec<Supplied> {
            let object = || json!({"type": "object"});
            let all = [
                ("s__a", Known::Declared),
                ("s__b", Known::Undeclared),
                ("ls", Known::Declared),
                ("s__c", Known::Unfound),
                ("s__d", Known::Found),
            ];
            all.map(|(name, known)| Supplied { tool: named(name, object()), known }).into()
        }

        fn version(&self) -> u64 {
            0
        }
    }

    #[test]
    fn registry_has_supplied_tools_as_they_are_declared_and_never_in_the_place_of_another() {
        let mut registry = with(&["ls", "grep"]);
        registry.set_supply(Arc::new(Two));
        assert_eq!(names(&registry), ["ls", "grep"], "none before it is asked for the current ones");
        let current = registry.current(|_| false);
        assert_eq!(names(&current), ["ls", "grep", "s__a"]);
        let call = |name: &str| FunctionCall::new(CallId::new("1"), ToolName::new(name), Map::new());
        assert!(current.admit(&call("s__b")).is_ok(), "one that is not declared can be called");
        let refused = current.admit(&call("s__c")).map(|_| ()).expect_err("no search has found it");
        assert_eq!(refused.kind, FailureKind::UnknownTool);
        assert!(refused.message.contains("call `tool_search` with `names` = [\"s__c\"]"), "{}", refused.message);
        assert!(current.admit(&call("s__d")).is_ok(), "a search has found it");
        assert_eq!(current.found().iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["s__d"]);
        assert_eq!(names(&registry.current(|tool| tool.spec().name.as_str() == "s__a")), ["ls", "grep"]);
        // An agent that names its tools has of the supplied ones those, and may name one that is not there yet.
        let few = registry.only(["ls", "s__a", "s__later"]).expect("they may come");
        assert_eq!(names(&few.current(|_| false)), ["ls", "s__a"]);
        assert_eq!(failure(&few.current(|_| false), "s__b"), FailureKind::Unauthorized);
        assert!(with(&["ls"]).only(["s__a"]).is_err(), "without a supply none comes");
    }

    #[test]
    fn the_nearest_names_are_at_most_three() {
        assert_eq!(with(&["abcd", "abcdef", "abce", "abcdeg"]).nearest("abcde").len(), NEAREST);
        assert!(with(&["a"]).nearest(&"x".repeat(1_000_000)).is_empty(), "it is not near");
        assert!(with(&[]).nearest("a").is_empty());
    }

    #[test]
    fn registry_tool_that_cannot_be_registered_is_reported() {
        let mut registry = with(&["ls"]);
        let duplicate = registry.register(named("ls", json!({"type": "object"})));
        assert_eq!(duplicate, Err(RegistryError::Duplicate { name: ToolName::new("ls") }));
        let list = registry.register(named("list", json!({"type": "array"})));
        assert_eq!(list, Err(RegistryError::NotAnObject { name: ToolName::new("list") }));
    }

    #[test]
    fn registry_schema_that_cannot_be_compiled_is_reported_by_verify_and_by_the_call() {
        let mut registry = with(&["ls"]);
        assert_eq!(registry.verify(), Ok(()));
        registry.register(named("bad", json!({"type": "object", "required": 5}))).expect("not compiled yet");
        let error = registry.verify().expect_err("it is a bad schema");
        assert_eq!(error.to_string(), "invalid input schema of `bad`");
        assert_eq!(failure(&registry, "bad"), FailureKind::Failed);
    }
}
