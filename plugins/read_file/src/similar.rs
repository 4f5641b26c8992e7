//! Names like one that is not there.

use host_sdk::fs_read;
use tool_text::printable;

/// How many names are given.
const MAX_NAMES: usize = 3;

/// How alike two names must be, from 0 to 1 (Jaro-Winkler).
const MIN_LIKENESS: f64 = 0.85;

/// What the model is told of a file that is not there: with files of the same name in other folders, then with those of
/// a similar name in this one.
pub(crate) fn not_found(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let mut names = elsewhere(name);
    for similar in beside(folder, name) {
        if names.len() < MAX_NAMES && !names.contains(&similar) {
            names.push(similar);
        }
    }
    let path = printable(path);
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", printable(name))).collect();
    match names.split_last() {
        None => format!("there is no file `{path}`"),
        Some((only, [])) => format!("there is no file `{path}`; there is {only}"),
        Some((last, others)) => format!("there is no file `{path}`; there are {} and {last}", others.join(", ")),
    }
}

/// Files of this name anywhere in the workspace.
fn elsewhere(name: &str) -> Vec<String> {
    if name.is_empty() || name.contains(['*', '?', '[', ']', '{', '}', '!', '\\']) {
        return Vec::new();
    }
    let options = fs_read::WalkOptions {
        root: ".".to_owned(),
        globs: vec![name.to_owned()],
        globs_ignore_case: true,
        respect_ignore: true,
        sorted: true,
        ..fs_read::WalkOptions::default()
    };
    // What cannot be walked has nothing to offer; the file itself is not there either way.
    let Ok(Some(batch)) = fs_read::Walk::open(&options).and_then(|walk| walk.next_batch()) else { return Vec::new() };
    (0..batch.len().min(MAX_NAMES)).map(|index| batch.name(index).into_owned()).collect()
}

/// The files of the folder with the most similar names.
fn beside(folder: &str, name: &str) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut similar: Vec<(f64, String)> = fs_read::list(folder)
        .unwrap_or_default()
        .into_iter()
        .filter(|entry| entry.kind == fs_read::Kind::File && !entry.ignored)
        .map(|entry| (strsim::jaro_winkler(&wanted, &entry.name.to_lowercase()), entry.name))
        .filter(|(likeness, _)| *likeness >= MIN_LIKENESS)
        .collect();
    similar.sort_by(|(one, first), (other, second)| other.total_cmp(one).then_with(|| first.cmp(second)));
    let shown = |name| if folder == "." { name } else { format!("{folder}/{name}") };
    similar.into_iter().take(MAX_NAMES).map(|(_, name)| shown(name)).collect()
}

#[cfg(test)]
mod tests {
    use host_sdk::fake::FakeHost;

    use super::*;

    #[test]
    fn read_file_that_is_not_there_has_similar_names() {
        let host = FakeHost::new()
            .file("src/config.rs", "")
            .file("src/Confi.rs", "")
            .file("src/main.rs", "")
            .file("tests/main.rs", "")
            .file("README.md", "");
        let check = |path: &str, expected: &str| {
            let told = host.run(|| not_found(path));
            assert_eq!(told, format!("there is no file `{path}`{expected}"));
        };
        check("src/confg.rs", "; there are `src/config.rs` and `src/Confi.rs`");
        check("lib/main.rs", "; there are `src/main.rs` and `tests/main.rs`");
        check("readme.md", "; there is `README.md`");
        check("src/[x].rs", "");
        check("nowhere/zzz", "");
    }
}
