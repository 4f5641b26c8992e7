//! The pages of `docs/reference/` are what the code gives.
//!
//! Each page is made in memory, from the sources or by the real binary, and compared with the file. Nobody edits a page
//! by hand. Deliberately not here: the documents that people write (`documents.rs`).

mod codes;
mod files;
mod flags;
mod limits;
mod promises;
mod settings;
mod sources;

use std::path::PathBuf;

use host_tests::repository;

/// The command that writes the pages.
const COMMAND: &str = "HOST_BLESS=1 cargo test --test e2e reference";

/// A page of `docs/reference/`.
struct Page {
    file: &'static str,
    title: &'static str,
    /// Markdown below the title.
    body: String,
}

impl Page {
    fn path(&self) -> PathBuf {
        repository().join("docs/reference").join(self.file)
    }

    fn text(&self) -> String {
        let Self { title, body, .. } = self;
        format!("# {title}\n\n<!-- Generated from the code. Do not edit; run: {COMMAND} -->\n\n{}\n", body.trim_end())
    }
}

#[test]
fn reference_pages_match_the_code() {
    let pages = [promises::page(), limits::page(), flags::page(), settings::page(), codes::page(), files::page()];
    let bless = std::env::var_os("HOST_BLESS").is_some();
    let mut different = Vec::new();
    for page in &pages {
        let (path, text) = (page.path(), page.text());
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        if bless {
            std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        } else if written != text {
            different.push(first_difference(page.file, &written, &text));
        }
    }
    assert!(different.is_empty(), "docs/reference does not match the code; run: {COMMAND}\n{}", different.join("\n"));
}

#[test]
fn reference_has_no_other_pages() {
    let known = ["promises.md", "limits.md", "flags.md", "settings.md", "exit-codes.md", "files.md"];
    for entry in std::fs::read_dir(repository().join("docs/reference")).expect("the folder exists") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        assert!(known.contains(&&*name), "docs/reference/{name} is not generated");
    }
}

/// The first line of a page that is not what the code gives.
fn first_difference(file: &str, written: &str, generated: &str) -> String {
    let (mut old, mut new) = (written.lines(), generated.lines());
    for number in 1.. {
        let (old, new) = (old.next(), new.next());
        if old != new {
            let [old, new] = [old, new].map(|line| line.unwrap_or("(end of the page)"));
            return format!("{file}, line {number}:\n  written:   {old}\n  generated: {new}");
        }
        if old.is_none() {
            break;
        }
    }
    format!("{file}: the line ends differ")
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
