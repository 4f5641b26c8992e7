//! The hooks in files of a project: what of such a file is trusted, and which of the project's programs it runs.
//!
//! Promises: of the settings of another agent only what is about hooks is kept, so that other settings can change
//! without a question; a program of the project that a hook starts is trusted with it, and is part of the question.
//!
//! Deliberately not here: reading files, and what a hook is.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

/// The most programs of one file that are looked at. Protects the question from a file that names without end.
const MAX_PROGRAMS: usize = 64;

/// Programs that run a file which is named behind them.
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "dash", "deno", "env", "exec", "ksh", "lua", "node", "perl", "php", "python", "python3", "ruby",
    "run", "sh", "source", "ts-node", "tsx", "uv", "zsh", ".",
];

/// The names that a command line has for the project's folder.
const PROJECT: &[&str] = &[
    "${CLAUDE_PROJECT_DIR}",
    "$CLAUDE_PROJECT_DIR",
    "${GEMINI_PROJECT_DIR}",
    "$GEMINI_PROJECT_DIR",
    "${HOST_PROJECT_DIR}",
    "$HOST_PROJECT_DIR",
    "$(git rev-parse --show-toplevel)",
    "$PWD",
    "$(pwd)",
];

/// The word that can be in every file with hooks, and has to be in one that counts.
pub(super) const MARK: &[u8] = b"\"hooks\"";

/// Returns what of a file is about hooks, in one form whatever its blanks. A file that is not JSON stays as it is.
pub(super) fn of_file(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(Value::Object(all)) = serde_json::from_slice(&bytes) else { return bytes };
    let kept: Map<String, Value> = all
        .into_iter()
        .filter(|(key, _)| ["hooks", "hooksConfig", "disableAllHooks"].contains(&key.as_str()))
        .collect();
    let mut text = serde_json::to_vec_pretty(&Value::Object(kept)).unwrap_or(bytes);
    text.push(b'\n');
    text
}

/// Returns the files beneath the project that the hooks of a file start, by their relative paths.
pub(super) fn programs_of_file(bytes: &[u8], root: &Path) -> Vec<PathBuf> {
    let Ok(Value::Object(all)) = serde_json::from_slice(bytes) else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(hooks) = all.get("hooks") {
        commands(hooks, &mut lines);
    }
    let mut found: Vec<PathBuf> = lines.iter().flat_map(|line| programs_of(line, root)).collect();
    found.sort();
    found.dedup();
    found.truncate(MAX_PROGRAMS);
    found
}

/// Collects the command lines, however the file nests them.
fn commands(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(command)) = fields.get("command") {
                let arguments = fields.get("args").and_then(Value::as_array).into_iter().flatten();
                let words = std::iter::once(command.as_str()).chain(arguments.filter_map(Value::as_str));
                lines.push(words.collect::<Vec<_>>().join(" "));
            }
            fields.values().for_each(|value| commands(value, lines));
        }
        Value::Array(values) => values.iter().for_each(|value| commands(value, lines)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the files beneath this folder that a line starts, by their relative paths: the first word of each command,
/// and the words behind the name of an interpreter.
///
/// This reads a line as people write it, not as a shell does: what it misses runs in the same walls.
pub fn programs_of(line: &str, root: &Path) -> Vec<PathBuf> {
    let root_text = root.to_string_lossy();
    let mut text = line.replace(['"', '\'', '`'], "");
    for name in PROJECT {
        text = text.replace(name, &root_text);
    }
    let mut found = Vec::new();
    for command in text.split(['|', '&', ';', '\n', '(', ')']) {
        for word in command.split_whitespace() {
            let is_setting = word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
            if is_setting || word.starts_with('-') {
                continue;
            }
            let name = word.rsplit('/').next().unwrap_or(word);
            if let Some(path) = beneath(word, root) {
                found.push(path);
                break;
            }
            if !INTERPRETERS.contains(&name) {
                break;
            }
        }
    }
    found
}

/// Returns the path of a word beneath a folder, if it names a file there without a link on the way.
fn beneath(word: &str, root: &Path) -> Option<PathBuf> {
    let path = Path::new(word);
    let relative = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let plain: PathBuf = relative.components().filter(|part| *part != Component::CurDir).collect();
    let is_plain = plain.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || plain.as_os_str().is_empty() || !root.join(&plain).is_file() {
        return None;
    }
    let (real, root) = (root.join(&plain).canonicalize().ok()?, root.canonicalize().ok()?);
    (real == root.join(&plain)).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_of_a_settings_file_are_all_that_is_trusted_of_it() {
        let file = |text: &str| String::from_utf8(of_file(text.into())).expect("text");
        let one = file("{\"permissions\": {\"allow\": [\"Bash\"]}, \"hooks\": {\"Stop\": []}, \"model\": \"x\"}");
        assert_eq!(one, file("{\"model\":\"y\",\n\"hooks\":{\"Stop\":[]}}"), "other settings may change");
        assert!(!one.contains("permissions") && one.contains("Stop"), "{one}");
        assert_eq!(file("{ no json"), "{ no json");
    }

    #[test]
    fn programs_of_a_project_that_hooks_start_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for path in [".claude/hooks/check.sh", "tools/x.py", "log.txt"] {
            std::fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
            std::fs::write(root.join(path), "").expect("written");
        }
        let absolute = root.join("tools/x.py").display().to_string();
        for (line, expected) in [
            ("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check.sh", vec![".claude/hooks/check.sh"]),
            ("bash ${CLAUDE_PROJECT_DIR}/.claude/hooks/check.sh --fast log.txt", vec![".claude/hooks/check.sh"]),
            ("cd \"$CLAUDE_PROJECT_DIR\" && ./.claude/hooks/check.sh", vec![".claude/hooks/check.sh"]),
            ("/usr/bin/python3 -u \"$(git rev-parse --show-toplevel)/tools/x.py\"", vec!["tools/x.py"]),
            ("LANG=C uv run tools/x.py | tee log.txt", vec!["tools/x.py"]),
            (absolute.as_str(), vec!["tools/x.py"]),
            ("jq -r .tool_input.command >> log.txt", vec![]),
            ("cat log.txt", vec![]),
            ("../outside.sh", vec![]),
            ("npm run lint", vec![]),
        ] {
            let expected: Vec<PathBuf> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(programs_of(line, root), expected, "{line}");
        }
        let text = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"tools/x.py\"}, {\"command\": \"python3\", \"args\": \
                    [\"${CLAUDE_PROJECT_DIR}/tools/x.py\"]}]}]}}";
        assert_eq!(programs_of_file(text.as_bytes(), root), [PathBuf::from("tools/x.py")]);
    }
}
