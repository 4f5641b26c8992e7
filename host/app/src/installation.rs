//! How this program came to this machine, read from the files around it, and how it is brought up to date there.
//!
//! Deliberately not here: replacing the program ([`crate::update`]), and asking a server whether there is a newer one,
//! which the program never does.

use std::fmt;
use std::fs;
use std::path::Path;

use host_text::Advice;
use serde::Serialize;

/// How much of a record of a package manager is read. They have some hundred lines.
const MAX_RECORD: u64 = 4 << 20;

/// How this program was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Installation {
    /// Built in a checkout, and started from there.
    Checkout,
    /// By `cargo install`.
    Cargo,
    /// By a package manager for Python.
    Python {
        /// The one that keeps it up to date.
        by: PythonInstaller,
        /// The package.
        package: String,
    },
    /// By a package manager for Node.js.
    Node {
        /// The one that keeps it up to date.
        by: NodeInstaller,
        /// The package.
        package: String,
        /// Whether it is for all projects.
        is_global: bool,
    },
    /// A file of its own, as from the archive of a release.
    File,
}

/// A package manager for Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PythonInstaller {
    /// `pip`, or another one that installs into an environment.
    Pip,
    /// `pipx`.
    Pipx,
    /// `uv tool`.
    Uv,
}

/// A package manager for Node.js.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeInstaller {
    /// `npm`.
    Npm,
    /// `pnpm`.
    Pnpm,
    /// `bun`.
    Bun,
}

impl Installation {
    /// Finds out how the program was installed. `own` is its path without links.
    pub fn of(own: &Path) -> Self {
        let (Some(folder), Some(file)) = (own.parent(), own.file_name()) else { return Self::File };
        let Some(root) = folder.parent() else { return Self::File };
        // Cargo marks the folder that it builds in, above the one of the profile or of the target.
        if folder.join(".cargo-lock").is_file() {
            return Self::Checkout;
        }
        if folder.file_name().is_none_or(|name| name != "bin") {
            return Self::File;
        }
        if let Some(node) = node(root) {
            return node;
        }
        if let Some(package) = python_package(root, &file.to_string_lossy()) {
            let by = match () {
                () if root.join("uv-receipt.toml").is_file() => PythonInstaller::Uv,
                () if root.join("pipx_metadata.json").is_file() => PythonInstaller::Pipx,
                () => PythonInstaller::Pip,
            };
            return Self::Python { by, package };
        }
        if root.join(".crates2.json").is_file() { Self::Cargo } else { Self::File }
    }

    /// The command that brings it up to date with a file of a newer release, or from newer sources.
    pub fn update(&self) -> Advice {
        match self {
            Self::Checkout => "`git pull`, then build it again".into(),
            Self::Cargo => "`cargo install` in a newer checkout".into(),
            Self::Python { by, .. } => match by {
                PythonInstaller::Pip => "`pip install --upgrade NEWER.whl`".into(),
                PythonInstaller::Pipx => "`pipx install --force NEWER.whl`".into(),
                PythonInstaller::Uv => "`uv tool install --force NEWER.whl`".into(),
            },
            Self::Node { by, is_global, .. } => {
                let global = if *is_global { " -g" } else { "" };
                let command = match by {
                    NodeInstaller::Npm => "npm install",
                    NodeInstaller::Pnpm => "pnpm add",
                    NodeInstaller::Bun => "bun add",
                };
                format!("`{command}{global} NEWER.tgz NEWER-PLATFORM.tgz`").into()
            }
            Self::File => Advice::default().command("update NEWER.tar.gz"),
        }
    }
}

impl fmt::Display for Installation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkout => f.write_str("built in a checkout"),
            Self::Cargo => f.write_str("installed by cargo"),
            Self::Python { by, package } => {
                let by = match by {
                    PythonInstaller::Pip => "pip",
                    PythonInstaller::Pipx => "pipx",
                    PythonInstaller::Uv => "uv",
                };
                write!(f, "installed by {by}, as the package `{package}`")
            }
            Self::Node { by, package, is_global } => {
                let by = match by {
                    NodeInstaller::Npm => "npm",
                    NodeInstaller::Pnpm => "pnpm",
                    NodeInstaller::Bun => "bun",
                };
                let place = if *is_global { "for all projects" } else { "for one project" };
                write!(f, "installed by {by} {place}, as the package `{package}`")
            }
            Self::File => f.write_str("a file of its own"),
        }
    }
}

/// The text of a file that a package manager wrote; `None` where there is none, or it is not what it should be.
fn record(path: &Path) -> Option<String> {
    host_files::read_text(path, MAX_RECORD).ok()
}

/// The installation of a package for Node.js in this folder.
fn node(package: &Path) -> Option<Installation> {
    let has = |name: &str| package.components().any(|part| part.as_os_str() == name);
    let described: serde_json::Value = serde_json::from_str(&record(&package.join("package.json"))?).ok()?;
    // A project has a description of itself beside its packages.
    let modules = package.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules"));
    let project = modules.last()?.parent()?;
    let by = match () {
        () if has(".pnpm") || has("pnpm") => NodeInstaller::Pnpm,
        () if has(".bun") || project.join("bun.lock").is_file() => NodeInstaller::Bun,
        () => NodeInstaller::Npm,
    };
    // The package for one platform has its system and processor behind the name that a user knows.
    let name = described.get("name")?.as_str()?;
    let platforms = ["-linux-x64", "-linux-arm64", "-darwin-x64", "-darwin-arm64"];
    let name = platforms.iter().find_map(|platform| name.strip_suffix(platform)).unwrap_or(name);
    let is_global = has("global") || !project.join("package.json").is_file();
    Some(Installation::Node { by, package: name.to_owned(), is_global })
}

/// The package of this Python environment whose record names the program.
fn python_package(root: &Path, file: &str) -> Option<String> {
    let folders = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let line = format!("../../../bin/{file},");
    for python in folders(&root.join("lib")) {
        let infos = folders(&python.join("site-packages"));
        for info in infos.iter().filter(|info| info.extension().is_some_and(|extension| extension == "dist-info")) {
            if !record(&info.join("RECORD")).is_some_and(|record| record.lines().any(|entry| entry.starts_with(&line)))
            {
                continue;
            }
            let metadata = record(&info.join("METADATA"))?;
            let name = metadata.lines().find_map(|line| line.strip_prefix("Name: "))?;
            return Some(name.trim().to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a program is installed at this path, among these files.
    fn found(own: &str, files: &[(&str, &str)]) -> Installation {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files.iter().chain(&[(own, "")]) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        Installation::of(&root.path().join(own))
    }

    #[test]
    fn installation_is_read_from_the_files_around_the_program() {
        let record = "../../../bin/host,sha256=x,1\n";
        let python = [
            ("lib/python3.11/site-packages/other-1.dist-info/RECORD", "other.py,,\n"),
            ("lib/python3.11/site-packages/some_agent-1.dist-info/RECORD", record),
            (
                "lib/python3.11/site-packages/some_agent-1.dist-info/METADATA",
                "Metadata-Version: 2.4\nName: some-agent\n",
            ),
        ];
        let with = |file: &'static str| [python.as_slice(), &[(file, "")]].concat();
        let by_python = |by| Installation::Python { by, package: "some-agent".into() };
        assert_eq!(found("bin/host", &python), by_python(PythonInstaller::Pip));
        assert_eq!(found("bin/host", &with("uv-receipt.toml")), by_python(PythonInstaller::Uv));
        assert_eq!(found("bin/host", &with("pipx_metadata.json")), by_python(PythonInstaller::Pipx));
        // A program beside an environment that did not install it.
        assert_eq!(found("bin/host", &python[..1]), Installation::File);

        let node = |by, is_global| Installation::Node { by, package: "some-agent".into(), is_global };
        let package = r#"{"name": "some-agent"}"#;
        let platform = r#"{"name": "some-agent-linux-x64"}"#;
        let global = ("lib/node_modules/some-agent/package.json", package);
        assert_eq!(found("lib/node_modules/some-agent/bin/host", &[global]), node(NodeInstaller::Npm, true));
        let local = [("package.json", "{}"), ("node_modules/some-agent-linux-x64/package.json", platform)];
        let own = "node_modules/some-agent-linux-x64/bin/host";
        assert_eq!(found(own, &local), node(NodeInstaller::Npm, false));
        let by_bun = [local.as_slice(), &[("bun.lock", "")]].concat();
        assert_eq!(found(own, &by_bun), node(NodeInstaller::Bun, false));
        let own = "node_modules/.pnpm/some-agent@1/node_modules/some-agent/bin/host";
        let file = "node_modules/.pnpm/some-agent@1/node_modules/some-agent/package.json";
        assert_eq!(found(own, &[("package.json", "{}"), (file, package)]), node(NodeInstaller::Pnpm, false));
        let own = ".bun/install/global/node_modules/some-agent/bin/host";
        let file = ".bun/install/global/node_modules/some-agent/package.json";
        assert_eq!(found(own, &[(file, package)]), node(NodeInstaller::Bun, true));

        assert_eq!(found("bin/host", &[(".crates2.json", "{}")]), Installation::Cargo);
        assert_eq!(found("target/release/host", &[("target/release/.cargo-lock", "")]), Installation::Checkout);
        assert_eq!(found("bin/host", &[]), Installation::File);
        assert_eq!(found("host", &[]), Installation::File);
        // Whatever is there in place of a record says nothing.
        assert_eq!(found("bin/host", &[("package.json", "{"), ("lib/x", "")]), Installation::File);
    }
}
