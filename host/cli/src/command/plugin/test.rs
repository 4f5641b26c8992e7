//! `host plugin test`: the cases in a plugin's folder `tests`, each a call in the same sandbox as any.
//!
//! Promises: each case has a workspace of its own, which is gone with it. No request leaves the machine: what a plugin
//! fetches is answered by the case, after the grants permitted it. What a case does not grant is refused as in a run.

mod case;
mod judge;
mod prepared;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anstyle::AnsiColor;
use host_app::environment::Environment;
use host_app::error::{ErrorKind, Failure};
use host_manifest::Manifest;
use host_plugin::{Plugin, Runtime, RuntimeOptions};
use serde_json::{Value, json};

use self::case::{Case, Kind};
use self::judge::{Failed, Seen};
use self::prepared::{Prepared, tool};
use super::build::Ready;
use crate::arguments::PluginTest;
use crate::exit::Code;
use crate::printer::{self, Out, Style, visible};

/// What came of one case.
pub(super) struct Ended {
    plugin: String,
    file: PathBuf,
    name: String,
    took: Duration,
    wrong: Vec<String>,
}

impl Ended {
    /// Whether all was as it was expected.
    pub(super) fn passed(&self) -> bool {
        self.wrong.is_empty()
    }
}

/// Runs the cases of these plugins and prints what came of them.
pub(super) async fn run(
    plugins: Vec<Ready>,
    arguments: &PluginTest,
    environment: &Environment,
    out: &Out,
) -> Result<Code, Failure> {
    let style = printer::stdout_style(environment);
    let shown = |case: &Ended, before: Option<&Ended>| {
        if !arguments.json {
            out.write(&told(case, style, before));
        }
    };
    let ended = cases(&plugins, arguments.filter.as_deref(), environment, shown).await?;
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

/// Runs the cases of these plugins that have the filter in their names, one after the other. Each is handed on when it
/// has ended, with the one before it.
pub(super) async fn cases(
    plugins: &[Ready],
    filter: Option<&str>,
    environment: &Environment,
    shown: impl Fn(&Ended, Option<&Ended>),
) -> Result<Vec<Ended>, Failure> {
    let no_folder = |error| Failure::configuration(format!("no folder for the cases can be made: {error}"));
    let scratch = tempfile::tempdir().map_err(no_folder)?;
    let world = World::beneath(&std::fs::canonicalize(scratch.path()).map_err(no_folder)?);
    let runtime = Runtime::new(RuntimeOptions {
        cache: environment.folders().ok().map(|folders| folders.cache),
        state: Some(world.state.clone()),
        environment: environment.all(),
        ..RuntimeOptions::default()
    });
    let mut ended = Vec::new();
    for tested in plugins {
        let files = files(&tested.folder)?;
        let declared =
            tested.manifest.declared(&world.workspace).map_err(|error| Failure::of(ErrorKind::Input, &error))?;
        let plugin = Plugin::new(tested.manifest.plugin_name(), tested.component.clone(), declared)
            .with_optional(tested.manifest.optional());
        for (file, cases) in files {
            for case in cases.iter().filter(|case| wanted(case, filter)) {
                let begun = Instant::now();
                let wrong = run_case(case, &tested.manifest, &plugin, &runtime, &world).await?;
                let case = Ended {
                    plugin: tested.manifest.name.clone(),
                    file: file.clone(),
                    name: case.name.clone(),
                    took: begun.elapsed(),
                    wrong,
                };
                shown(&case, ended.last());
                ended.push(case);
            }
        }
    }
    Ok(ended)
}

fn nothing(plugins: &[Ready], arguments: &PluginTest) -> Failure {
    let folders: Vec<String> =
        plugins.iter().map(|tested| format!("`{}`", tested.folder.join("tests").display())).collect();
    match &arguments.filter {
        Some(filter) => Failure::input(format!("no case has `{filter}` in its name")),
        None => Failure::input(format!("there are no cases: no file *.toml in {}", folders.join(", "))).help(
            "a case is\n  [[case]]\n  name = \"what it shows\"\n  arguments = { path = \"a.txt\" }\n  files = { \
             \"a.txt\" = \"one\\n\" }\n  expect = { contains = \"one\" }",
        ),
    }
}

fn wanted(case: &Case, filter: Option<&str>) -> bool {
    filter.is_none_or(|filter| case.name.contains(filter))
}

/// The files of cases of a plugin, by name.
fn files(folder: &Path) -> Result<Vec<(PathBuf, Vec<Case>)>, Failure> {
    let folder = folder.join("tests");
    let unreadable = |error| Failure::input(format!("`{}` cannot be read: {error}", folder.display()));
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        // A Rust package has files of its own in there.
        if path.extension().is_some_and(|end| end == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let cases = case::read(&path).map_err(|error| Failure::of(Code::Input, &error))?;
            Ok((path, cases))
        })
        .collect()
}

/// What there is around a case: the same places for each, so that a plugin is compiled and linked once, and emptied
/// before each.
struct World {
    workspace: PathBuf,
    state: PathBuf,
}

impl World {
    fn beneath(folder: &Path) -> Self {
        Self { workspace: folder.join("workspace"), state: folder.join("state") }
    }

    /// Makes it what a case says.
    fn make(&self, case: &Case) -> std::io::Result<()> {
        for folder in [&self.workspace, &self.state] {
            match std::fs::remove_dir_all(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => std::fs::create_dir(folder)?,
            }
        }
        for (name, content) in &case.files {
            let path = self.workspace.join(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, content.bytes().map_err(std::io::Error::other)?)?;
        }
        Ok(())
    }
}

async fn run_case(
    case: &Case,
    manifest: &Manifest,
    plugin: &Plugin,
    runtime: &Runtime,
    world: &World,
) -> Result<Vec<String>, Failure> {
    world
        .make(case)
        .map_err(|error| Failure::configuration(format!("a workspace for `{}` cannot be made: {error}", case.name)))?;
    let tested = match Prepared::of(case, manifest, &world.workspace) {
        Ok(tested) => tested,
        Err(why) => return Ok(vec![why]),
    };
    for before in &case.before {
        let tool = match tool(before.tool.as_deref(), manifest) {
            Ok(tool) => tool,
            Err(why) => return Ok(vec![why]),
        };
        if let Err(error) = runtime.call(plugin, tested.invocation(tool, &before.arguments)).await {
            return Ok(vec![format!("a call before it failed: {error}")]);
        }
    }
    let unreadable = |error| Failure::configuration(format!("`{}` cannot be read: {error}", world.workspace.display()));
    let before = judge::tree(&world.workspace).map_err(unreadable)?;
    // What the schema refuses never reaches the plugin, here as in a run.
    let (preview, answer) = match tested.input.check(&Value::Object(case.arguments.clone())) {
        Err(violations) => (None, Err(Failed::new(Kind::InvalidArguments, violations.to_string()))),
        Ok(()) => {
            let invocation = tested.invocation(tested.tool, &case.arguments);
            let preview = match case.expect.preview {
                Some(_) => Some(runtime.preview(plugin, invocation.clone()).await),
                None => None,
            };
            (preview, runtime.call(plugin, invocation).await.map_err(Failed::from))
        }
    };
    let after = judge::tree(&world.workspace).map_err(unreadable)?;
    let seen = Seen { answer, preview, before, after, requests: tested.network.seen() };
    Ok(judge::judge(&case.expect, &seen, tested.output.as_ref()))
}

/// A case as it is told, below the plugin and the file that it is from where the one before it is from another.
pub(super) fn told(case: &Ended, style: Style, before: Option<&Ended>) -> String {
    let mut text = String::new();
    if before.is_none_or(|before| before.file != case.file) {
        let file = case.file.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&format!("{} ({file})\n", style.bold(&visible(&case.plugin))));
    }
    let (word, colour) = if case.passed() { ("ok  ", AnsiColor::Green) } else { ("FAIL", AnsiColor::Red) };
    let took = style.dim(&format!("({} ms)", case.took.as_millis()));
    text.push_str(&format!("  {} {} {took}\n", style.paint(word, colour), visible(&case.name)));
    for line in case.wrong.iter().flat_map(|wrong| wrong.lines()) {
        let shown = visible(line);
        let shown = match line.as_bytes().first() {
            Some(b'-') => style.paint(&shown, AnsiColor::Red),
            Some(b'+') => style.paint(&shown, AnsiColor::Green),
            _ => shown.into_owned(),
        };
        text.push_str(&format!("       {shown}\n"));
    }
    text
}

fn as_json(ended: &[Ended]) -> Value {
    let case = |case: &Ended| {
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
