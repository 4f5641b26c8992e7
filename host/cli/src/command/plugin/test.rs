//! `host plugin test`: runs the cases in a plugin's folder `tests` and prints their results.

use anstyle::AnsiColor;
use host_devkit::{BuiltPlugin, CaseError, CaseOptions, CaseResult};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::{exact, visible_line};
use serde_json::{Value, json};

use super::build;
use crate::arguments::PluginTest;
use crate::exit::Code;
use crate::printer::{self, Out, Style};
use crate::process;

/// Runs the cases of these plugins and prints their results.
pub(super) async fn run(
    plugins: Vec<BuiltPlugin>,
    arguments: &PluginTest,
    environment: &Environment,
    out: &Out,
) -> Result<Code, Failure> {
    let style = printer::stdout_style(environment);
    let shown = |case: &CaseResult, before: Option<&CaseResult>| {
        if !arguments.json {
            out.write(&told(case, style, before));
        }
    };
    let options = options(arguments.filter.clone(), environment);
    let ended = host_devkit::run_cases(&plugins, &options, shown).await.map_err(|error| failed(&error))?;
    if ended.is_empty() {
        return Err(nothing(&plugins, arguments));
    }
    let failed = ended.iter().filter(|case| !case.passed()).count();
    if arguments.json {
        super::super::tool::print_json(&as_json(&ended), out)?;
    } else {
        out.write(&format!("\n{} passed, {failed} failed\n", ended.len() - failed));
    }
    Ok(if failed == 0 { Code::Done } else { Code::Failed(ErrorKind::Tool) })
}

pub(super) fn options(filter: Option<String>, environment: &Environment) -> CaseOptions {
    CaseOptions {
        filter,
        cache: build::cache(environment),
        environment: environment.all(),
        compile: process::compile_options(environment),
    }
}

pub(super) fn failed(error: &CaseError) -> Failure {
    let kind = match error {
        CaseError::Folder { .. } | CaseError::File(_) | CaseError::Manifest(_) => ErrorKind::Input,
        CaseError::Scratch(_) | CaseError::Make { .. } | CaseError::Workspace { .. } => ErrorKind::Configuration,
    };
    Failure::from_error(kind, error)
}

fn nothing(plugins: &[BuiltPlugin], arguments: &PluginTest) -> Failure {
    let folders: Vec<String> =
        plugins.iter().map(|tested| format!("`{}`", tested.folder.join("tests").display())).collect();
    match &arguments.filter {
        Some(filter) => Failure::input(format!("no case has `{filter}` in its name")),
        None => Failure::input(format!("there are no cases: there is no file `*.toml` in {}", folders.join(", ")))
            .help(
                "a case is\n  [[case]]\n  name = \"what it shows\"\n  arguments = { path = \"a.txt\" }\n  files = { \
             \"a.txt\" = \"one\\n\" }\n  expect = { contains = \"one\" }",
            ),
    }
}

/// A case as text, below a heading if it is the first of its file.
pub(super) fn told(case: &CaseResult, style: Style, before: Option<&CaseResult>) -> String {
    let mut text = String::new();
    if before.is_none_or(|before| before.file != case.file) {
        let file = case.file.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&format!("{} ({file})\n", style.bold(&exact(&case.plugin))));
    }
    let (word, colour) = if case.passed() { ("ok  ", AnsiColor::Green) } else { ("FAIL", AnsiColor::Red) };
    let took = style.dim(&format!("({} ms)", case.took.as_millis()));
    text.push_str(&format!("  {} {} {took}\n", style.paint(word, colour), visible_line(&case.name)));
    for line in case.wrong.iter().flat_map(|wrong| wrong.lines()) {
        let shown = visible_line(line);
        let shown = match line.as_bytes().first() {
            Some(b'-') => style.paint(&shown, AnsiColor::Red),
            Some(b'+') => style.paint(&shown, AnsiColor::Green),
            _ => shown.into_owned(),
        };
        text.push_str(&format!("       {shown}\n"));
    }
    text
}

fn as_json(ended: &[CaseResult]) -> Value {
    let case = |case: &CaseResult| {
        json!({
            "plugin": case.plugin,
            "file": case.file.display().to_string(),
            "name": case.name,
            "passed": case.passed(),
            "wrong": case.wrong,
            "milliseconds": u64::try_from(case.took.as_millis()).unwrap_or(u64::MAX),
        })
    };
    json!(ended.iter().map(case).collect::<Vec<_>>())
}
