//! `host tool`: the tools through the same sandbox, without a model.

use std::slice;

use host_app::app::{self, App, Opening};
use host_app::session::pages::tools::{self, ListedTool, ShownTool};
use host_app::single_call::{self, Ended};
use host_message::{CallId, FunctionCall, ToolName};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::folder;
use host_text::{visible, visible_line};
use host_tool::Registry;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Access, Place, Tool};
use crate::exit::Code;
use crate::printer::{self, Out};
use crate::process;

pub(crate) async fn run(tool: Tool, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    let out = Out::new(stop.clone());
    match tool {
        Tool::List { place, access, json } => {
            let place = open(&place, &access, &environment, &stop).await?;
            // The list has what servers offer once they answered.
            place.settled_tools(place.grants(), None).await?;
            list(&place, json, &out)
        }
        Tool::Show { name, place, access, json } => {
            let place = open(&place, &access, &environment, &stop).await?;
            let tools = place.settled_tools(place.grants(), Some(&name)).await?;
            show(&place, &tools, &name, json, &out)
        }
        Tool::Call { name, arguments, preview, place, access, json } => {
            let place = open(&place, &access, &environment, &stop).await?;
            let call = call_of(name, arguments)?;
            if preview {
                show_preview(&place, call, json, &out).await
            } else {
                run_call(&place, call, json, &out, stop).await
            }
        }
    }
}

pub(super) async fn open(
    place: &Place,
    access: &Access,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<App, Failure> {
    let place = folder::configured(place.request(), environment)?;
    let project = app::project(&place, &environment.folders()?)?;
    printer::notes(project.note().as_slice(), environment);
    let (access, tooling) = (access.request(), process::tooling(environment));
    let opening = Opening { place: &place, access: &access, project, environment, tooling: &tooling };
    App::open(opening, &|note| printer::notes(slice::from_ref(note), environment), stop).await
}

fn not_arguments(why: &str) -> Failure {
    Failure::input(format!("the arguments are not a JSON object: {why}")).help("write them as '{\"path\": \"src\"}'")
}

/// The call that was written on the command line.
pub(super) fn call_of(name: String, arguments: String) -> Result<FunctionCall, Failure> {
    let arguments = if arguments == "-" { read_arguments()? } else { arguments };
    match serde_json::from_str(&arguments).map_err(|error| not_arguments(&error.to_string()))? {
        Value::Object(arguments) => Ok(FunctionCall::new(CallId::new("tool-call"), ToolName::new(name), arguments)),
        _ => Err(not_arguments("it is JSON, but not an object")),
    }
}

fn read_arguments() -> Result<String, Failure> {
    std::io::read_to_string(std::io::stdin())
        .map_err(|error| Failure::input(format!("the arguments cannot be read from standard input: {error}")))
}

fn list(place: &App, json: bool, out: &Out) -> Result<Code, Failure> {
    let tools = tools::listed(place, place.grants());
    if json {
        return print_json(&Value::Array(tools.iter().map(ListedTool::json).collect()), out);
    }
    out.write_entries(&tools::page(&tools).text());
    Ok(Code::Done)
}

fn show(place: &App, tools: &Registry, name: &str, json: bool, out: &Out) -> Result<Code, Failure> {
    let shown = ShownTool::find(place, tools, name)?;
    if json {
        return print_json(&shown.json(), out);
    }
    let spec = shown.spec();
    let mut text = spec.name.to_string();
    if let Some(title) = &spec.title {
        text.push_str(&format!(": {}", visible_line(title)));
    }
    let description = printer::barred(spec.description.trim());
    text.push_str(&format!("\n\n{description}\nArguments:\n{}\n", printer::json(&spec.input_schema)?));
    out.write_entries(&(text + &shown.about()));
    Ok(Code::Done)
}

async fn run_call(
    place: &App,
    call: FunctionCall,
    json: bool,
    out: &Out,
    stop: CancellationToken,
) -> Result<Code, Failure> {
    match single_call::run(place, call, &stop).await? {
        Ended::Success { output, mcp_meta } if json => {
            let mut printed = json!(output);
            if let (Some(meta), Some(fields)) = (mcp_meta, printed.as_object_mut()) {
                fields.insert("mcp_meta".to_owned(), json!(meta));
            }
            print_json(&printed, out)
        }
        Ended::Success { output, mcp_meta: _ } => {
            out.write(&tools::output(&output));
            Ok(Code::Done)
        }
        Ended::Failed(failure) => Err(failure),
        Ended::Cancelled { partial, failure } => {
            out.write(&visible(&partial));
            Err(failure)
        }
    }
}

async fn show_preview(place: &App, call: FunctionCall, json: bool, out: &Out) -> Result<Code, Failure> {
    let preview = single_call::preview(place, call).await?;
    if json {
        return print_json(&tools::preview_json(preview.as_ref()), out);
    }
    out.write(&tools::preview(preview.as_ref()));
    Ok(Code::Done)
}

pub(super) fn print_json(value: &Value, out: &Out) -> Result<Code, Failure> {
    out.write(&printer::json(value)?);
    Ok(Code::Done)
}
