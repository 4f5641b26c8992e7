//! What the documents name exists: tests, files, links, commands, flags and settings.
//!
//! All Markdown of the repository's root and of `docs/` is read. Deliberately not here: the generated pages
//! (`reference.rs`) and the words of documents (`words.rs`).

use std::path::Path;

use host_tests::host::Host;
use host_tests::repository;

/// The folders whose Rust sources are searched.
const SOURCES: &[&str] = &["host", "plugins", "sdk", "tests"];

/// Flags of other programs that documents name by themselves.
const FOREIGN_FLAGS: &[&str] =
    &["--release", "--noEmit", "--force", "--hard", "--workspace", "--check", "--against", "--out"];

/// The documents, each as its path.
pub(crate) fn documents() -> Vec<String> {
    let mut documents = Vec::new();
    let mut folders = vec![repository().join("docs")];
    for entry in std::fs::read_dir(repository()).expect("the repository is there") {
        documents.extend(markdown(&entry.expect("an entry").path()));
    }
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                documents.extend(markdown(&path));
            }
        }
    }
    documents.sort();
    assert!(documents.len() > 20, "{documents:?}");
    documents
}

#[test]
fn documents_say_how_much_memory_calls_may_use_together() {
    let (calls, each) = (u64::from(host_plugin::MAX_CALLS), host_plugin::Limits::default().memory as u64);
    let sentence = format!(
        "- **Memory.** Each of the {calls} calls that may run at once in one process may use {} MiB: {} GiB in all.",
        each >> 20,
        (calls * each) >> 30
    );
    let text = std::fs::read_to_string(repository().join("SECURITY.md")).expect("it is there");
    assert!(text.contains(&sentence), "SECURITY.md has not: {sentence}");
}

#[test]
fn documents_count_the_exit_codes() {
    let codes = std::fs::read_to_string(repository().join("docs/reference/exit-codes.md")).expect("it is there");
    let is_row =
        |line: &&str| line.strip_prefix("| ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let cell = format!("| [{}](docs/reference/exit-codes.md) |", codes.lines().filter(is_row).count());
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("it is there");
    assert!(readme.contains(&cell), "README.md has not: {cell}");
}

/// The path within the repository, of a Markdown file.
fn markdown(path: &Path) -> Option<String> {
    let is_markdown = path.is_file() && path.extension().is_some_and(|end| end == "md");
    is_markdown.then(|| path.strip_prefix(repository()).expect("it is in the repository").display().to_string())
}

#[test]
fn documents_stay_short() {
    for (document, most) in [("README.md", 1_100), ("SECURITY.md", 1_900), ("ARCHITECTURE.md", 3_000)] {
        let words = read(document).split_whitespace().count();
        assert!(words <= most, "{document} has {words} words, over its limit of {most}");
    }
}

#[test]
fn documents_name_tests_that_exist() {
    let sources = sources();
    let mut named = 0;
    for document in documents() {
        for name in quoted(&read(&document)).into_iter().filter(|name| is_test(name)) {
            named += 1;
            let exists = sources.contains(&format!("fn {name}(")) || sources.contains(&format!("{name}:"));
            assert!(exists, "{document} names `{name}`, and there is no such test");
        }
    }
    assert!(named > 200, "the documents name {named} tests");
}

#[test]
fn documents_name_files_that_exist() {
    for document in documents() {
        let text = read(&document);
        let above = Path::new(&document).parent().expect("it is in a folder");
        for link in prose(&text).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let target =
                if file.is_empty() { repository().join(&document) } else { repository().join(above).join(file) };
            assert!(target.exists(), "{document} links to {link}");
            if !heading.is_empty() {
                let headings = headings(&std::fs::read_to_string(&target).expect("it is text"));
                assert!(headings.iter().any(|known| known == heading), "{document} links to {link}: {headings:?}");
            }
        }
        for path in quoted(&text) {
            let is_path = ["host/", "wit/", "tests/", "docs/", "sdk/"].iter().any(|folder| path.starts_with(folder));
            if is_path && !path.contains(['*', '<', ' ', '`', '(']) {
                assert!(repository().join(&path).exists(), "{document} names `{path}`");
            }
        }
    }
}

#[test]
fn documents_name_commands_and_flags_that_exist() {
    let reference = read("docs/reference/flags.md");
    let help = |command: &[&str]| {
        let heading = format!("\n## {}\n", command.join(" "));
        let (_, rest) = reference.split_once(&heading)?;
        Some(rest.split("\n## ").next().unwrap_or(rest).to_owned())
    };
    let of_run = help(&["host", "run"]).expect("there is such a command");
    let mut commands = 0;
    for document in documents().into_iter().filter(|document| !document.starts_with("docs/reference/")) {
        let text = read(&document);
        for line in shell_lines(&text).into_iter().chain(quoted(&text)) {
            let line = line.split(" #").next().unwrap_or(&line);
            let Some(words) = command_words(line) else { continue };
            let path: Vec<&str> = words.iter().copied().take_while(|word| is_command_word(word)).collect();
            let mut known = None;
            for length in (1..=path.len()).rev() {
                known = help(&path[..length]).map(|help| (length, help));
                if known.is_some() {
                    break;
                }
            }
            let (length, help) = known.expect("`host` itself has help");
            // Without a command, the flags are those of `host run`.
            let flags = if length == 1 { format!("{help}{of_run}") } else { help.clone() };
            commands += 1;
            let has_below = help.contains("\nCommands:\n");
            let next = path.get(length).filter(|_| has_below);
            assert!(next.is_none(), "{document}: `{line}` names no command: {next:?}");
            for flag in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                let flag =
                    flag.split('=').next().unwrap_or(flag).trim_end_matches([',', '.', ';', ')', '"', '\'', ']']);
                assert!(
                    has_flag(&flags, flag),
                    "{document}: `{line}` has the flag `{flag}`, which `host` does not know"
                );
            }
        }
        for flag in
            quoted(&text).iter().filter(|span| span.starts_with("--") && !span.starts_with("---") && span.len() > 2)
        {
            let flag = flag.split([' ', '=', '[']).next().unwrap_or(flag);
            let known = has_flag(&reference, flag) || FOREIGN_FLAGS.contains(&flag);
            assert!(known, "{document} names the flag `{flag}`, which no command has");
        }
    }
    assert!(commands > 80, "the documents name {commands} commands");
}

#[test]
fn documents_name_settings_that_exist() {
    let reference = read("docs/reference/settings.md");
    let tables: Vec<&str> =
        reference.lines().filter_map(|line| line.strip_prefix("## `[")?.strip_suffix("]`")).collect();
    assert!(tables.len() > 8, "{tables:?}");
    let mut settings = 0;
    for document in documents().into_iter().filter(|document| !document.starts_with("docs/reference/")) {
        for name in quoted(&read(&document)) {
            let Some((table, key)) = name.rsplit_once('.') else { continue };
            let is_name = |text: &str| text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.'));
            let is_file = key == "json";
            if !tables.contains(&table.replace("ID", "NAME").as_str()) || !is_name(key) || !is_name(table) || is_file {
                continue;
            }
            settings += 1;
            assert!(has_setting(&reference, table, key), "{document} names the setting `{name}`");
        }
    }
    assert!(settings > 5, "the documents name {settings} settings");
}

#[test]
fn documents_show_a_configuration_that_is_valid() {
    let text = read("docs/configuration.md");
    let (_, example) = text.split_once("```toml\n").expect("it shows a configuration");
    let (example, _) = example.split_once("```").expect("the block ends");
    let ended = Host::new(["tool", "list"]).configured(example).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

/// `cargo run` takes the only `default-run` of the workspace, and without one the only binary; otherwise it stops and
/// asks which.
#[test]
fn readme_command_that_runs_the_host_names_no_binary_and_needs_none() {
    let first = shell_lines(&read("README.md")).into_iter().next().expect("it begins with a command");
    assert!(first.starts_with("cargo run --release -- run "), "{first}");
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let asked = cargo.args(["metadata", "--no-deps", "--format-version", "1", "--offline"]).current_dir(repository());
    let asked = asked.output().expect("cargo starts");
    assert!(asked.status.success(), "{asked:?}");
    let workspace: serde_json::Value = serde_json::from_slice(&asked.stdout).expect("cargo writes JSON");
    let packages = workspace["packages"].as_array().expect("a list");
    let usual: Vec<&str> = packages.iter().filter_map(|package| package["default_run"].as_str()).collect();
    assert_eq!(usual, ["host"]);
}

#[test]
fn documents_do_not_deny_what_is_built() {
    for document in documents().into_iter().filter(|document| !document.starts_with("docs/reference/")) {
        let text = read(&document);
        // One section says what is missing; its rows are held against the contract below.
        let (claims, missing) = text.split_once("## Not built yet").unwrap_or((&text, ""));
        for phrase in ["not built yet", "not there yet", "not implemented yet", "not supported yet"] {
            let claim = claims.lines().find(|line| line.to_lowercase().contains(phrase));
            assert_eq!(claim, None, "{document}");
        }
        assert!(missing.is_empty() || document == "ARCHITECTURE.md", "{document}");
        for capability in missing.lines().filter(|row| row.contains("capabilit")).flat_map(quoted) {
            let contract = repository().join(format!("wit/cap/{capability}.wit"));
            assert!(!contract.exists(), "{} is there, and {document} denies it", contract.display());
        }
        for built in ["registries", "credentials", "signed", "signing", "installing plugins", "asking before"] {
            assert!(!missing.to_lowercase().contains(built), "{document} denies {built}");
        }
    }
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    text.lines().filter(is_prose).collect::<Vec<_>>().join("\n")
}

/// The lines of blocks that are for a shell.
fn shell_lines(text: &str) -> Vec<String> {
    let mut in_shell = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_shell = line.starts_with("```sh");
        } else if in_shell {
            lines.push(line.trim().to_owned());
        }
    }
    lines
}

/// The words of a line that calls the host, without what other programs get.
fn command_words(line: &str) -> Option<Vec<&str>> {
    let begins = |at: usize| {
        let before = &line[..at];
        before.is_empty() || before.ends_with("| ") || before.ends_with("&& ") || is_assignments(before)
    };
    let at = line.match_indices("host ").map(|(at, _)| at).find(|at| begins(*at))?;
    let words = line[at..].split([' ', '|']).take_while(|word| !matches!(*word, "&&" | ";" | ">"));
    let line = line[at..].split(" | ").next().unwrap_or(line);
    Some(words.take(line.split(' ').count()).filter(|word| !word.is_empty()).collect())
}

/// Whether only variables are set before the command.
fn is_assignments(before: &str) -> bool {
    before.split_whitespace().all(|word| word.split_once('=').is_some_and(|(name, _)| is_variable(name)))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
}

fn is_command_word(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !word.starts_with('-')
}

/// Whether a help has this flag.
fn has_flag(help: &str, flag: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    flag == "--help" || help.match_indices(flag).any(|(at, _)| ends(&help[at + flag.len()..]))
}

/// Whether the reference has this key in this table, or keys beneath it.
fn has_setting(reference: &str, table: &str, key: &str) -> bool {
    let heading = format!("\n## `[{}]`\n", table.replace("ID", "NAME"));
    let section = reference.split_once(&heading).map(|(_, rest)| rest.split("\n## ").next().unwrap_or(rest));
    section.is_some_and(|section| {
        [format!("\n| `{key}` |"), format!("\n| `{key}.")].iter().any(|row| section.contains(row))
    })
}

/// The anchors of a document's headings, as web pages of repositories make them.
fn headings(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut headings = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if let Some(title) = line.strip_prefix('#').filter(|_| !in_code) {
            let title = title.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            headings.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    headings
}

/// The text between backticks on one line.
fn quoted(text: &str) -> Vec<String> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The names of tests have many words; nothing else between backticks has so many.
fn is_test(name: &str) -> bool {
    name.matches('_').count() >= 4 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn sources() -> String {
    let mut all = String::new();
    let mut folders: Vec<_> = SOURCES.iter().map(|folder| repository().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.is_symlink() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                all.push_str(&std::fs::read_to_string(&path).expect("a source is text"));
            }
        }
    }
    all
}

fn read(file: &str) -> String {
    std::fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}
