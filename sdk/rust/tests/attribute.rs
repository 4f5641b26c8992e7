//! What `#[tool]` makes of a function: its definition, its call, and what becomes of what it returns.

use host_sdk::fake::FakeHost;
use host_sdk::serde_json::{self, Value, json};
use host_sdk::{
    Annotations, Confirmation, Content, ExecConfirmation, Failure, InfoConfirmation, Outcome, Tool, data, tool,
};

/// Says it again.
///
/// The second paragraph
/// goes on.
/// * a list
/// * stays one
#[tool(title = "Echo", read_only, revise = echo_revised)]
fn echo(
    /// What to say,
    /// in words.
    text: String,
    /// How often.
    #[default = 2]
    #[schemars(range(max = 9))]
    times: usize,
    /// What comes between.
    between: Option<String>,
) -> Result<String, Failure> {
    match times {
        0 => Err(Failure::invalid("`times` is 0")),
        _ => Ok(vec![text; times].join(between.as_deref().unwrap_or_default())),
    }
}

fn echo_revised(text: String, times: usize, _: Option<String>, revised: String) -> Result<Value, Failure> {
    Ok(json!({"text": format!("{revised}, not {text}"), "times": times}))
}

/// A place.
#[data]
#[derive(Debug, PartialEq)]
struct Place {
    /// To the right.
    x: i32,
    /// Down.
    y: i32,
    /// What it is called.
    name: Option<String>,
}

/// Moves a place to the right.
#[tool(destructive = false, needs(process = "git status", reason = "look"), needs(state, reason = "remember"), preview = about, revise = again, text = in_words)]
fn shift(arguments: Place) -> Place {
    Place { x: arguments.x + 1, ..arguments }
}

fn about(arguments: Place) -> Result<Option<Confirmation>, Failure> {
    let argv = vec!["shift".to_owned(), arguments.x.to_string()];
    Ok(Some(Confirmation::Exec(ExecConfirmation { argv, directory: String::new() })))
}

fn again(arguments: Place, text: String) -> Result<Value, Failure> {
    Ok(json!({"x": text.len(), "y": arguments.y}))
}

fn in_words(place: &Place) -> String {
    format!("now at {}", place.x)
}

/// Takes nothing.
#[tool(idempotent, open_world = false, revise = nothing_revised)]
pub fn nothing() -> Outcome {
    Outcome::text("done").with_summary("did nothing")
}

fn nothing_revised(revised: String) -> Result<Value, Failure> {
    Err(Failure::invalid(revised))
}

/// Asks about each of its parameters.
#[tool(preview = both_shown)]
fn both(
    /// The first.
    first: u8,
    /// The second.
    mut second: Vec<u8>,
) -> Result<Vec<u8>, serde_json::Error> {
    second.push(first);
    if first == 0 { serde_json::from_str("[") } else { Ok(second) }
}

fn both_shown(first: u8, second: Vec<u8>) -> Result<Option<Confirmation>, Failure> {
    let text = format!("{first} {second:?}");
    Ok(Some(Confirmation::Info(InfoConfirmation { text, requests: Vec::new(), writes: Vec::new() })))
}

fn called(tool: Tool, arguments: Value) -> Result<Outcome, Failure> {
    FakeHost::new().call(&tool, arguments)
}

#[test]
fn a_function_is_described_by_its_name_its_comment_and_its_parameters() {
    let definition = echo::tool().definition();
    assert_eq!(definition.name, "echo");
    assert_eq!(definition.title.as_deref(), Some("Echo"));
    assert_eq!(definition.description, "Says it again.\n\nThe second paragraph goes on.\n* a list\n* stays one");
    assert_eq!(definition.annotations, Annotations::READ_ONLY);
    let schema: Value = serde_json::from_str(&definition.input_schema).expect("JSON");
    let expected = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to say, in words."},
            "times": {"type": "integer", "minimum": 0, "maximum": 9, "default": 2, "description": "How often."},
            "between": {"type": ["string", "null"], "description": "What comes between."},
        },
        "required": ["text"],
        "additionalProperties": false,
    });
    assert_eq!(schema, expected);
    assert_eq!(definition.output_schema, None, "a text has no structure");
}

#[test]
fn a_parameter_that_may_be_left_out_is_none_or_its_default() {
    assert_eq!(called(echo::tool(), json!({"text": "a"})), Ok(Outcome::text("aa")));
    assert_eq!(called(echo::tool(), json!({"text": "a", "times": 3, "between": "-"})), Ok(Outcome::text("a-a-a")));
    assert_eq!(called(echo::tool(), json!({"text": "a", "times": 0})), Err(Failure::invalid("`times` is 0")));
    assert_eq!(echo("a".to_owned(), 1, None).as_deref(), Ok("a"), "the function stays one");
}

#[test]
fn arguments_that_do_not_fit_are_refused_before_the_function_runs() {
    for arguments in
        [json!({"times": 1}), json!({"text": 1}), json!({"text": "a", "more": 1}), json!({"text": "a", "times": -1})]
    {
        let refused = called(echo::tool(), arguments.clone());
        assert!(matches!(refused, Err(Failure::InvalidArguments(_))), "{arguments}: {refused:?}");
    }
}

#[test]
fn a_struct_can_be_all_the_arguments_and_the_result() {
    let definition = shift::tool().definition();
    let schema: Value = serde_json::from_str(&definition.input_schema).expect("JSON");
    assert_eq!(schema["required"], json!(["x", "y"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["x"], json!({"type": "integer", "description": "To the right."}));
    assert!(schema.get("title").is_none() && schema.get("$schema").is_none(), "{schema}");
    let output: Value = serde_json::from_str(definition.output_schema.as_deref().expect("it has one")).expect("JSON");
    assert_eq!(output["properties"]["y"]["description"], "Down.");

    let outcome = called(shift::tool(), json!({"x": 1, "y": 2})).expect("it works");
    assert_eq!(outcome.content, [Content::Text("now at 2".to_owned())]);
    let structured: Value = serde_json::from_str(&outcome.structured.expect("there is one")).expect("JSON");
    assert_eq!(structured, json!({"x": 2, "y": 2, "name": null}));
    assert_eq!(shift(Place { x: 0, y: 0, name: None }).x, 1);
}

#[test]
fn attribute_annotations_that_are_missing_default_to_the_most_careful() {
    let annotations = |tool: Tool| tool.definition().annotations;
    assert_eq!(annotations(both::tool()), Annotations::MOST_CAREFUL);
    let shift = annotations(shift::tool());
    assert_eq!(shift, Annotations { destructive: false, ..Annotations::MOST_CAREFUL });
    let nothing = annotations(nothing::tool());
    assert_eq!(nothing, Annotations { idempotent: true, open_world: false, ..Annotations::MOST_CAREFUL });
}

#[test]
fn capabilities_are_asked_for_in_the_contracts_words() {
    let needs = shift::tool().definition().capabilities;
    let needs: Vec<_> = needs.iter().map(|need| (&*need.name, &*need.scope, &*need.reason)).collect();
    assert_eq!(needs, [("process", "git status", "look"), ("state", "*", "remember")]);
}

#[test]
fn attribute_preview_and_revision_take_the_same_parameters() {
    let host = FakeHost::new();
    let shown = host.preview(&shift::tool(), json!({"x": 7, "y": 0}));
    assert!(matches!(shown, Ok(Some(Confirmation::Exec(exec))) if exec.argv == ["shift", "7"]));
    let revised = host.revise(&shift::tool(), json!({"x": 7, "y": 5}), "abc");
    assert_eq!(revised, Ok(json!({"x": 3, "y": 5})));
    let revised = host.revise(&echo::tool(), json!({"text": "a"}), "b");
    assert_eq!(revised, Ok(json!({"text": "b, not a", "times": 2})), "whatever a parameter is called");
    assert_eq!(host.revise(&nothing::tool(), json!({}), "b"), Err(Failure::invalid("b")));
    let shown = host.preview(&both::tool(), json!({"first": 1, "second": [2]}));
    assert!(matches!(shown, Ok(Some(Confirmation::Info(info))) if info.text == "1 [2]"));
}

#[test]
fn attribute_result_without_its_own_text_is_returned_as_json() {
    let outcome = called(both::tool(), json!({"first": 1, "second": []})).expect("it works");
    assert_eq!(outcome.content, [Content::Text("[\n  1\n]".to_owned())]);
    assert_eq!(outcome.structured.as_deref(), Some("[1]"));
    let failed = called(both::tool(), json!({"first": 0, "second": []}));
    assert!(matches!(failed, Err(Failure::Failed(why)) if why.contains("EOF")), "its error is no `Failure`");
}

#[test]
fn an_outcome_is_taken_as_it_is_and_no_argument_is_needed() {
    assert_eq!(called(nothing::tool(), json!({})), Ok(nothing()));
    let schema: Value = serde_json::from_str(&nothing::tool().definition().input_schema).expect("JSON");
    assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
}

// promise contract.sdk
#[test]
fn a_call_builds_no_schema() {
    use host_sdk::schemars::{JsonSchema, Schema, SchemaGenerator};

    /// Whoever asks for its schema finds out.
    struct Loud;

    impl JsonSchema for Loud {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Loud".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            panic!("its schema was built")
        }
    }

    impl<'de> host_sdk::serde::Deserialize<'de> for Loud {
        fn deserialize<D: host_sdk::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            host_sdk::serde::de::IgnoredAny::deserialize(from).map(|_| Self)
        }
    }

    let tool = || Tool::typed("nothing", "", |_: Loud| Ok(Outcome::text("ran"))).returns::<Loud>();
    assert_eq!(called(tool(), json!({})), Ok(Outcome::text("ran")));
    assert!(std::panic::catch_unwind(|| tool().definition()).is_err(), "the definition is where it is built");
}
