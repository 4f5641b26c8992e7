//! What a prompt names: words to search for, paths to look at, or the whole project.

/// The most words that are searched for; each is two searches over the whole tree.
const MAX_WORDS: usize = 4;

/// The most paths that are examined.
const MAX_PATHS: usize = 4;

/// Words that ask about the whole project.
const SURVEY_WORDS: &[&str] = &[
    "about",
    "architecture",
    "codebase",
    "describe",
    "explain",
    "overview",
    "project",
    "purpose",
    "repo",
    "repository",
    "structure",
    "summarise",
    "summarize",
    "summary",
    "survey",
    "tour",
];

/// The questions of a prompt.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Task {
    /// Whether the prompt is about the whole project; also if nothing else was understood.
    pub(super) survey: bool,
    /// Words to search for.
    pub(super) words: Vec<String>,
    /// Paths, or names of files, which may exist.
    pub(super) paths: Vec<String>,
}

impl Task {
    pub(super) fn read(prompt: &str) -> Self {
        let prompt = within(prompt, "<objective>", "</objective>").unwrap_or(prompt);
        let mut task = Self::default();
        let plain = task.take_quoted(prompt);
        for token in plain.split_whitespace() {
            let starts = |c: char| is_name(c) || matches!(c, '/' | '.' | '~');
            let token = token.trim_start_matches(|c| !starts(c)).trim_end_matches(|c| !is_name(c) && c != '/');
            task.take_token(token);
        }
        task.survey |= task.words.is_empty() && task.paths.is_empty();
        task
    }

    /// Takes the texts in quotes or backticks; returns the rest.
    fn take_quoted(&mut self, prompt: &str) -> String {
        let mut plain = String::with_capacity(prompt.len());
        let mut rest = prompt;
        while let Some((at, open)) = rest.char_indices().find(|(_, c)| matches!(c, '`' | '"' | '“')) {
            let close = if open == '“' { '”' } else { open };
            let (before, after) = (&rest[..at], &rest[at + open.len_utf8()..]);
            plain.push_str(before);
            plain.push(' ');
            let Some(end) = after.find(close) else {
                rest = after;
                continue;
            };
            let quoted = after[..end].trim();
            if !quoted.is_empty() && !quoted.contains('\n') {
                if is_path(quoted) { self.add_path(quoted) } else { self.add_word(quoted.trim_end_matches("()")) }
            }
            rest = &after[end + close.len_utf8()..];
        }
        plain.push_str(rest);
        plain
    }

    fn take_token(&mut self, token: &str) {
        let lower = token.to_ascii_lowercase();
        if SURVEY_WORDS.contains(&lower.as_str()) {
            self.survey = true;
        } else if let "todo" | "todos" | "fixme" | "fixmes" = lower.as_str() {
            self.add_word(&lower.trim_end_matches('s').to_ascii_uppercase());
        } else if token.contains("://") {
            // An address is not a path, and nothing here can fetch it.
        } else if is_path(token) {
            self.add_path(token);
        } else {
            // The plural of a word in capitals.
            let word = token.strip_suffix('s').filter(|word| is_capitals(word)).unwrap_or(token);
            if is_capitals(word) || is_identifier(word) {
                self.add_word(word);
            }
        }
    }

    fn add_word(&mut self, word: &str) {
        if !word.is_empty() && self.words.len() < MAX_WORDS && !self.words.iter().any(|known| known == word) {
            self.words.push(word.to_owned());
        }
    }

    fn add_path(&mut self, path: &str) {
        let path = match path.trim_start_matches("./").trim_end_matches('/') {
            "" if path.starts_with('/') => "/",
            path => path,
        };
        if !path.is_empty() && self.paths.len() < MAX_PATHS && !self.paths.iter().any(|known| known == path) {
            self.paths.push(path.to_owned());
        }
    }
}

/// Whether a name can end with the character.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text is a path: `src/main.rs`, `Cargo.toml`, `src/`; not `and/or`, `e.g` or `1.2`.
fn is_path(text: &str) -> bool {
    if text.contains(char::is_whitespace) || text.contains("::") || text.contains('(') {
        return false;
    }
    let name = text.rsplit('/').next().unwrap_or(text);
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let fits = (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric());
        fits && stem.len() + extension.len() > 2
            && stem.chars().any(char::is_alphabetic)
            && extension.bytes().any(|b| b.is_ascii_alphabetic())
    });
    let is_hidden = name.starts_with('.') && name.chars().filter(|c| c.is_alphabetic()).count() > 2;
    has_extension || is_hidden || text.ends_with('/') || text.matches('/').count() > 1 || text.starts_with("./")
}

/// Whether a text is a word in capitals: `TODO`, `MAX_TURNS`; not `OK`, and not the name of a file that is read anyway.
fn is_capitals(text: &str) -> bool {
    let fits = text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    fits && text.bytes().filter(u8::is_ascii_uppercase).count() >= 3 && !matches!(text, "README" | "LICENSE")
}

/// Whether a text is an identifier: `snake_case`, `CamelCase`, `a::b`.
fn is_identifier(text: &str) -> bool {
    let is_one =
        text.chars().all(|c| is_name(c) || c == ':') && text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let has_hump = text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    is_one && (has_hump || text.trim_matches('_').contains('_') || text.contains("::"))
}

fn within<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(open)?;
    Some(after.split_once(close)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_names_words_paths_or_the_whole() {
        let check = |prompt: &str, survey: bool, words: &[&str], paths: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect();
            assert_eq!(Task::read(prompt), Task { survey, words: owned(words), paths: owned(paths) }, "{prompt}");
        };
        check("Survey this repository: what is it, and where are the TODOs?", true, &["TODO"], &[]);
        check("where are the todos and fixmes", false, &["TODO", "FIXME"], &[]);
        check("hello", true, &[], &[]);
        check("", true, &[], &[]);
        check("Who calls `parse_line`, and what is MAX_EVENT_BYTES?", false, &["parse_line", "MAX_EVENT_BYTES"], &[]);
        check("Find \"no such file\" and “größe”.", false, &["no such file", "größe"], &[]);
        check(
            "Where is std::fs::read or CamelCase or run_it() used?",
            false,
            &["std::fs::read", "CamelCase", "run_it"],
            &[],
        );
        check("What does src/main.rs do? And Cargo.toml, docs/?", false, &[], &["src/main.rs", "Cargo.toml", "docs"]);
        check("Look at `src/lib.rs` and `a/b/c`, e.g. and/or i.e. v1.2 OK", false, &[], &["src/lib.rs", "a/b/c"]);
        check("Read ./a/b, ../c.rs and .gitignore...", false, &[], &["a/b", "../c.rs", ".gitignore"]);
        check("Show /etc/passwd, (src/x.rs).", false, &[], &["/etc/passwd", "src/x.rs"]);
        check("Explain https://example.com/a/b.html", true, &[], &[]);
        check("an unclosed `quote with TODO", false, &["TODO"], &[]);
        check("`` \"\" ` `", true, &[], &[]);
        check("Use JSON. <objective>Find snake_case</objective> BYE", false, &["snake_case"], &[]);
        check("AAA BBB CCC DDD EEE", false, &["AAA", "BBB", "CCC", "DDD"], &[]);
    }
}
