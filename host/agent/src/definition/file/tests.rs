//! Files that are right, and every way to be wrong, with the place and the words.

use host_message::Role;
use serde_json::json;

use super::*;

const WHOLE: &str = "---
name: reviewer
display_name: Code reviewer
description: Reviews a change.
tools: [read_file, grep]
model: gemini/gemini-2.5-flash
temperature: 0.2
top_p: 0.9
thinking_budget: -1
max_turns: 7
timeout_mins: 2.5
inputs:
  change: {type: string, description: What changed.}
  files: {type: 'string[]', description: Which., required: false}
output:
  name: review
  description: The review.
  schema: {type: object, properties: {ok: {type: boolean}}, required: [ok]}
query: 'Review ${change}.'
initial_messages:
  - {role: user, text: 'Ready for ${files}?'}
  - {role: model, text: Ready.}
---

You review ${change}; $HOME and ${1} stay.
";

#[test]
fn everything_that_a_file_declares_is_in_the_definition() {
    let Declared { definition, model } = Declared::parse(WHOLE, Path::new("reviewer.md")).expect("it is right");
    assert_eq!(model.as_deref(), Some("gemini/gemini-2.5-flash"));
    let AgentDefinition { name, display_name, description, prompt, run, tools, inputs, output, completion, .. } =
        definition.clone();
    assert_eq!((name.as_str(), display_name.as_str()), ("reviewer", "Code reviewer"));
    assert_eq!((description.as_str(), completion), ("Reviews a change.", Completion::Tool));
    assert_eq!(prompt.system.as_deref(), Some("You review ${change}; $HOME and ${1} stay."));
    assert_eq!(prompt.query, "Review ${change}.");
    let said: Vec<_> = prompt.initial_messages.iter().map(|one| (one.role, one.text.as_str())).collect();
    assert_eq!(said, [(Role::User, "Ready for ${files}?"), (Role::Model, "Ready.")]);
    assert_eq!((run.max_turns, run.max_time), (Some(7), Some(Duration::from_secs(150))));
    assert_eq!(tools, ToolConfig::Only(vec!["read_file".to_owned(), "grep".to_owned()]));
    assert_eq!(inputs.schema()["properties"]["files"]["type"], "array");
    assert_eq!(inputs.schema()["required"], json!(["change"]));
    let output = output.expect("it has one");
    assert_eq!((output.name.as_str(), &output.schema["required"]), ("review", &json!(["ok"])));

    let settings = Settings { temperature: Some(1.0), max_output_tokens: Some(9), ..Settings::default() };
    let asking =
        |declared: Declared| declared.asking(ModelConfig { model: "m".to_owned(), settings: settings.clone() });
    let ModelConfig { model, settings: got } = asking(Declared { definition, model }).model;
    assert_eq!(
        (model.as_str(), got.temperature, got.top_p, got.thinking_budget),
        ("m", Some(0.2), Some(0.9), Some(-1))
    );
    assert_eq!(got.max_output_tokens, Some(9), "what is not declared is the model's own");
}

#[test]
fn little_is_enough_and_gives_no_tools() {
    let text = "---\r\nname: a\r\ndescription: b\r\n---\r\nBe brief.\r\n";
    let declared = Declared::parse(text, Path::new("a.md")).expect("it is right");
    let AgentDefinition { prompt, run, tools, inputs, output, .. } = declared.definition;
    assert_eq!((prompt.system.as_deref(), prompt.query.as_str()), (Some("Be brief."), "Get Started!"));
    assert_eq!((run, tools), (RunConfig::default(), ToolConfig::Only(Vec::new())));
    assert!(inputs.0.is_empty() && output.is_none() && declared.model.is_none());
}

/// Checks the error for a file that declares this in addition to a name and a description (lines 2 and 3).
fn check(more: &str, told: &str, help: &str) {
    check_text(&format!("---\nname: a\ndescription: b\n{more}---\nBe brief.\n"), told, help);
}

fn check_text(text: &str, told: &str, help: &str) {
    let error = Declared::parse(text, Path::new("a.md")).expect_err("it is wrong");
    assert_eq!((error.to_string(), error.help().to_string()), (told.to_owned(), help.to_owned()), "{text}");
}

#[test]
fn definition_unknown_key_is_reported_with_its_line_and_the_nearest_key() {
    check("temprature: 1\n", "a.md:4:1: unknown key `temprature`", "did you mean `temperature`?");
    check(
        "inputs:\n  x: {type: string, description: y, requird: true}\n",
        "a.md:5:37: unknown key `requird`",
        "did you mean `required`?",
    );
    check(
        "output: {name: x, description: y, schema: {}, zz: 1}\n",
        "a.md:4:47: unknown key `zz`",
        "the keys here are `name`, `description`, `schema`",
    );
}

#[test]
fn definition_wrong_type_is_reported_with_its_place() {
    let help = "`host agent --help` shows a whole file";
    for (more, place) in [
        ("max_turns: many\n", "a.md:4:12: "),
        ("max_turns: -1\n", "a.md:4:12: "),
        ("tools: ls\n", "a.md:4:8: "),
        ("temperature: [1]\n", "a.md:4:14: "),
        ("inputs: {x: {type: string, description: y, required: no}}\n", "a.md:4:54: "),
        ("initial_messages: [{role: system, text: x}]\n", "a.md:4:27: "),
        ("query: {a: b}\n", "a.md:4:8: "),
        ("query: [\n", "a.md:4:8: "),
        ("name: twice\n", "a.md:4:1: "),
        ("query: &x hello\n", "a.md:4:"),
        ("inputs: {x: {type: string}}\n", "a.md:4:"),
    ] {
        let text = format!("---\nname: a\ndescription: b\n{more}---\nBe brief.\n");
        let error = Declared::parse(&text, Path::new("a.md")).expect_err("it is wrong");
        let told = error.to_string();
        assert!(told.starts_with(place), "{told} / {place}");
        assert!(matches!(error.fault, DefinitionFault::Yaml { .. }), "{told}");
        assert_eq!(error.help().to_string(), help);
    }
}

#[test]
fn a_tool_that_does_more_than_read_is_refused_with_its_name_and_the_agents() {
    let all = "it may only read, with `ls`, `read_file`, `grep`, `glob`, `read_many_files`, `memory`, `web_search`";
    check("tools: [ls, shell]\n", "a.md:4:13: the agent `a` may not use the tool `shell`", all);
    check(
        "tools:\n  - raed_file\n",
        "a.md:5:5: the agent `a` may not use the tool `raed_file`",
        "did you mean `read_file`?",
    );
    check("tools: [complete_task]\n", "a.md:4:9: the agent `a` may not use the tool `complete_task`", all);
    check(
        "tools: [codebase_investigator]\n",
        "a.md:4:9: the agent `a` may not use the tool `codebase_investigator`",
        all,
    );
}

#[test]
fn an_input_has_a_known_type_and_a_name_that_a_prompt_can_use() {
    check(
        "inputs:\n  x: {type: text, description: y}\n",
        "a.md:5:13: the input `x` has the unknown type `text`",
        "the types are `string`, `number`, `boolean`, `integer`, `string[]`, `number[]`",
    );
    check(
        "inputs: {x: {type: strings, description: y}}\n",
        "a.md:4:20: the input `x` has the unknown type `strings`",
        "did you mean `string`?",
    );
    check(
        "inputs: {'a b': {type: string, description: y}}\n",
        "a.md:4:17: `a b` is not a valid name for an input or an output",
        "use ASCII letters, digits, `_` and `-`, a letter or `_` first",
    );
}

#[test]
fn definition_placeholder_without_an_input_is_reported_with_the_declared_inputs() {
    check(
        "query: 'See ${x}'\n",
        "a.md:4:8: the query names the unknown input `x`",
        "declare it under `inputs`; there are no inputs",
    );
    check(
        "inputs: {topic: {type: string, description: y}}\ninitial_messages: [{role: user, text: '${tropic}'}]\n",
        "a.md:5:39: a message names the unknown input `tropic`",
        "declare it under `inputs`; the inputs are `topic`",
    );
    check_text(
        "---\nname: a\ndescription: b\n---\n\nFirst.\n  Sée ${what}.\n",
        "a.md:7:7: the system prompt names the unknown input `what`",
        "declare it under `inputs`; there are no inputs",
    );
}

#[test]
fn definition_placeholders_without_an_input_are_all_reported_at_once() {
    let inputs = "inputs: {x: {type: string, description: y}, depth: {type: integer, description: y}}\n";
    check(
        &format!("{inputs}query: '${{b}} ${{x}} ${{a}} ${{b}}'\n"),
        "a.md:5:8: the query names the unknown inputs `b`, `a`",
        "declare them under `inputs`; the inputs are `depth`, `x`",
    );
    check(
        &format!("{inputs}query: '${{b}}'\ninitial_messages: [{{role: user, text: '${{a}} ${{b}}'}}]\n"),
        "a.md:5:8: the prompts name the unknown inputs `b`, `a`",
        "declare them under `inputs`; the inputs are `depth`, `x`",
    );
}

#[test]
fn numbers_are_within_their_ranges() {
    for (more, told, help) in [
        ("temperature: 2.5\n", "14: `temperature`", "it is between 0 and 2"),
        ("top_p: -0.1\n", "8: `top_p`", "it is between 0 and 1"),
        ("thinking_budget: -2\n", "18: `thinking_budget`", "it is a number of tokens, or -1 for no limit"),
        ("max_turns: 0\n", "12: `max_turns`", "it is between 1 and 1000"),
        ("timeout_mins: 0\n", "15: `timeout_mins`", "it is more than 0 and at most 1440"),
        ("timeout_mins: 1e9\n", "15: `timeout_mins`", "it is more than 0 and at most 1440"),
    ] {
        check(more, &format!("a.md:4:{told} is out of range"), help);
    }
}

#[test]
fn an_output_has_a_schema_that_can_be_used() {
    let help = "it is a JSON Schema, such as `{type: object, properties: {…}}`";
    let schema = |schema: &str| format!("output: {{name: x, description: y, schema: {schema}}}\n");
    check(&schema("1"), "a.md:4:43: invalid output schema: a JSON Schema is a mapping", help);
    let error = Declared::parse(
        &format!("---\nname: a\ndescription: b\n{}---\nBe brief.\n", schema("{type: objekt}")),
        Path::new("a.md"),
    );
    let told = error.expect_err("it is wrong").to_string();
    assert!(told.starts_with("a.md:4:43: invalid output schema: "), "{told}");
}

#[test]
fn a_name_is_one_that_a_model_can_call_and_nothing_elses() {
    let named = |name: &str| format!("---\nname: {name}\ndescription: b\n---\nBe brief.\n");
    for bad in ["'a b'", "1a", "''", "a/b", "ä"] {
        let error = Declared::parse(&named(bad), Path::new("a.md")).expect_err("it is wrong");
        assert!(matches!(error.fault, DefinitionFault::Name { .. }), "{bad}: {error}");
    }
    for taken in ["main", "complete_task", "grep"] {
        check_text(&named(taken), &format!("a.md:2:7: the name `{taken}` is taken"), "give the agent another name");
    }
}

#[test]
fn definition_error_of_an_invalid_file_names_what_is_missing() {
    let fences = "write the keys between two lines `---`, and the system prompt after them";
    check_text("", "a.md:1:1: the file does not begin with a line `---`", fences);
    check_text("# Notes\n", "a.md:1:1: the file does not begin with a line `---`", fences);
    check_text("---\nname: a\n", "a.md:1:1: the front matter is not closed by a second line `---`", fences);
    let body = "write it after the second line `---`";
    check_text("---\nname: a\ndescription: b\n---\n \n", "a.md:5:1: there is no system prompt", body);
    let said = "describe what the agent is for: other agents decide by it whether to call this one";
    check_text("---\nname: a\ndescription: ' '\n---\nx\n", "a.md:3:14: the description is empty", said);
    let long = format!("---\nname: a\ndescription: b\n---\n{}", "x".repeat(MAX_DEFINITION_BYTES));
    let told = format!("a.md:1:1: the file has {} bytes, over the limit of {MAX_DEFINITION_BYTES}", long.len());
    check_text(&long, &told, "keep the prompt short, and let the agent read the rest");
}

#[test]
fn definition_of_the_built_in_investigator_matches_its_declaration() {
    let [declared] = <[Declared; 1]>::try_from(Declared::built_in().expect("they are right")).expect("there is one");
    let AgentDefinition { name, prompt, model, run, tools, inputs, output, .. } = declared.definition;
    assert_eq!(name, "codebase_investigator");
    assert_eq!(declared.model, None, "it asks its parent's model");
    let settings = model.settings;
    assert_eq!((settings.temperature, settings.top_p, settings.thinking_budget), (Some(0.1), Some(0.95), Some(-1)));
    assert_eq!((run.max_turns, run.max_time), (Some(15), Some(Duration::from_secs(300))));
    assert_eq!(tools, ToolConfig::Only(["ls", "read_file", "glob", "grep"].map(str::to_owned).to_vec()));
    assert_eq!(inputs.schema()["required"], json!(["objective"]));
    assert!(prompt.query.contains("<objective>\n${objective}\n</objective>"));
    let output = output.expect("it has one");
    assert_eq!(output.name, "report");
    let schema = Schema::compile(&output.schema);
    let report = json!({
        "SummaryOfFindings": "x", "ExplorationTrace": ["y"],
        "RelevantLocations": [{"FilePath": "a", "Reasoning": "b", "KeySymbols": ["c"]}],
    });
    assert_eq!(schema.expect("it is right").check(&report).map_err(|why| why.to_string()), Ok(()));
}
