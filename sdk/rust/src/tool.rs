//! One tool: what the model is told about it, and the code behind it, as one item so that they cannot drift
//! apart.
//!
//! Deliberately not here: checking the arguments against the schema. The host does that before a call arrives;
//! what is done here is reading them into a type, which catches what the schema forgot.

use serde::de::DeserializeOwned;

pub use crate::bindings::host::tool::types::{Annotations, CapabilityNeed, ToolDef};
use crate::{Confirmation, Failure, Outcome};

type CallFn = Box<dyn Fn(&str) -> Result<Outcome, Failure>>;
type PreviewFn = Box<dyn Fn(&str) -> Result<Option<Confirmation>, Failure>>;
type ReviseFn = Box<dyn Fn(&str, String) -> Result<String, Failure>>;

/// Makes a schema, as JSON text.
type SchemaFn = fn() -> String;

/// One tool of a plugin.
pub struct Tool {
    /// Without the schemas that are made from types.
    definition: ToolDef,
    input: Option<SchemaFn>,
    output: Option<SchemaFn>,
    call: CallFn,
    preview: Option<PreviewFn>,
    revise: Option<ReviseFn>,
}

impl Tool {
    /// A tool that `call` carries out.
    ///
    /// `name` is what the model calls it: 1 to 64 characters of `a-z`, `A-Z`, `0-9`, `_`, `-`, the first a
    /// letter. `description` says to the model what it does and when to use it. `input_schema` is the JSON
    /// Schema of the arguments, of type `object`; `A` is the Rust type for the same arguments, and should
    /// deny unknown fields as the schema does with `additionalProperties`.
    ///
    /// Until [`Tool::annotations`] says otherwise it counts as one that changes things outside this machine
    /// and may lose some.
    pub fn new<A: DeserializeOwned>(
        name: &str,
        description: &str,
        input_schema: &str,
        call: impl Fn(A) -> Result<Outcome, Failure> + 'static,
    ) -> Self {
        Self {
            definition: ToolDef {
                name: name.to_owned(),
                title: None,
                description: description.trim().to_owned(),
                input_schema: input_schema.to_owned(),
                output_schema: None,
                annotations: Annotations::MOST_CAREFUL,
                capabilities: Vec::new(),
            },
            input: None,
            output: None,
            call: Box::new(move |arguments| call(parse(arguments)?)),
            preview: None,
            revise: None,
        }
    }

    /// A tool whose schema is made from the type of its arguments, when somebody asks for the definition: a call does
    /// not pay for it. Otherwise as [`Tool::new`].
    ///
    /// The schema takes no field that `A` does not have, and describes each by its doc comment.
    #[cfg(feature = "macros")]
    pub fn typed<A: DeserializeOwned + schemars::JsonSchema>(
        name: &str,
        description: &str,
        call: impl Fn(A) -> Result<Outcome, Failure> + 'static,
    ) -> Self {
        Self { input: Some(crate::schema::of_arguments::<A>), ..Self::new(name, description, "", call) }
    }

    /// The type of which [`Outcome::structured`] is the JSON; its schema is made when somebody asks for the definition.
    #[cfg(feature = "macros")]
    pub fn returns<T: schemars::JsonSchema>(mut self) -> Self {
        self.output = Some(crate::schema::of_result::<T>);
        self
    }

    /// A name for people.
    pub fn title(mut self, title: &str) -> Self {
        self.definition.title = Some(title.to_owned());
        self
    }

    /// The JSON Schema of [`Outcome::structured`].
    pub fn output_schema(mut self, schema: &str) -> Self {
        self.definition.output_schema = Some(schema.to_owned());
        self
    }

    /// What it does to the world.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = annotations;
        self
    }

    /// A capability that it needs: the name of an interface (`fs-read`), a scope in the words of a `--grant`
    /// (`*` asks for whatever the user gives), and the reason, one line for the user who is asked.
    pub fn needs(mut self, name: &str, scope: &str, reason: &str) -> Self {
        self.definition.capabilities.push(CapabilityNeed {
            name: name.to_owned(),
            scope: scope.to_owned(),
            reason: reason.to_owned(),
        });
        self
    }

    /// What a call would do, for the user who is asked before it; none for a call that is to run with what is granted
    /// already. It has the reading part of the grants.
    ///
    /// Without a preview a user is shown the tool's name and its arguments, unless all that the tool needs is reading.
    pub fn preview<A: DeserializeOwned>(
        mut self,
        preview: impl Fn(A) -> Result<Option<Confirmation>, Failure> + 'static,
    ) -> Self {
        self.preview = Some(Box::new(move |arguments| preview(parse(arguments)?)));
        self
    }

    /// The arguments with which a call does what a user made of it: the text stands in the place of the content or
    /// the command line that the preview proposed. It has the reading part of the grants.
    pub fn revise<A: DeserializeOwned>(
        mut self,
        revise: impl Fn(A, String) -> Result<serde_json::Value, Failure> + 'static,
    ) -> Self {
        self.revise = Some(Box::new(move |arguments, text| Ok(revise(parse(arguments)?, text)?.to_string())));
        self
    }

    /// What the model calls it.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// What the host and the model are told about it. Schemas of types are made here.
    pub fn definition(&self) -> ToolDef {
        let mut definition = self.definition.clone();
        if let Some(schema) = self.input {
            definition.input_schema = schema();
        }
        if let Some(schema) = self.output {
            definition.output_schema = Some(schema());
        }
        definition
    }

    /// The capabilities that it asks for.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn capabilities(&self) -> &[CapabilityNeed] {
        &self.definition.capabilities
    }

    /// Carries out a call with these arguments, JSON text.
    pub(crate) fn run(&self, arguments: &str) -> Result<Outcome, Failure> {
        (self.call)(arguments)
    }

    /// Says what a call with these arguments would do; none when there is nothing to say.
    pub(crate) fn run_preview(&self, arguments: &str) -> Result<Option<Confirmation>, Failure> {
        match &self.preview {
            Some(preview) => preview(arguments),
            None => {
                let reads =
                    |need: &CapabilityNeed| need.name == "fs-read" || (need.name == "state" && need.scope == "read");
                let asks = !self.definition.capabilities.iter().all(reads);
                Ok(asks.then_some(Confirmation::Call))
            }
        }
    }

    /// Makes new arguments of these and what a user wrote.
    pub(crate) fn run_revise(&self, arguments: &str, text: String) -> Result<String, Failure> {
        match &self.revise {
            Some(revise) => revise(arguments, text),
            None => {
                let name = &self.definition.name;
                Err(Failure::InvalidArguments(format!("a call of `{name}` can be allowed or refused, not changed")))
            }
        }
    }
}

impl Annotations {
    /// It changes things, may lose some, and reaches outside this machine.
    pub const MOST_CAREFUL: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: true };

    /// It changes nothing and stays on this machine.
    pub const READ_ONLY: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
}

fn parse<A: DeserializeOwned>(arguments: &str) -> Result<A, Failure> {
    // serde would also fill a struct from a list, field by field.
    if !arguments.trim_start().starts_with('{') {
        return Err(Failure::InvalidArguments("the arguments are no JSON object".to_owned()));
    }
    serde_json::from_str(arguments).map_err(|error| Failure::InvalidArguments(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        text: String,
    }

    fn echo() -> Tool {
        Tool::new("echo", "  Says it again.\n", "{}", |arguments: Arguments| Ok(Outcome::text(arguments.text)))
    }

    #[test]
    fn arguments_reach_the_function_as_its_type() {
        assert_eq!(echo().run(r#"{"text":"a"}"#), Ok(Outcome::text("a")));
    }

    #[test]
    fn arguments_of_another_shape_are_the_callers_fault() {
        for arguments in [r#"{"text":1}"#, r#"{}"#, r#"{"text":"a","more":1}"#, r#"["a"]"#, "{", ""] {
            assert!(matches!(echo().run(arguments), Err(Failure::InvalidArguments(_))), "{arguments}");
        }
    }

    #[test]
    fn tool_without_annotations_counts_as_dangerous() {
        let tool = echo();
        assert_eq!(tool.definition().annotations, Annotations::MOST_CAREFUL);
        assert_eq!(tool.definition().description, "Says it again.");
        assert_eq!(tool.run_preview(r#"{"text":"a"}"#), Ok(None), "it needs nothing");
    }

    #[test]
    fn a_tool_without_a_preview_is_asked_about_by_its_arguments_when_it_does_more_than_read() {
        let previewed = |name: &str, scope: &str| echo().needs(name, scope, "").run_preview(r#"{"text":"a"}"#);
        for (name, scope, asked) in
            [("fs-read", "*", false), ("state", "read", false), ("state", "write", true), ("process", "git", true)]
        {
            assert_eq!(previewed(name, scope), Ok(asked.then_some(Confirmation::Call)), "{name}={scope}");
        }
    }

    #[test]
    fn tool_call_can_be_changed_by_the_user_only_if_the_tool_supports_it() {
        assert!(matches!(echo().run_revise("{}", "b".to_owned()), Err(Failure::InvalidArguments(_))));
        let tool = echo().revise(|_: Arguments, text| Ok(serde_json::json!({ "text": text })));
        assert_eq!(tool.run_revise(r#"{"text":"a"}"#, "b".to_owned()).as_deref(), Ok(r#"{"text":"b"}"#));
    }
}
