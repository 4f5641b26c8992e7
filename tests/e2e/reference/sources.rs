//! Rust sources as text, with their comments.

use std::path::Path;

use host_tests::repository;

/// A source file of this repository.
pub(super) struct Source {
    /// Its path in the repository.
    pub(super) path: String,
    pub(super) lines: Vec<String>,
}

/// All Rust sources beneath these folders, in the order of their paths.
pub(super) fn beneath(folders: &[&str]) -> Vec<Source> {
    let mut sources = Vec::new();
    for folder in folders {
        collect(&repository().join(folder), &mut sources);
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn collect(folder: &Path, sources: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.is_symlink() && !path.ends_with("target") {
                collect(&path, sources);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let path = path.strip_prefix(repository()).expect("it was found there").display().to_string();
            sources.push(Source { path, lines: text.lines().map(str::to_owned).collect() });
        }
    }
}

impl Source {
    /// Whether the file holds tests only.
    pub(super) fn is_of_tests(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// The lines before the test module at the end of the file.
    pub(super) fn product(&self) -> &[String] {
        let end = self.lines.windows(2).position(|two| two[0] == "#[cfg(test)]" && two[1].starts_with("mod tests {"));
        &self.lines[..end.unwrap_or(self.lines.len())]
    }

    /// The crate that the file belongs to, by its folder.
    pub(super) fn owner(&self) -> &str {
        self.path.split("/src/").next().unwrap_or(&self.path)
    }
}

/// The doc comment above a line, as one paragraph; empty without one.
pub(super) fn doc_above(lines: &[String], at: usize) -> String {
    let above = lines[..at].iter().rev().map(|line| line.trim());
    let mut doc: Vec<&str> = above
        .take_while(|line| line.starts_with("///") || line.starts_with("#["))
        .filter_map(|line| line.strip_prefix("///"))
        .map(str::trim)
        .collect();
    doc.reverse();
    doc.join(" ").trim().to_owned()
}

/// A doc comment without the marks that only rustdoc reads: ``[`Name`]`` is written `` `Name` ``.
pub(super) fn plain(doc: &str) -> String {
    doc.replace("[`", "`").replace("`]", "`")
}
