//! A plugin that calls other tools as it is told, all at once or one after the other.

use host_sdk::tools::{self, Error, ToolCall};
use host_sdk::{Failure, Outcome, Tool, export_plugin};
use serde::Deserialize;

export_plugin!(call_tools());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The names of the tools.
    names: Vec<String>,
    /// The arguments of each, JSON as text.
    arguments: String,
    /// Whether they are called at once.
    #[serde(default)]
    at_once: bool,
    /// How often all of it is done.
    #[serde(default = "once")]
    times: usize,
}

fn once() -> usize {
    1
}

fn call_tools() -> Tool {
    let schema = r#"{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"arguments":{"type":"string"},"at_once":{"type":"boolean"},"times":{"type":"integer"}},"required":["names","arguments"]}"#;
    Tool::new("call_tools", "Calls tools.", schema, call).needs("tools", "*", "call what it is told to").preview(
        |arguments: Arguments| {
            // A preview calls nothing.
            let made = tools::call(&ToolCall::new(&arguments.names[0], arguments.arguments));
            Err::<Option<host_sdk::Confirmation>, _>(Failure::Failed(format!("{made:?}")))
        },
    )
}

fn call(Arguments { names, arguments, at_once, times }: Arguments) -> Result<Outcome, Failure> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for _ in 0..times {
        let calls: Vec<ToolCall> = names.iter().map(|name| ToolCall::new(name, &*arguments)).collect();
        let made = if at_once { tools::call_all(&calls) } else { calls.iter().map(tools::call).collect() };
        for made in made {
            let line = match made {
                Ok(answer) if answer.text.len() > 100 => format!("{} bytes", answer.text.len()),
                Ok(answer) => answer.text,
                Err(Error::Denied(denial)) => format!("denied: {}", denial.help),
                Err(Error::NotFound(why)) => format!("not found: {why}"),
                Err(Error::Invalid(why)) => format!("invalid: {why}"),
                Err(Error::Refused(why)) => format!("refused: {why}"),
                Err(Error::Unavailable(why)) => format!("unavailable: {why}"),
                Err(Error::Cancelled) => "cancelled".to_owned(),
                Err(Error::Failed(why)) => format!("failed: {why}"),
            };
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => lines.push((line, 1)),
            }
        }
    }
    Ok(Outcome::text(lines.into_iter().map(|(line, count)| format!("{count} × {line}\n")).collect::<String>()))
}
