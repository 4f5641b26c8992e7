//! What was read so far, and how much more fits.

use std::fmt::Write;

use host_sdk::fs_read::WalkSummary;
use host_sdk::{Blob, Content};
use tool_text::{Kind, Window, kind_of, printable};

/// How many characters are shown in all; about a tenth of the largest window a model has.
const MAX_CHARACTERS: usize = 400_000;

/// How many lines are shown of one file.
const MAX_LINES: u64 = 2_000;

/// How many bytes of images and the like are handed over in all: a model's service takes no more at once.
const MAX_MEDIA: usize = 20 * 1024 * 1024;

/// How many names of skipped files are listed.
const MAX_SKIPPED: usize = 20;

/// Files read so far.
pub(crate) struct Collected {
    include: Vec<String>,
    text: String,
    /// The characters of the first `counted` bytes of the text.
    characters: usize,
    counted: usize,
    files: u64,
    media: Vec<Blob>,
    media_bytes: usize,
    skipped: Vec<String>,
    skipped_count: u64,
    full_at: Option<String>,
}

/// What there is to return.
pub(crate) struct Finished {
    /// The text for a model.
    pub(crate) text: String,
    /// The line for a user.
    pub(crate) summary: String,
    media: Vec<Blob>,
}

impl Collected {
    /// Nothing yet; `include` decides which media were asked for.
    pub(crate) fn new(include: Vec<String>) -> Self {
        Self {
            include,
            text: String::new(),
            characters: 0,
            counted: 0,
            files: 0,
            media: Vec::new(),
            media_bytes: 0,
            skipped: Vec::new(),
            skipped_count: 0,
            full_at: None,
        }
    }

    /// Takes one file.
    pub(crate) fn add(&mut self, path: &str, content: &[u8]) {
        match kind_of(path, content) {
            Kind::Text => self.add_text(path, content),
            Kind::Media(mime_type) => {
                if !self.asked_for(path) {
                    self.skip(format!("{} ({mime_type})", printable(path)));
                } else if self.media_bytes + content.len() > MAX_MEDIA {
                    self.skip(format!("{} (over {MAX_MEDIA} bytes of data in all)", printable(path)));
                } else {
                    self.files += 1;
                    self.media_bytes += content.len();
                    let (path, bytes) = (printable(path), content.len());
                    _ = writeln!(self.text, "--- {path} ---\n({mime_type}, {bytes} bytes)");
                    self.media.push(Blob { mime_type: mime_type.to_owned(), data: content.to_vec() });
                }
            }
            Kind::Binary => self.skip(format!("{} (binary)", printable(path))),
        }
    }

    /// Whether nothing more fits.
    pub(crate) fn is_full(&self) -> bool {
        self.full_at.is_some()
    }

    fn add_text(&mut self, path: &str, content: &[u8]) {
        let mut window = Window::new(1, MAX_LINES);
        window.feed(content);
        let shown = window.finish();
        self.files += 1;
        let before = self.text.len();
        _ = write!(self.text, "--- {} ---\n{}", printable(path), shown.text);
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        if !shown.is_whole() {
            _ = writeln!(self.text, "(cut: {} of {} lines; read on with `read_file`)", shown.count, shown.total);
        }
        if let Some(over) = self.characters_over().checked_sub(1) {
            let cut = self.text.char_indices().nth_back(over).map_or(before, |(at, _)| at.max(before));
            self.text.truncate(cut);
            self.text.push_str("\n(cut here)\n");
            self.full_at = Some(printable(path).into_owned());
        }
    }

    /// How many characters the text has too many. A character has at least one byte, so with few bytes nothing is counted.
    fn characters_over(&mut self) -> usize {
        if self.text.len() <= MAX_CHARACTERS {
            return 0;
        }
        self.characters += self.text.get(self.counted..).map_or(0, |text| text.chars().count());
        self.counted = self.text.len();
        self.characters.saturating_sub(MAX_CHARACTERS)
    }

    fn skip(&mut self, line: String) {
        self.skipped_count += 1;
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(line);
        }
    }

    /// Data costs a model a lot, so `**/*` does not ask for it; a glob that names the extension does.
    fn asked_for(&self, path: &str) -> bool {
        let Some((_, extension)) = path.rsplit_once('.') else { return false };
        self.include.iter().any(|glob| {
            glob.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case(extension))
        })
    }

    /// What there is to return, with what the walk left out.
    pub(crate) fn finish(self, walk: &WalkSummary) -> Finished {
        let mut text = self.text;
        if self.files == 0 {
            _ = writeln!(text, "No files to read match {}", globs(&self.include));
        }
        if let Some(path) = &self.full_at {
            _ = writeln!(
                text,
                "(stopped in `{path}` at {MAX_CHARACTERS} characters in all: later files are left out, name fewer)"
            );
        }
        for line in &self.skipped {
            _ = writeln!(text, "(skipped: {line})");
        }
        let more = self.skipped_count.saturating_sub(self.skipped.len() as u64);
        for (count, what) in [
            (more, "more skipped"),
            (walk.too_large, "over 20 MiB, not read"),
            (walk.unreadable, "could not be read"),
            (walk.denied, "left out by the grant"),
        ] {
            if count > 0 {
                _ = writeln!(text, "({count} {what})");
            }
        }
        let mut summary = if self.files == 1 { "1 file".to_owned() } else { format!("{} files", self.files) };
        if self.skipped_count > 0 {
            _ = write!(summary, ", skipped {}", self.skipped_count);
        }
        if self.full_at.is_some() {
            summary.push_str(", stopped at the limit");
        }
        Finished { text, summary, media: self.media }
    }
}

impl Finished {
    /// The text, then the data in the order in which the text names it.
    pub(crate) fn into_content(self) -> Vec<Content> {
        let media = self.media.into_iter().map(Content::Blob);
        std::iter::once(Content::Text(self.text)).chain(media).collect()
    }
}

fn globs(include: &[String]) -> String {
    include.iter().map(|glob| format!("`{}`", printable(glob))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: WalkSummary = WalkSummary { files: 0, too_large: 0, unreadable: 0, denied: 0 };
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0";

    fn read(include: &[&str], files: &[(&str, &[u8])]) -> Finished {
        let mut collected = Collected::new(include.iter().map(|glob| (*glob).to_owned()).collect());
        files
            .iter()
            .take_while(|(path, content)| {
                collected.add(path, content);
                !collected.is_full()
            })
            .for_each(drop);
        collected.finish(&NOTHING)
    }

    #[test]
    fn read_many_files_shows_each_text_under_its_path() {
        let finished = read(&["*"], &[("a", b"1\n2"), ("b", b""), ("c", b"x\0")]);
        assert_eq!(finished.text, "--- a ---\n1\n2\n--- b ---\n(skipped: c (binary))\n");
        assert_eq!(finished.summary, "2 files, skipped 1");
    }

    #[test]
    fn media_come_only_when_a_glob_names_them() {
        let check = |glob: &str, blobs: usize| {
            assert_eq!(read(&[glob], &[("a.PNG", PNG)]).into_content().len(), 1 + blobs, "{glob}")
        };
        check("*.png", 1);
        check("docs/*.{jpg,png}", 1);
        check("a.PNG", 1);
        check("**/*", 0);
        assert!(read(&["*"], &[("a.png", PNG)]).text.contains("(skipped: a.png (image/png))"));
    }

    #[test]
    fn read_many_files_reports_what_does_not_fit() {
        let long = "x\n".repeat(2_500);
        let finished = read(&["*"], &[("a", long.as_bytes())]);
        assert!(finished.text.ends_with("x\n(cut: 2000 of 2500 lines; read on with `read_file`)\n"));

        let wide = "é".repeat(1_999) + "\n";
        let wide = wide.repeat(150);
        let finished = read(&["*"], &[("a", wide.as_bytes()), ("b", wide.as_bytes()), ("c", b"")]);
        assert!(finished.text.contains("(cut here)\n(stopped in `b` at 400000 characters in all"));
        assert!(!finished.text.contains("--- c ---"));
        assert!(finished.text.chars().count() < MAX_CHARACTERS + 200);
        assert_eq!(finished.summary, "2 files, stopped at the limit");
    }

    #[test]
    fn read_many_files_reports_that_there_is_nothing_to_read() {
        assert_eq!(read(&["*.x", "y"], &[]).text, "No files to read match `*.x`, `y`\n");
        let names: Vec<_> = (0..25).map(|i| format!("{i}")).collect();
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"\0"[..])).collect();
        assert!(read(&["*"], &files).text.ends_with("(skipped: 19 (binary))\n(5 more skipped)\n"));
    }
}
