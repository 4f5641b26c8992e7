//! The files of a project that its MCP servers are started with.
//!
//! Promises: each word of a server's command that names a file of the project names one that is trusted with the
//! server, and a module that an interpreter is to run counts as its files.
//!
//! Deliberately not here: reading files, and what such a file imports: the server is confined like every program of a
//! project.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The most files of one file with servers that are looked at. Protects the question from a file that names without
/// end.
const MAX_FILES: usize = 64;

/// The names that a word can have for the project's folder.
const PROJECT: &[&str] = &["${CLAUDE_PROJECT_DIR}", "${HOST_PROJECT_DIR}", "${PWD}", "$PWD"];

/// Returns the files beneath the project that the servers of a file are started with, by their relative paths.
pub(super) fn of_file(bytes: &[u8], root: &Path) -> Vec<PathBuf> {
    let Ok(Value::Object(all)) = serde_json::from_slice(bytes) else { return Vec::new() };
    let servers = all.get("mcpServers").and_then(Value::as_object).into_iter().flat_map(|servers| servers.values());
    let mut found: Vec<PathBuf> = servers.flat_map(|server| of_server(server, root)).collect();
    found.sort();
    found.dedup();
    found.truncate(MAX_FILES);
    found
}

/// Returns the files of one command, which starts in this folder beneath the root.
pub fn of_command(command: &[String], directory: &Path, root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut is_module = false;
    for word in command {
        let named = if is_module { module(word) } else { vec![word.clone()] };
        // `--config=x.json` names a file, too.
        let values = word.split_once('=').map(|(_, value)| value.to_owned()).into_iter();
        found.extend(named.into_iter().chain(values).filter_map(|name| beneath(&name, directory, root)));
        is_module = word == "-m";
    }
    found
}

fn of_server(server: &Value, root: &Path) -> Vec<PathBuf> {
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let arguments = server.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let filled =
        |word: &str| PROJECT.iter().fold(word.to_owned(), |word, name| word.replace(name, &root.to_string_lossy()));
    let command: Vec<String> = text("command").into_iter().chain(arguments).map(filled).collect();
    let directory = text("cwd").map(filled).map_or_else(|| root.to_owned(), |folder| root.join(folder));
    of_command(&command, &directory, root)
}

/// Returns the names of the files of a Python module.
fn module(name: &str) -> Vec<String> {
    let path = name.replace('.', "/");
    ["", "/__init__", "/__main__"].map(|end| format!("{path}{end}.py")).to_vec()
}

/// Returns the path of the file that a word names, if it is one of the project: what a link leads to is what runs. The
/// program of a server is looked for from the project's top, too.
fn beneath(word: &str, directory: &Path, root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    [directory, &root].iter().find_map(|folder| {
        let real = folder.join(word).canonicalize().ok().filter(|real| real.is_file())?;
        real.strip_prefix(&root).ok().map(Path::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_server_is_started_with_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        for path in ["tools/srv.py", "tools/__main__.py", "sub/conf.json", "run.sh", "data.txt"] {
            std::fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
            std::fs::write(root.join(path), "").expect("written");
        }
        std::os::unix::fs::symlink(root.join("tools/srv.py"), root.join("link.py")).expect("linked");
        std::os::unix::fs::symlink("/etc/hostname", root.join("out.py")).expect("linked");
        let check = |server: &str, expected: &[&str]| {
            let text = format!("{{\"mcpServers\": {{\"a\": {server}}}}}");
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(of_file(text.as_bytes(), &root), expected, "{server}");
        };
        check(r#"{"command": "python3", "args": ["-u", "tools/srv.py"]}"#, &["tools/srv.py"]);
        check(r#"{"command": "python3", "args": ["-m", "tools"]}"#, &["tools/__main__.py"]);
        check(r#"{"command": "python3", "args": ["-m", "tools.srv"]}"#, &["tools/srv.py"]);
        check(r#"{"command": "./run.sh", "args": ["--config=conf.json"], "cwd": "sub"}"#, &["run.sh", "sub/conf.json"]);
        check(r#"{"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/data.txt"]}"#, &["data.txt"]);
        check(r#"{"command": "python3", "args": ["link.py", "out.py", "../x"]}"#, &["tools/srv.py"]);
        check(r#"{"command": "npx", "args": ["-y", "x"]}"#, &[]);
        assert_eq!(of_file(b"no json", &root), [] as [PathBuf; 0]);
    }
}
