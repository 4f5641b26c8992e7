//! `host tool`: the tools through the same sandbox, without a model.

use std::fmt::Write as _;
use std::sync::Arc;

use host_agent::{ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH};
use host_app::app::{self, App};
use host_capability::Capability;
use host_extensions::grants::UserGrants;
use host_extensions::plugins::{LoadedPlugin, MCP};
use host_extensions::servers::{McpHub, ReportedTool};
use host_message::{CallId, FunctionCall, Output, OutputPart, ToolName, ToolSpec};
use host_plugin::{CallError, Confirmation, Invocation};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_settings::folder;
use host_settings::mcp::SEPARATOR;
use host_text::{Newlines, clip, did_you_mean, escape_exact, exact, excerpt, visible, visible_line};
use host_tool::{CallContext, FailureWords, LiveOutput, Outcome, PausableClock, ProgramInput, Registry};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Access, Place, Tool};
use crate::exit::Code;
use crate::printer::{self, Out};

/// The longest scope of a grant, in characters; `--json` has all of it. Protects the lines about the other
/// capabilities.
const MAX_SCOPE: usize = 200;

/// The longest title in the list of tools, in characters; `--json` has all of it. Protects the list.
const MAX_TITLE: usize = 240;

pub(crate) async fn run(tool: Tool, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    let out = Out::new(stop.clone());
    match tool {
        Tool::List { place, access, json } => {
            let place = open(&place, &access, &environment, &stop).await?;
            // The list has what servers offer once they answered.
            place.settled_tools(&place.grants, None).await?;
            list(&place, json, &out)
        }
        Tool::Show { name, place, access, json } => {
            let place = open(&place, &access, &environment, &stop).await?;
            let tools = place.settled_tools(&place.grants, Some(&name)).await?;
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
    App::open(
        &place,
        &access.request(),
        project,
        environment,
        &|note| printer::notes(&[note.to_owned()], environment),
        stop,
    )
    .await
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

/// A tool in the list: its name, its plugin, what it is, and what it asks for with whether it was granted.
type Row = (String, String, String, Vec<(Capability, bool)>);

fn rows(place: &App, grants: &UserGrants) -> Vec<Row> {
    let mut rows = Vec::new();
    for installed in &place.plugins {
        let granted = grants.granted_to(installed);
        for tool in &installed.manifest.tools {
            let needs: Vec<(Capability, bool)> = installed
                .plugin
                .declared()
                .iter()
                .map(|scope| scope.capability())
                // Of those that the plugin requests the tool itself may need none.
                .filter(|capability| tool.capabilities.iter().any(|needed| needed == capability.name()))
                .map(|capability| (capability, granted.has(capability)))
                .collect();
            let title = tool.spec.title.clone().unwrap_or_default();
            rows.push((tool.spec.name.to_string(), installed.manifest.name.clone(), title, needs));
        }
    }
    rows.extend(place.mcp.iter().flat_map(|servers| of_servers(place, grants, servers)));
    rows
}

/// The tools of MCP servers.
fn of_servers(place: &App, grants: &UserGrants, servers: &McpHub) -> Vec<Row> {
    let plugin = place.plugin(MCP).map(|plugin| grants.granted_to(plugin));
    let is_granted = plugin.is_some_and(|granted| granted.has(Capability::Mcp));
    let tools = servers.reports().into_iter().flat_map(|report| report.tools);
    let row = |tool: ReportedTool| {
        let needs = vec![(Capability::Mcp, is_granted || tool.only_reads)];
        (tool.name, MCP.to_owned(), tool.title.unwrap_or_default(), needs)
    };
    tools.map(row).collect()
}

fn list(place: &App, json: bool, out: &Out) -> Result<Code, Failure> {
    if json {
        let rows: Vec<Value> = rows(place, &place.grants)
            .iter()
            .map(|(name, plugin, title, needs)| {
                let needs: serde_json::Map<String, Value> =
                    needs.iter().map(|(capability, granted)| (capability.to_string(), Value::Bool(*granted))).collect();
                json!({"name": name, "plugin": plugin, "title": title, "granted": needs})
            })
            .collect();
        return print_json(&json!(rows), out);
    }
    out.write_entries(&listed(place, &place.grants));
    Ok(Code::Done)
}

/// The tools with what they may touch, for a user.
pub(crate) fn listed(app: &App, grants: &UserGrants) -> String {
    let rows = rows(app, grants);
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (name, _, title, needs) in &rows {
        let word = |(capability, granted): &(Capability, bool)| match granted {
            true => capability.to_string(),
            false => format!("{capability} (not granted)"),
        };
        let needs: Vec<String> = needs.iter().map(word).collect();
        // A string takes everything.
        let _ = writeln!(text, "{name:width$}  {}", clip(&visible_line(title), MAX_TITLE));
        let _ = writeln!(text, "{:width$}  {}", "", needs.join(", "));
    }
    text
}

fn show(place: &App, tools: &Registry, name: &str, json: bool, out: &Out) -> Result<Code, Failure> {
    if let Some(tool) = tools.get(&ToolName::new(name)).filter(|_| name.contains(SEPARATOR)) {
        return show_of_server(tool.spec(), json, out);
    }
    let (installed, tool) = find(place, name)?;
    let imports = installed.plugin.imports().map_err(|error| Failure::input(error.to_string()))?;
    let granted = place.grants.granted_to(installed);
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
    let tools = place.settled_tools(&place.grants, Some(call.name.as_str())).await?;
    let tool = tools.admit(&call).map_err(|failure| Failure::input(failure.message))?;
    let context = CallContext {
        cancel: stop.clone(),
        live: LiveOutput::nowhere(),
        run_clock: PausableClock::default(),
        allowance: Arc::default(),
        questions: None,
    };
    let ended = tool.call(&call, context);
    tokio::pin!(ended);
    let outcome = tokio::select! {
        outcome = &mut ended => outcome,
        () = stop.cancelled() => match tokio::time::timeout(host_tool::CANCEL_GRACE, ended).await {
            Ok(outcome) => outcome,
            Err(_) => Outcome::Cancelled { reason: "it did not stop by itself".to_owned(), partial: None },
        },
    };
    match outcome {
        Outcome::Success(output) if json => print_json(&json!(output), out),
        Outcome::Success(output) => {
            out.write(&text_of(&output));
            Ok(Code::Done)
        }
        Outcome::Error(failure) => {
            // Only the tools of MCP servers are in no manifest.
            let whose = find(place, call.name.as_str())
                .map_or(FailureWords::OfServer, |(installed, _)| installed.origin.failure_words());
            let words = match whose.stand_alone(failure.kind) {
                true => failure.message,
                false => format!("`{}` failed: {}", call.name, failure.message),
            };
            Err(Failure::new(ErrorKind::Tool, words))
        }
        Outcome::Cancelled { reason, partial } => {
            out.write(&visible(&partial.unwrap_or_default()));
            Err(Failure::new(ErrorKind::Cancelled, reason))
        }
    }
}

async fn show_preview(place: &App, call: FunctionCall, json: bool, out: &Out) -> Result<Code, Failure> {
    let tools = place.settled_tools(&place.grants, Some(call.name.as_str())).await?;
    let tool = tools.admit(&call).map_err(|failure| Failure::input(failure.message))?;
    if call.name.as_str().contains(SEPARATOR) {
        let intent = tool.intent(&call, CancellationToken::new()).await;
        let intent = intent.map_err(|failure| Failure::new(ErrorKind::Tool, failure.message))?;
        return print_preview(intent.confirmation, json, out);
    }
    let (installed, _) = find(place, call.name.as_str())?;
    let (grants, workspace) = (Arc::new(place.grants.granted_to(installed)), Arc::clone(&place.workspace));
    let arguments = Value::Object(call.arguments.clone()).to_string();
    let invocation = Invocation {
        config: Arc::clone(&installed.config),
        ..Invocation::new(call.id, call.name.clone(), arguments, grants, workspace)
    };
    let tool = invocation.tool.clone();
    let preview = place.runtime.preview(&installed.plugin, invocation).await;
    let words = |error: CallError| installed.origin.failure_words().of(&tool, &error);
    let confirmation = preview.map_err(|error| Failure::new(ErrorKind::Tool, words(error)))?;
    let input = match installed.commands.contains_key(&call.name) {
        true => ProgramInput::Arguments,
        false => ProgramInput::Nothing,
    };
    print_preview(confirmation.map(|confirmation| input.added(confirmation, &call.arguments)), json, out)
}

fn print_preview(confirmation: Option<Confirmation>, json: bool, out: &Out) -> Result<Code, Failure> {
    if json {
        let value = match confirmation {
            None => Value::Null,
            Some(Confirmation::Exec { argv, directory, input, background }) => {
                json!({"kind": "exec", "argv": argv, "directory": directory, "input": input, "background": background})
            }
            Some(Confirmation::Edit { path, unified, proposed }) => {
                json!({"kind": "edit", "path": path, "difference": unified, "proposed": proposed})
            }
            Some(Confirmation::Info { text, requests, writes }) => {
                let requests = requests.iter().map(|(method, url)| json!({"method": method, "url": url}));
                let requests: Vec<Value> = requests.collect();
                json!({"kind": "info", "text": text, "requests": requests, "writes": writes})
            }
            Some(Confirmation::Mcp { server, identity, tool, changed: _ }) => {
                json!({"kind": "mcp", "server": server, "identity": identity, "tool": tool})
            }
            Some(Confirmation::Call) => json!({"kind": "call"}),
        };
        return print_json(&value, out);
    }
    let text = match confirmation {
        None => "it would run without a question\n".to_owned(),
        Some(Confirmation::Exec { argv, directory, input, background }) => {
            let command = escape_exact(&host_plugin::command_line(&argv), Newlines::Keep).into_owned();
            let input = input
                .map(|input| format!("which reads:\n{}\n", escape_exact(&input, Newlines::Keep)))
                .unwrap_or_default();
            let where_to = if background { ", in the background" } else { "" };
            format!("run in {}{where_to}:\n{command}\n{input}", exact(&directory))
        }
        Some(Confirmation::Edit { unified, .. }) => escape_exact(&unified, Newlines::Keep).into_owned(),
        Some(Confirmation::Info { text, .. }) => format!("{}\n", visible(&text)),
        Some(Confirmation::Mcp { server, identity, tool, changed: _ }) => {
            format!("call `{}` of the MCP server `{server}` ({})\n", exact(&tool), exact(&identity))
        }
        Some(Confirmation::Call) => "it has no preview: the question would show its name and arguments\n".to_owned(),
    };
    out.write(&text);
    Ok(Code::Done)
}

/// The tools that the agent itself has.
const OF_THE_AGENT: [&str; 5] = [ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH];

fn find<'p>(place: &'p App, name: &str) -> Result<(&'p LoadedPlugin, &'p host_manifest::ToolEntry), Failure> {
    let found = place.plugins.iter().find_map(|installed| {
        let tool = installed.manifest.tools.iter().find(|tool| tool.spec.name.as_str() == name)?;
        Some((installed, tool))
    });
    if let Some(found) = found {
        return Ok(found);
    }
    if OF_THE_AGENT.contains(&name) {
        let failure = Failure::input(format!("`{name}` is a tool of the agent itself, and no plugin's"));
        return Err(failure.help("a run has it without a grant; it cannot be called or looked at by itself"));
    }
    Err({
        let failure = Failure::input(format!("there is no tool `{name}`"));
        match did_you_mean(place.tools(&place.grants)?.nearest(name)) {
            Some(help) => failure.help(help),
            None => failure,
        }
    })
}

/// Returns the text of an output unchanged, for a pipe or a terminal; data is described, not printed.
fn text_of(output: &Output) -> String {
    let mut text = String::new();
    for part in &output.content {
        match part {
            OutputPart::Text(part) => text.push_str(&visible(part)),
            OutputPart::Data(data) => {
                let _ = write!(text, "({}, {} base64 characters; see --json)", data.mime_type, data.base64.len());
            }
            OutputPart::Link { uri, .. } => text.push_str(&exact(uri)),
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

pub(super) fn print_json(value: &Value, out: &Out) -> Result<Code, Failure> {
    out.write(&printer::json(value)?);
    Ok(Code::Done)
}
