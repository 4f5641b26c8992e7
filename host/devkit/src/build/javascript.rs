//! JavaScript and TypeScript: bundled by esbuild, and made a component with QuickJS by componentize-qjs, both from the
//! package's own `node_modules`.
//!
//! Deliberately not here: checking types. esbuild takes them off, and `tsc --noEmit` is for who writes the plugin.

use std::path::Path;
use std::process::Command;

use host_manifest::SourceManifest;
use serde::Deserialize;

use super::contract::{Contract, WORLD};
use super::package::{self, BUILD};
use super::{BuildError, BuiltComponent, Language, Toolchain, Tools, read, read_text, write};

/// The script that runs in node.
const SCRIPT: &str = include_str!("componentize.mjs");

/// The command that gets the compiler; the package has the versions.
const HOW: &str = "`npm install` in that folder";

/// Main files of a plugin; the first one that exists is used.
const ENTRIES: &[&str] = &["plugin.ts", "plugin.js"];

/// Output of npm about a package.
#[derive(Deserialize)]
struct Installed {
    version: String,
}

pub(super) fn build(folder: &Path, manifest: SourceManifest, tools: &Tools) -> Result<BuiltComponent, BuildError> {
    let missing = |what, how| BuildError::Missing { what, folder: folder.to_owned(), how };
    let (node, node_version) = package::program(folder, &["node"], &["--version"], tools)
        .ok_or_else(|| missing("node", "https://nodejs.org, 20 or newer, on the search path"))?;
    let installed = |name: &'static str| {
        let path = folder.join("node_modules").join(name).join("package.json");
        let text = if path.is_file() { read_text(&path)? } else { return Err(missing(name, HOW)) };
        serde_json::from_str::<Installed>(&text).map_err(|_| missing(name, HOW))
    };
    let (compiler, bundler) = (installed("componentize-qjs")?, installed("esbuild")?);
    let entry = ENTRIES.iter().find(|entry| folder.join(entry).is_file()).ok_or_else(|| BuildError::NoEntry {
        folder: folder.to_owned(),
        language: Language::JavaScript,
        expected: "`plugin.js` or `plugin.ts`",
    })?;

    let out = folder.join(BUILD);
    Contract::read(folder, &manifest)?.write(&out.join("wit"))?;
    write(&out.join("componentize.mjs"), SCRIPT.as_bytes())?;
    let mut command = Command::new(node);
    command.args(["build/componentize.mjs", entry, "build/wit", WORLD, "build/plugin.wasm"]);
    package::run(command, folder, tools)?;
    let toolchain = Toolchain {
        compiler: format!("esbuild {}, node {node_version}", bundler.version),
        target: "wasm32-wasip2".to_owned(),
        componentizer: format!("componentize-qjs {}", compiler.version),
    };
    let component = read(&out.join("plugin.wasm"))?;
    let sources =
        package::sources(folder, &["js", "mjs", "ts"], &["package.json", "package-lock.json", "tsconfig.json"])?;
    let folder = folder.to_owned();
    Ok(BuiltComponent { manifest, folder, component, sources, elsewhere: Vec::new(), toolchain })
}
