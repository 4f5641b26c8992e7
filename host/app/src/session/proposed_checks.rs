//! The commands that `/init` proposes for `[check]`, from the manifests of a repository.
//!
//! Deliberately not here: running any of them. A proposal becomes a setting only by the user's hand.

use std::path::Path;

use host_files::read_limited;
use serde_json::Value;

/// The largest manifest that is read. More than is written by hand.
const MAX_MANIFEST: u64 = 1 << 20;

/// The scripts of a `package.json` that check something, in the order in which they are proposed.
const SCRIPTS: [&str; 5] = ["lint", "typecheck", "type-check", "check", "test"];

/// The lock files of package managers that run the scripts of a `package.json`; without one it is npm.
const RUNNERS: [(&str, &str); 4] =
    [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

/// Returns the commands that check the repository in this folder, as far as its manifests show.
pub(super) fn proposed_checks(root: &Path) -> Vec<String> {
    let is_there = |name: &str| root.join(name).is_file();
    let mut commands = Vec::new();
    if is_there("Cargo.toml") {
        commands.push("cargo test".to_owned());
    }
    if let Some(manifest) = text(root, "package.json") {
        commands.extend(scripts(&manifest, root));
    }
    if is_there("go.mod") {
        commands.extend(["go vet ./...", "go test ./..."].map(str::to_owned));
    }
    let names_pytest = |name: &&str| text(root, name).is_some_and(|text| text.contains("pytest"));
    if ["pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini"].iter().any(names_pytest) {
        commands.push("pytest".to_owned());
    }
    // What the others say is more exact.
    if let Some(makefile) = text(root, "Makefile").filter(|_| commands.is_empty()) {
        let has = |target: &str| {
            makefile.lines().any(|line| line.strip_prefix(target).is_some_and(|rest| rest.starts_with(':')))
        };
        commands
            .extend(["check", "test"].into_iter().find(|target| has(target)).map(|target| format!("make {target}")));
    }
    commands
}

fn scripts(manifest: &str, root: &Path) -> Vec<String> {
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let runner = RUNNERS.iter().find(|(lock, _)| root.join(lock).is_file()).map_or("npm", |(_, runner)| runner);
    let is_real = |name: &&str| {
        // What npm writes into a new package fails always.
        manifest["scripts"][*name].as_str().is_some_and(|script| !script.contains("no test specified"))
    };
    SCRIPTS.into_iter().filter(|name| is_real(name)).map(|name| format!("{runner} run {name}")).collect()
}

fn text(root: &Path, name: &str) -> Option<String> {
    let file = std::fs::File::open(root.join(name)).ok()?;
    String::from_utf8(read_limited(file, MAX_MANIFEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise check.proposed: `/init` proposes checks that the manifests of the repository name, and no others.
    #[test]
    fn proposed_checks_are_those_that_the_manifests_name() {
        let npm = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1", "lint": "eslint ."}}"#;
        let scripts = r#"{"scripts": {"build": "tsc", "test": "vitest", "typecheck": "tsc --noEmit"}}"#;
        for (files, expected) in [
            (&[][..], &[][..]),
            (&[("README.md", "")], &[]),
            (&[("Cargo.toml", "")], &["cargo test"]),
            (&[("package.json", npm)], &["npm run lint"]),
            (&[("package.json", scripts), ("pnpm-lock.yaml", "")], &["pnpm run typecheck", "pnpm run test"]),
            (&[("package.json", "no JSON")], &[]),
            (&[("go.mod", ""), ("Makefile", "test:\n")], &["go vet ./...", "go test ./..."]),
            (&[("pyproject.toml", "[tool.pytest.ini_options]")], &["pytest"]),
            (&[("pyproject.toml", "[project]")], &[]),
            (&[("Makefile", "all:\n\ncheck: all\n")], &["make check"]),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            for (name, text) in files {
                std::fs::write(folder.path().join(name), text).expect("written");
            }
            assert_eq!(proposed_checks(folder.path()), expected, "{files:?}");
        }
    }
}
