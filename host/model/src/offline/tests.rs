//! Whole conversations of the planner, with tools that print the output of the built-in ones.

use std::collections::BTreeMap;

use futures::{FutureExt, StreamExt};
use host_message::{Content, FunctionResponse, PartData, ResponseBody, Role};

use super::*;
use crate::Settings;

/// A repository in memory.
type Files = BTreeMap<&'static str, String>;

fn repository() -> Files {
    let file = |text: &str| text.to_owned();
    BTreeMap::from([
        ("Cargo.toml", file("[package]\nname = \"mill\"\ndescription = \"Grinds flour\"\n")),
        ("README.md", file("# Mill\n\n[![ci](x)](y)\n\nMill grinds flour\nfrom grain.\n\n## Use\n")),
        ("src/main.rs", file("fn main() {\n    // TODO: start the wheel\n    grind_all();\n}\n")),
        ("src/wheel.rs", file(&"// TODO\n".repeat(30))),
        ("docs/plan.md", file("Plan: ``` none\n")),
        ("docs/a/TODO", file("nothing\n")),
    ])
}

fn declared(name: &str) -> ToolSpec {
    let properties = match name {
        "grep" => json!({"pattern": {}, "fixed_strings": {}, "output": {}}),
        _ => json!({"path": {}, "pattern": {}}),
    };
    ToolSpec {
        name: ToolName::new(name),
        title: None,
        description: String::new(),
        input_schema: json!({"type": "object", "properties": properties}).into(),
        output_schema: None,
        annotations: Default::default(),
    }
}

fn tools(names: &[&str]) -> Vec<ToolSpec> {
    names.iter().map(|name| declared(name)).collect()
}

const ALL: &[&str] = &["ls", "glob", "grep", "read_file"];

/// Returns the answer of a tool, in the format of the built-in ones.
fn run(files: &Files, call: &FunctionCall) -> ResponseBody {
    let argument = |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    let output = match call.name.as_str() {
        "ls" => {
            let folder = match argument("path").as_str() {
                "." => String::new(),
                path => format!("{path}/"),
            };
            let below = files.iter().filter_map(|(path, text)| Some((path.strip_prefix(&folder)?, text)));
            let mut lines: Vec<_> = below
                .map(|(path, text)| match path.split_once('/') {
                    Some((top, _)) => format!("[dir] {top}\n"),
                    None => format!("{path} ({} bytes)\n", text.len()),
                })
                .collect();
            lines.dedup();
            lines.concat() + "(2 ignored)\n"
        }
        "glob" => {
            let head = format!("Found {} files matching `**/*` in `.`\n", files.len());
            head + &files.keys().map(|path| format!("{path}\n")).collect::<String>()
        }
        "grep" => {
            let word = argument("pattern");
            let hits =
                files.iter().flat_map(|(path, text)| text.lines().zip(1..).map(move |(text, at)| (path, at, text)));
            let hits: Vec<_> = hits.filter(|(_, _, text)| text.contains(&word)).collect();
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            hits.iter().for_each(|(path, _, _)| *counts.entry(path).or_default() += 1);
            let head = format!("Found {} matches in {} files for `{word}`\n", hits.len(), counts.len());
            match (hits.len(), argument("output").as_str()) {
                (0, _) => format!("No matches found for `{word}`\n"),
                (_, "count") => head + &counts.iter().map(|(path, n)| format!("{path}: {n}\n")).collect::<String>(),
                (_, "matches") => head + &hits.iter().map(|(p, at, t)| format!("{p}:{at}: {t}\n")).collect::<String>(),
                (_, other) => panic!("`{other}` is no mode"),
            }
        }
        "read_file" => match files.get(argument("path").as_str()) {
            // As the tool shows it.
            Some(text) => {
                let lines = (1..).zip(text.split_inclusive('\n'));
                lines.map(|(number, line)| format!("{number}\t{line}")).collect()
            }
            None => return ResponseBody::Error(format!("`{}` does not exist", argument("path"))),
        },
        other => panic!("`{other}` was not declared"),
    };
    ResponseBody::Output(output)
}

/// Returns one reply as a message, streamed as in a run.
fn reply_to(contents: &[Content], tools: &[ToolSpec]) -> Content {
    let settings = Settings::default();
    let request = Request { model: "offline", system: None, contents, tools, settings: &settings, conversation: None };
    let planner = Offline::new();
    let events = planner.stream(request).collect::<Vec<_>>().now_or_never().expect("it waits for nothing");
    let mut parts = Vec::new();
    let mut finish = None;
    for event in events {
        let Ok(ModelEvent::Chunk(chunk)) = event else { panic!("the planner neither fails nor asks again") };
        assert!(finish.is_none(), "nothing follows the reason to stop");
        parts.extend(chunk.parts);
        finish = chunk.finish;
    }
    assert_eq!(finish, Some(FinishReason::Stop));
    Content { role: Role::Model, parts }
}

/// Continues until there is a reply without calls, or with `complete_task`; returns the calls of each turn, and the
/// last reply.
fn converse(
    contents: &mut Vec<Content>,
    tools: &[ToolSpec],
    answer: impl Fn(&FunctionCall) -> ResponseBody,
) -> (Vec<Vec<String>>, Content) {
    let mut turns = Vec::new();
    loop {
        let mut reply = reply_to(contents, tools);
        let is_last = reply.function_calls().all(|call| call.name.as_str() == COMPLETE_TASK);
        for (at, part) in reply.parts.iter_mut().enumerate() {
            if let PartData::FunctionCall(call) = &mut part.data {
                assert_eq!(call.id.as_str(), "", "the host names the calls");
                call.id = CallId::new(format!("c{}-{at}", contents.len()));
            }
        }
        contents.push(reply.clone());
        if is_last {
            return (turns, reply);
        }
        let respond = |call: &FunctionCall| {
            PartData::FunctionResponse(FunctionResponse::new(call.id.clone(), call.name.clone(), answer(call))).into()
        };
        contents.push(Content { role: Role::User, parts: reply.function_calls().map(respond).collect() });
        let shown = |call: &FunctionCall| {
            let about = call.arguments.get("path").or(call.arguments.get("pattern")).and_then(Value::as_str);
            let mode = call.arguments.get("output").and_then(Value::as_str).unwrap_or("");
            format!("{} {} {mode}", call.name, about.unwrap_or("")).trim_end().to_owned()
        };
        turns.push(reply.function_calls().map(shown).collect());
        assert!(turns.len() < 6, "the plan ends: {turns:?}");
    }
}

fn ask(prompt: &str, names: &[&str]) -> (Vec<Vec<String>>, String) {
    let files = repository();
    let (turns, reply) = converse(&mut vec![Content::user(prompt)], &tools(names), |call| run(&files, call));
    (turns, reply.visible_text())
}

const SURVEY: &str = "Survey this repository: what is it, and where are the TODOs?";

#[test]
fn a_survey_takes_two_rounds_of_calls_and_a_report() {
    let (turns, report) = ask(SURVEY, ALL);
    let expected = [
        vec!["ls .", "glob **/*"],
        vec!["read_file README.md", "read_file Cargo.toml", "grep TODO count", "grep TODO matches"],
    ];
    assert_eq!(turns, expected);
    let expected = "\
## What it is

- **mill** (Rust, by `Cargo.toml`): Grinds flour

`README.md`, “Mill”:

> Mill grinds flour from grain.

## Size

- 6 files
- By extension: `md` 2, `rs` 2, none 1, `toml` 1
- Top-level folders by files: `docs` 2, `src` 2
- Top-level files: `Cargo.toml`, `README.md`

## `TODO`: 31 lines in 2 files

- `src/main.rs:2`: `// TODO: start the wheel`
";
    assert!(report.starts_with(expected), "{report}");
    assert!(report.contains("- … and 21 more; most are in `src/wheel.rs` (30), `src/main.rs` (1)\n"), "{report}");
    assert!(report.trim_end().lines().last().unwrap().contains("not a language model"), "{report}");
}

#[test]
fn the_prompt_decides_what_is_called() {
    let check = |prompt: &str, expected: &[&[&str]], in_report: &str| {
        let (turns, report) = ask(prompt, ALL);
        assert_eq!(turns, expected, "{prompt}");
        assert!(report.contains(in_report), "{prompt}: {report}");
    };
    let found: &[&[&str]] = &[&["grep grind_all count", "grep grind_all matches"]];
    check("Who calls grind_all()?", found, "## `grind_all`: 1 line in 1 file\n\n- `src/main.rs:3`: `grind_all();`");
    check(
        "Where is `no such thing`?",
        &[&["grep no such thing count", "grep no such thing matches"]],
        "No line contains it.",
    );
    let look: &[&str] = &["ls .", "glob **/*"];
    check("What does main.rs do?", &[look, &["read_file src/main.rs"]], "## `src/main.rs`\n\n```\nfn main() {");
    check("Show docs/plan.md", &[look, &["read_file docs/plan.md"]], "````\nPlan: ``` none\n````");
    check("List `docs/`", &[look, &["ls docs"]], "## `docs`\n\n```\n[dir] a");
    check("Read gone.rs", &[look, &["read_file gone.rs"]], "- `read_file gone.rs`: `gone.rs` does not exist\n");
    check("Read /etc/passwd", &[look, &["read_file /etc/passwd"]], "- `read_file /etc/passwd`:");
}

#[test]
fn a_later_prompt_is_planned_again() {
    let files = repository();
    let mut contents = vec![Content::user(SURVEY)];
    converse(&mut contents, &tools(ALL), |call| run(&files, call));
    contents.push(Content::user("And where is `wheel`?"));
    let (turns, reply) = converse(&mut contents, &tools(ALL), |call| run(&files, call));
    assert_eq!(turns, [vec!["grep wheel count", "grep wheel matches"]]);
    assert!(!reply.visible_text().contains("TODO`: "), "{}", reply.visible_text());
}

#[test]
fn offline_reports_what_fails_and_what_is_missing() {
    let denied = |call: &FunctionCall| ResponseBody::Error(format!("`{}` has no fs-read grant", call.name));
    let (turns, reply) = converse(&mut vec![Content::user(SURVEY)], &tools(ALL), denied);
    assert_eq!(turns.len(), 2);
    let report = reply.visible_text();
    assert!(report.contains("- `glob **/*`: `glob` has no fs-read grant"), "{report}");
    assert!(!report.contains("## Size") && !report.contains("## `TODO`"), "{report}");
    let (turns, report) = ask(SURVEY, &["grep"]);
    assert_eq!(turns, [vec!["grep TODO count", "grep TODO matches"]]);
    assert!(
        report.contains("31 lines in 2 files") && report.contains("The tool `ls` is not available here"),
        "{report}"
    );
    let (turns, report) = ask(SURVEY, &[]);
    assert!(turns.is_empty() && report.contains("The tool `grep` is not available here"), "{report}");
}

#[test]
fn outputs_that_make_no_sense_are_no_trouble() {
    for output in
        ["", "\n\n", "Found x files", "Found 99999999999999999999 matches in 1 files", "[dirs] ", "::::", "\u{1b}[31m"]
    {
        let answer = |_: &FunctionCall| ResponseBody::Output(output.to_owned());
        let prompt = format!("{SURVEY} And `src/main.rs`?");
        let (_, reply) = converse(&mut vec![Content::user(prompt)], &tools(ALL), answer);
        let report = reply.visible_text();
        assert!(report.contains("not a language model"), "{output}");
        for call in ["ls .", "glob **/*", "grep TODO"] {
            assert!(
                report.contains(&format!("- `{call}`: this planner does not understand its answer")),
                "{output}: {report}"
            );
        }
        assert!(!report.contains("- 0 files") && !report.contains("No line contains it"), "{output}: {report}");
    }
}

#[test]
fn a_list_that_was_cut_is_reported_as_one() {
    let answer = |call: &FunctionCall| match call.name.as_str() {
        "glob" => ResponseBody::Output(
            "Found 5000 files matching `**/*` in `.`\na.rs\nb/c.rs\n(cut: 4998 more files)\n".to_owned(),
        ),
        "ls" => ResponseBody::Output("[dir] b\na.rs (1 bytes)\n".to_owned()),
        _ => ResponseBody::Output(
            "Found the first 100 matches in 3 files for `TODO` (stopped there)\na.rs:1: TODO\n".to_owned(),
        ),
    };
    let (_, reply) = converse(&mut vec![Content::user(SURVEY)], &tools(&["ls", "glob", "grep"]), answer);
    let report = reply.visible_text();
    assert!(report.contains("- 5000 files\n- By extension (of the first 2 listed): `rs` 2"), "{report}");
    assert!(report.contains("## `TODO`: at least 100 lines in 3 files"), "{report}");
}

/// Returns a tool with which the agent returns a report with places, as the built-in investigator declares it.
fn complete_task() -> ToolSpec {
    let place = json!({"type": "object", "properties": {
        "FilePath": {"type": "string"},
        "Reasoning": {"type": "string"},
        "KeySymbols": {"type": "array", "items": {"type": "string"}},
    }});
    let report = json!({"type": "object", "properties": {
        "SummaryOfFindings": {"type": "string"},
        "ExplorationTrace": {"type": "array", "items": {"type": "string"}},
        "RelevantLocations": {"type": "array", "items": {"$ref": "#/$defs/place"}},
    }});
    let properties = json!({"report": report});
    let input_schema = json!({"type": "object", "properties": properties, "$defs": {"place": place}});
    ToolSpec { input_schema: input_schema.into(), ..declared(COMPLETE_TASK) }
}

#[test]
fn a_task_is_completed_with_the_argument_that_the_schema_names() {
    let files = repository();
    let mut tools = tools(ALL);
    tools.push(complete_task());
    let mut contents = vec![Content::user("<objective>Where is grind_all?</objective>")];
    let (_, reply) = converse(&mut contents, &tools, |call| run(&files, call));
    let calls: Vec<_> = reply.function_calls().collect();
    let report = &calls[0].arguments["report"];
    assert_eq!((calls.len(), calls[0].name.as_str()), (1, COMPLETE_TASK));
    assert!(report["SummaryOfFindings"].as_str().unwrap().contains("not a language model"));
    assert_eq!(report["ExplorationTrace"], json!(["grep grind_all", "grep grind_all"]));
    let why = "line 3 has `grind_all`: grind_all();";
    let place = json!({"FilePath": "src/main.rs", "Reasoning": why, "KeySymbols": ["grind_all"]});
    assert_eq!(report["RelevantLocations"], json!([place]));

    // Once rejected, it is not called with the same result forever.
    let name = ToolName::new(COMPLETE_TASK);
    let body = ResponseBody::Error("no".to_owned());
    let refusal = PartData::FunctionResponse(FunctionResponse::new(calls[0].id.clone(), name, body));
    contents.push(Content { role: Role::User, parts: vec![refusal.into()] });
    assert_eq!(reply_to(&contents, &tools).function_calls().count(), 0);
}

#[test]
fn a_last_warning_is_answered_with_what_is_there() {
    let mut tools = tools(ALL);
    tools.push(ToolSpec {
        input_schema: json!({"type": "object", "properties": {"result": {"type": "string"}}}).into(),
        ..declared(COMPLETE_TASK)
    });
    let warning = "The time is over. Call `complete_task` at once. Call no other tool: it would not run.";
    let check = |tools: &[ToolSpec], contents: &[Content], calls: &[&str]| {
        let reply = reply_to(contents, tools);
        let names: Vec<_> = reply.function_calls().map(|call| call.name.as_str()).collect();
        assert_eq!(names, calls);
    };
    check(&tools, &[Content::user(SURVEY), Content::user(warning)], &[COMPLETE_TASK]);
    let both = Content { role: Role::User, parts: vec![Part::text(SURVEY), Part::text(warning)] };
    check(&tools, &[both], &[COMPLETE_TASK]);
    check(&tools[..ALL.len()], &[Content::user(SURVEY), Content::user(warning)], &[]);
    check(&tools, &[Content::user(SURVEY)], &["ls", "glob"]);
}

#[test]
fn offline_remark_beside_outcomes_is_not_a_new_prompt() {
    let files = repository();
    let mut contents = vec![Content::user(SURVEY)];
    let tools = tools(ALL);
    let mut reply = reply_to(&contents, &tools);
    let responses = reply.parts.iter_mut().zip(0..).filter_map(|(part, at)| match &mut part.data {
        PartData::FunctionCall(call) => {
            call.id = CallId::new(format!("c{at}"));
            let (id, name, body) = (call.id.clone(), call.name.clone(), run(&files, call));
            Some(PartData::FunctionResponse(FunctionResponse::new(id, name, body)).into())
        }
        _ => None,
    });
    let mut parts: Vec<Part> = responses.collect();
    parts.push(Part::text("You are doing the same again and again."));
    contents.extend([reply, Content { role: Role::User, parts }]);
    let second = reply_to(&contents, &tools);
    assert!(second.function_calls().any(|call| call.arguments.get("pattern").is_some_and(|word| word == "TODO")));
}

#[test]
fn a_grep_without_modes_gets_an_escaped_pattern() {
    let grep =
        ToolSpec { input_schema: json!({"type": "object", "properties": {"pattern": {}}}).into(), ..declared("grep") };
    let reply = reply_to(&[Content::user("Where is `a.b(c)*`?")], &[grep]);
    let calls: Vec<_> = reply.function_calls().map(|call| Value::Object(call.arguments.clone())).collect();
    assert_eq!(calls, [json!({"pattern": r"a\.b\(c\)\*"})]);
}

#[test]
fn text_comes_in_small_pieces() {
    let text = "größe 😀 ".repeat(20);
    let pieces: Vec<&str> = pieces(&text).collect();
    assert_eq!(pieces.concat(), text);
    assert!(pieces.len() > 5 && pieces.iter().all(|piece| (1..=PIECE_CHARS).contains(&piece.chars().count())));
}
