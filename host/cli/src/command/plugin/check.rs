//! `host plugin check`: prints what a check found.

use anstyle::AnsiColor;
use host_devkit::{BuiltPlugin, CheckReport, Finding, Severity, Since};
use host_manifest::{VersionVerdict, Weight};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::{exact, visible_line};
use serde_json::{Value, json};

use super::build;
use crate::arguments::PluginCheck;
use crate::exit::Code;
use crate::printer::{self, Out, Style};
use crate::process;

/// Checks the plugins and prints what was found.
pub(super) async fn run(
    plugins: Vec<BuiltPlugin>,
    arguments: &PluginCheck,
    environment: &Environment,
    out: &Out,
) -> Result<Code, Failure> {
    let released = match &arguments.since {
        Some(path) => host_devkit::read_released(path).map_err(build::failed)?,
        None => Vec::new(),
    };
    let mut checked = Vec::new();
    for plugin in plugins {
        let one = host_devkit::check(plugin, &released, process::compile_options(environment))
            .await
            .map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
        if !arguments.json {
            out.write(&told(&one, printer::stdout_style(environment)));
        }
        checked.push(one);
    }
    if checked.is_empty() {
        return Err(Failure::input("no plugin to check"));
    }
    if arguments.json {
        let all: Vec<Value> = checked.iter().map(as_json).collect();
        super::super::tool::print_json(&json!(all), out)?;
    }
    Ok(if checked.iter().all(CheckReport::is_good) { Code::Done } else { Code::Failed(ErrorKind::Tool) })
}

fn told(checked: &CheckReport, style: Style) -> String {
    let CheckReport { manifest, imports, size, compiling, findings, since } = checked;
    let mut text = format!("{} {}\n", style.bold(&exact(&manifest.name)), manifest.version);
    let imports = if imports.is_empty() { "nothing".to_owned() } else { exact(&imports.join(", ")).into_owned() };
    text.push_str(&format!("  imports  {imports}\n"));
    text.push_str(&format!("  size     {size} bytes; compiled in {:.2} s\n", compiling.as_secs_f64()));
    for Finding { severity, what } in findings {
        let colour = match severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Note => AnsiColor::Cyan,
        };
        text.push_str(&format!(
            "  {} {}\n",
            style.paint(&format!("{:8}", severity.word()), colour),
            visible_line(what)
        ));
    }
    if let Some(Since { version, changes, verdict }) = since {
        text.push_str(&format!("  since {version}\n"));
        for change in changes.iter() {
            let colour = match change.weight {
                Weight::Breaking => AnsiColor::Red,
                Weight::Addition => AnsiColor::Green,
                Weight::Fix => AnsiColor::Cyan,
            };
            let word = style.paint(&format!("{:8}", change.weight), colour);
            text.push_str(&format!("    {word} {}\n", visible_line(&change.what)));
        }
        if changes.iter().next().is_none() {
            text.push_str("    no change that is visible to callers or users\n");
        }
        text.push_str(&match verdict {
            VersionVerdict::Enough => format!("  {} matches these changes\n", manifest.version),
            VersionVerdict::TooLow { needed } => {
                let low = style.paint("too low", AnsiColor::Red);
                format!("  {} is {low}: these changes need at least {needed}\n", manifest.version)
            }
        });
    }
    text.push_str(if checked.is_good() { "  no errors\n" } else { "  not ready: see the errors above\n" });
    text
}

fn as_json(checked: &CheckReport) -> Value {
    let CheckReport { manifest, imports, size, compiling, findings, since } = checked;
    let finding = |finding: &Finding| json!({"severity": finding.severity.word(), "what": finding.what});
    let since = since.as_ref().map(|since| {
        let changes: Vec<Value> = since
            .changes
            .iter()
            .map(|change| json!({"weight": change.weight.to_string(), "what": change.what}))
            .collect();
        let needed = match &since.verdict {
            VersionVerdict::Enough => Value::Null,
            VersionVerdict::TooLow { needed } => json!(needed.to_string()),
        };
        json!({"version": since.version, "changes": changes, "needed": needed})
    });
    json!({
        "plugin": manifest.name,
        "version": manifest.version,
        "good": checked.is_good(),
        "imports": imports,
        "bytes": size,
        "compiling_ms": u64::try_from(compiling.as_millis()).unwrap_or(u64::MAX),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "since": since,
    })
}
