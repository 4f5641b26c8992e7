//! `host plugin check`: everything that can be told of a plugin without calling it, before it is given to others.
//!
//! Owns the order of what is told; the rules are in `lint`, those of versions in `host_manifest::Changes`.

mod lint;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anstyle::AnsiColor;
use host_app::environment::Environment;
use host_app::error::{ErrorKind, Failure};
use host_capability::Grants;
use host_manifest::{Changes, Manifest, VersionVerdict, Weight};
use host_plugin::{Plugin, Runtime, RuntimeOptions};
use serde_json::{Value, json};

use self::lint::{Finding, Severity};
use super::build::Ready;
use crate::arguments::PluginCheck;
use crate::exit::Code;
use crate::printer::{self, Out, Style, visible};

/// What was found out about one plugin.
struct Checked {
    manifest: Manifest,
    imports: Vec<String>,
    size: usize,
    compiling: Duration,
    findings: Vec<Finding>,
    since: Option<Since>,
}

/// What is different from a version that was released.
struct Since {
    version: semver::Version,
    changes: Changes,
    verdict: VersionVerdict,
}

/// Checks the plugins and prints what was found.
pub(super) async fn run(
    plugins: Vec<Ready>,
    arguments: &PluginCheck,
    environment: &Environment,
    out: &Out,
) -> Result<Code, Failure> {
    let released = match &arguments.since {
        Some(path) => released(path)?,
        None => Vec::new(),
    };
    let mut checked = Vec::new();
    for ready in plugins {
        // The largest take seconds, and a person who sees nothing wonders.
        if environment.stderr_is_terminal {
            printer::notes(&[format!("compiling {}", ready.manifest.name)], environment);
        }
        let one = check(ready, &released).await?;
        if !arguments.json {
            out.write(&told(&one, printer::stdout_style(environment)));
        }
        checked.push(one);
    }
    if checked.is_empty() {
        return Err(Failure::input("there is no plugin to check"));
    }
    if arguments.json {
        let all: Vec<Value> = checked.iter().map(as_json).collect();
        super::super::tool::print_json(&json!(all), out)?;
    }
    Ok(if checked.iter().all(Checked::is_good) { Code::Done } else { Code::Failed(ErrorKind::Tool) })
}

async fn check(ready: Ready, released: &[Manifest]) -> Result<Checked, Failure> {
    let Ready { manifest, component, .. } = ready;
    let size = component.len();
    let declared = manifest.declared(Path::new("/")).map_err(|error| Failure::of(ErrorKind::Input, &error))?;
    let refused = |error: &dyn std::error::Error| {
        Failure::input(format!("`{}` would not be taken", manifest.name)).cause(error.to_string())
    };
    let plugin = Plugin::new(manifest.plugin_name(), component, Grants::clone(&declared));
    let imports = plugin.imports().map_err(|error| refused(&error))?.clone();
    host_plugin::admission::admit(plugin.name(), &imports, &declared, manifest.optional(), &declared)
        .map_err(|error| refused(&error))?;
    // What is kept from before would make the figure one of loading.
    let runtime = Runtime::new(RuntimeOptions::default());
    let begun = Instant::now();
    runtime.prepare(&plugin).await.map_err(|error| refused(&error))?;
    let compiling = begun.elapsed();
    let since = released.iter().find(|old| old.name == manifest.name).map(|old| {
        let changes = Changes::between(old, &manifest);
        let verdict = changes.verdict(&old.version, &manifest.version);
        Since { version: old.version.clone(), changes, verdict }
    });
    let findings = lint::lint(&manifest, &imports);
    Ok(Checked { manifest, imports: imports.names, size, compiling, findings, since })
}

/// The manifests of a version that was released: of one file, or of all in a folder.
fn released(path: &Path) -> Result<Vec<Manifest>, Failure> {
    let unreadable = |path: &Path, error| Failure::input(format!("`{}` cannot be read: {error}", path.display()));
    let files: Vec<PathBuf> = if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| unreadable(path, error))?;
        let files: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
        let files = files.map_err(|error| unreadable(path, error))?;
        files
            .into_iter()
            .filter(|file| file.with_extension("wasm") != **file && file.with_extension("wasm").exists())
            .collect()
    } else {
        vec![path.with_extension("json")]
    };
    let manifests: Result<Vec<Manifest>, Failure> = files.iter().map(|file| super::build::manifest_of(file)).collect();
    match manifests? {
        none if none.is_empty() => {
            Err(Failure::input(format!("`{}` has no plugin NAME.wasm with its NAME.json", path.display())))
        }
        manifests => Ok(manifests),
    }
}

impl Checked {
    fn is_good(&self) -> bool {
        let wrong = self.findings.iter().any(|finding| finding.severity == Severity::Error);
        !wrong && self.since.as_ref().is_none_or(|since| since.verdict == VersionVerdict::Enough)
    }
}

fn told(checked: &Checked, style: Style) -> String {
    let Checked { manifest, imports, size, compiling, findings, since } = checked;
    let mut text = format!("{} {}\n", style.bold(&visible(&manifest.name)), manifest.version);
    let imports = if imports.is_empty() { "nothing".to_owned() } else { visible(&imports.join(", ")).into_owned() };
    text.push_str(&format!("  imports  {imports}\n"));
    text.push_str(&format!("  size     {size} bytes; compiled in {:.2} s\n", compiling.as_secs_f64()));
    for Finding { severity, what } in findings {
        let colour = match severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Note => AnsiColor::Cyan,
        };
        text.push_str(&format!("  {} {}\n", style.paint(&format!("{:8}", severity.word()), colour), visible(what)));
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
            text.push_str(&format!("    {word} {}\n", visible(&change.what)));
        }
        if changes.iter().next().is_none() {
            text.push_str("    nothing that a caller or the person could see\n");
        }
        text.push_str(&match verdict {
            VersionVerdict::Enough => format!("  {} says as much\n", manifest.version),
            VersionVerdict::TooLow { needed } => {
                let low = style.paint("too low", AnsiColor::Red);
                format!("  {} is {low}: the lowest version that says as much is {needed}\n", manifest.version)
            }
        });
    }
    text.push_str(if checked.is_good() { "  good\n" } else { "  not good\n" });
    text
}

fn as_json(checked: &Checked) -> Value {
    let Checked { manifest, imports, size, compiling, findings, since } = checked;
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
