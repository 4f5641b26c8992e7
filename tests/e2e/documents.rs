//! What ARCHITECTURE.md and SECURITY.md point to is there: the tests that show a promise, the constants of the limits,
//! the files.

use std::path::Path;

use host_tests::repository;

const DOCUMENTS: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/approvals.md",
    "docs/bundles.md",
    "docs/configuration.md",
    "docs/context.md",
    "docs/discovered-tools.md",
    "docs/headless.md",
    "docs/plugin-tests.md",
    "docs/plugins.md",
    "docs/plugins/rust.md",
    "docs/publishing.md",
    "docs/trust.md",
];

/// The folders whose Rust sources are searched.
const SOURCES: &[&str] = &["host", "plugins", "sdk", "tests"];

#[test]
fn every_test_that_a_document_names_exists() {
    let sources = sources();
    let mut named = 0;
    for document in DOCUMENTS {
        for name in quoted(&read(document)).into_iter().filter(|name| is_test(name)) {
            named += 1;
            let there = sources.contains(&format!("fn {name}("));
            assert!(there, "{document} names `{name}`, and there is no such test");
        }
    }
    assert!(named > 50, "the documents name {named} tests");
}

#[test]
fn every_limit_stands_where_its_row_says() {
    let mut rows = 0;
    for row in read("SECURITY.md").lines().filter(|line| line.starts_with('|')) {
        let Some((_, place)) = row.rsplit_once(" in `host/") else { continue };
        let file = format!("host/{}", place.trim_end_matches([' ', '|', '`']));
        let constants = row.rsplit_once(" | ").map(|(_, last)| quoted(last)).unwrap_or_default();
        let text = read(&file);
        for constant in constants.iter().filter(|word| !word.contains('/')) {
            rows += 1;
            let there = text.contains(&format!("const {constant}:")) || text.contains(&format!("pub {constant}:"));
            assert!(there, "SECURITY.md names `{constant}` in {file}, and it is not there");
        }
    }
    assert!(rows > 50, "SECURITY.md has {rows} limits");
}

#[test]
fn every_file_that_a_document_names_exists() {
    for document in DOCUMENTS {
        let text = read(document);
        let above = Path::new(document).parent().expect("it lies in a folder");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            assert!(repository().join(above).join(link).exists(), "{document} links to {link}");
        }
        for path in quoted(&text) {
            let a_file = path.starts_with("host/") || path.starts_with("wit/") || path.starts_with("tests/");
            if a_file && !path.contains(['*', '<', ' ', '`']) {
                assert!(repository().join(&path).exists(), "{document} names `{path}`");
            }
        }
    }
}

/// What stands between backticks on one line.
fn quoted(text: &str) -> Vec<String> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The names of tests are sentences; nothing else between backticks has so many words.
fn is_test(name: &str) -> bool {
    name.matches('_').count() >= 3 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
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
