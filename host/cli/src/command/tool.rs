//! `host tool`: the tools through the same sandbox, without a model.

use std::fmt::Write as _;

use host_app::app::{self, App, Opening};
use host_app::session::pages::tools::{self, ListedTool};
use host_app::single_call::{self, Ended};
use host_extensions::plugins::MCP;
use host_message::{CallId, FunctionCall, ToolName, ToolSpec};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::folder;
use host_settings::mcp::SEPARATOR;
use host_text::{exact, excerpt, visible, visible_line};
use host_tool::Registry;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Access, Place, Tool};
use crate::exit::Code;
use crate::printer::{self, Out};
use crate::process;

/// The longest scope of a grant, in characters; `--json` has all of it. Protects the lines about the other
/// capabilities.
const MAX_SCOPE: usize = 200;

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
    App::open(opening, &|note| printer::notes(&[note.to_owned()], environment), stop).await
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
        let row = |tool: &ListedTool| {
            let granted =
                tool.needs.iter().map(|(capability, granted)| (capability.to_string(), Value::Bool(*granted)));
            let granted: serde_json::Map<String, Value> = granted.collect();
            json!({"name": tool.name, "plugin": tool.plugin, "title": tool.title, "granted": granted})
        };
        return print_json(&Value::Array(tools.iter().map(row).collect()), out);
    }
    out.write_entries(&tools::page(&tools).text());
    Ok(Code::Done)
}

fn show(place: &App, tools: &Registry, name: &str, json: bool, out: &Out) -> Result<Code, Failure> {
    if let Some(tool) = tools.get(&ToolName::new(name)).filter(|_| name.contains(SEPARATOR)) {
        return show_of_server(tool.spec(), json, out);
    }
    let (installed, tool) = single_call::find(place, name)?;
    let imports = installed.plugin.imports().map_err(|error| Failure::input(error.to_string()))?;
    let granted = place.grants().granted_to(installed);
    if json {
        return print_json(
            &json!({
                "tool": tool.spec,
                "plugin": {"name": installed.manifest.name, "version": installed.manifest.version, "license": installed.manifest.license},
                "component": {"sha256": installed.plugin.digest().as_str(), "size": installed.plugin.size(), "imports": imports.names},
                "asks_for": installed.manifest.capabilities,
                "granted": granted,
            }),
            out,
        );
    }
    let mut text = of_spec(&tool.spec)?;
    let manifest = &installed.manifest;
    // A string takes everything.
    let _ = writeln!(
        text,
        "Plugin `{}` {} ({}), SHA-256 {}",
        manifest.name,
        manifest.version,
        visible_line(&manifest.license),
        installed.plugin.digest()
    );
    let _ = writeln!(text, "Imports: {}", imports.names.join(", "));
    for (capability, declared) in manifest.requests() {
        let scope = capability.parse().ok().and_then(|capability| granted.scope(capability)).map(ToString::to_string);
        let state = match scope {
            Some(scope) => format!("granted: {}", excerpt(&scope, MAX_SCOPE)),
            None => "not granted".to_owned(),
        };
        let _ = writeln!(text, "  {} ({state}): to {}", exact(capability), visible_line(&declared.reason));
    }
    out.write_entries(&text);
    Ok(Code::Done)
}

/// What a tool says of itself: its description behind a bar, and its arguments.
fn of_spec(spec: &ToolSpec) -> Result<String, Failure> {
    let mut text = spec.name.to_string();
    if let Some(title) = &spec.title {
        // A string takes everything.
        let _ = write!(text, ": {}", visible_line(title));
    }
    let description = printer::barred(spec.description.trim());
    let _ = writeln!(text, "\n\n{description}\nArguments:\n{}", printer::json(&spec.input_schema)?);
    Ok(text)
}

/// A tool of an MCP server. All that is known of it is what its server says.
fn show_of_server(spec: &ToolSpec, json: bool, out: &Out) -> Result<Code, Failure> {
    if json {
        return print_json(&json!({"tool": spec, "plugin": {"name": MCP}}), out);
    }
    let mut text = of_spec(spec)?;
    // A string takes everything.
    let _ = writeln!(
        text,
        "Its MCP server says this about it. Calls run in the plugin `{MCP}`, which may call this tool alone."
    );
    out.write_entries(&text);
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
