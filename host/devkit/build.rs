//! Lists what `host plugin new` writes: whatever lies in `sdk/*/template`, with the binding of its language, so that a
//! new language needs no line here.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Folders of a binding that hold nothing that a new plugin needs.
const NOT_SHIPPED: &[&str] = &["template", "tests", "target", "build", "dist", "node_modules", ".venv", "__pycache__"];

/// The languages that have a template, with the files of the template and those of the binding that it is written with;
/// and the contract.
fn main() {
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&package).join("../..");
    let listed = |folder: &str| {
        println!("cargo::rerun-if-changed=../../{folder}");
        let mut entries: Vec<String> = fs::read_dir(root.join(folder))
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        entries.sort();
        entries
    };
    let mut text = String::from("&[\n");
    for language in listed("sdk") {
        let (binding, template) = (format!("sdk/{language}"), format!("sdk/{language}/template"));
        if root.join(&template).is_dir() {
            let template = files(&root, &template, "", &listed);
            let binding = if root.join(&binding).join("Cargo.toml").is_file() {
                crates(&root, &binding, &listed)
            } else {
                files(&root, &binding, "", &listed)
            };
            writeln!(text, "    Template {{ language: {language:?}, files: &{template}, binding: &{binding} }},")
                .expect("a string takes everything");
        }
    }
    text.push(']');
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("templates.rs"), text).expect("cargo's own folder can be written");
    fs::write(Path::new(&out).join("contract.rs"), format!("&{}", files(&root, "wit", "wit/", &listed)))
        .expect("cargo's own folder can be written");
}

/// The files beneath a folder, as a list of names (after `place`) and texts.
fn files(root: &Path, folder: &str, place: &str, listed: &dyn Fn(&str) -> Vec<String>) -> String {
    let mut text = String::from("[");
    let mut waiting = vec![String::new()];
    while let Some(inner) = waiting.pop() {
        for name in listed(&format!("{folder}/{inner}")) {
            let file = root.join(folder).join(&inner).join(&name);
            if file.is_dir() {
                // The cases of a template are for its user.
                let cases = name == "tests" && folder.ends_with("/template");
                if cases || !NOT_SHIPPED.contains(&name.as_str()) {
                    waiting.push(format!("{inner}{name}/"));
                }
            } else if place.is_empty() || name != "Cargo.toml" {
                let path = file.display().to_string();
                println!("cargo::rerun-if-changed=../../{folder}/{inner}{name}");
                write!(text, "({:?}, include_str!({path:?})), ", format!("{place}{inner}{name}"))
                    .expect("a string takes everything");
            }
        }
    }
    text.push(']');
    text
}

/// The files of a crate and of those that it depends on by path, at the places that they have in this repository, so
/// that the paths between them hold.
fn crates(root: &Path, folder: &str, listed: &dyn Fn(&str) -> Vec<String>) -> String {
    let parse = |path: &Path| -> toml::Table {
        fs::read_to_string(path).expect("a crate has a manifest").parse().expect("cargo reads it too")
    };
    let workspace = parse(&root.join("Cargo.toml"));
    let mut text = String::from("[");
    let mut waiting = vec![folder.to_owned()];
    let mut seen: Vec<String> = Vec::new();
    while let Some(folder) = waiting.pop() {
        // A crate within another one came with it.
        if seen.iter().any(|outer| folder == *outer || folder.starts_with(&format!("{outer}/"))) {
            continue;
        }
        let mut manifests = vec![folder.clone()];
        for inner in listed(&folder) {
            let inner = format!("{folder}/{inner}");
            if root.join(&inner).join("Cargo.toml").is_file() && !inner.ends_with("/template") {
                manifests.push(inner);
            }
        }
        for package in manifests {
            let mut manifest = parse(&root.join(&package).join("Cargo.toml"));
            let workspace = workspace["workspace"].as_table().expect("it is one");
            for path in standalone(&mut manifest, &package, workspace) {
                waiting.push(joined(&package, &path));
            }
            write!(text, "({:?}, {:?}), ", format!("{package}/Cargo.toml"), manifest.to_string())
                .expect("a string takes everything");
        }
        let others = files(root, &folder, &format!("{folder}/"), listed);
        text.push_str(others.trim_start_matches('[').trim_end_matches(']'));
        seen.push(folder);
    }
    text.push(']');
    text
}

/// Takes from the manifest of a package what only this repository has: what it inherits is written out, and its tests
/// stay behind. Answers the paths of its dependencies.
fn standalone(manifest: &mut toml::Table, package: &str, workspace: &toml::Table) -> Vec<String> {
    for here in ["dev-dependencies", "test", "bench", "lints"] {
        manifest.remove(here);
    }
    let inherits = |value: &toml::Value| value.get("workspace").and_then(toml::Value::as_bool) == Some(true);
    if let Some(package) = manifest.get_mut("package").and_then(toml::Value::as_table_mut) {
        for (key, value) in package.iter_mut().filter(|(_, value)| inherits(value)) {
            *value = workspace["package"][key].clone();
        }
    }
    let mut paths = Vec::new();
    let mut resolve = |dependencies: Option<&mut toml::Value>| {
        for (name, value) in dependencies.and_then(toml::Value::as_table_mut).into_iter().flatten() {
            if inherits(value) {
                let own = std::mem::replace(value, workspace["dependencies"][name].clone());
                if let toml::Value::String(version) = value {
                    *value = toml::Table::from_iter([("version".to_owned(), version.clone().into())]).into();
                }
                // The workspace's paths start at its root, a package's at its own folder.
                if let Some(toml::Value::String(path)) = value.get_mut("path") {
                    *path = "../".repeat(package.split('/').count()) + path;
                }
                for (key, more) in own.as_table().into_iter().flatten().filter(|(key, _)| *key != "workspace") {
                    value.as_table_mut().expect("it was made one").insert(key.clone(), more.clone());
                }
            }
            paths.extend(value.get("path").and_then(toml::Value::as_str).map(str::to_owned));
        }
    };
    resolve(manifest.get_mut("dependencies"));
    for (_, target) in manifest.get_mut("target").and_then(toml::Value::as_table_mut).into_iter().flatten() {
        resolve(target.get_mut("dependencies"));
    }
    paths
}

/// A path that starts at a folder, without what goes back.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => parts.truncate(parts.len().saturating_sub(1)),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
