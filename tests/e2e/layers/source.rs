//! Rust sources with everything taken out that is not code of the product: comments, texts, and what is compiled for
//! tests alone. It knows as much of the language as formatted code needs, and no more.

use std::path::Path;

/// A source file; what was taken out is blank, so that lines keep their numbers.
pub(crate) struct Source {
    code: Vec<char>,
    test_modules: Vec<String>,
    texts: Vec<Text>,
}

/// A string literal.
pub(crate) struct Text {
    /// Its line, from 1 on.
    pub(crate) line: usize,
    /// What is between its quotes, as it is written.
    pub(crate) text: String,
    at: usize,
}

/// All sources of a crate beneath its `src`, each with its path there; without the files of test modules.
pub(crate) fn beneath(root: &Path) -> Vec<(String, Source)> {
    let mut files = Vec::new();
    collect(root, root, &mut files);
    let skipped: Vec<String> = files
        .iter()
        .flat_map(|(file, source)| {
            let folder = match file.strip_suffix(".rs").unwrap_or(file) {
                "lib" | "main" => String::new(),
                module => format!("{module}/"),
            };
            source.test_modules.iter().map(move |name| format!("{folder}{name}"))
        })
        .collect();
    let of_tests = |file: &str| {
        skipped
            .iter()
            .any(|module| file.strip_prefix(module.as_str()).is_some_and(|r| r == ".rs" || r.starts_with('/')))
    };
    files.retain(|(file, _)| !of_tests(file));
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Source)>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = path.strip_prefix(root).expect("it was found there").display().to_string();
            files.push((name, Source::parse(&text)));
        }
    }
}

impl Source {
    pub(crate) fn parse(text: &str) -> Self {
        let (code, texts) = without_text(text);
        let mut source = Self { code, test_modules: Vec::new(), texts };
        for attribute in ["#[cfg(test)]", "#[cfg(all(test,"] {
            while let Some(at) = find(&source.code, attribute, 0) {
                source.take_item(at);
            }
        }
        source
    }

    /// The string literals of the product.
    pub(crate) fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// The modules that are compiled for tests alone and have files of their own.
    pub(crate) fn test_modules(&self) -> &[String] {
        &self.test_modules
    }

    /// The code, without what was taken out.
    pub(crate) fn code(&self) -> String {
        self.code.iter().collect()
    }

    /// Where the words stand, each with its line. A word that begins like a name is found only where a name begins.
    pub(crate) fn find<'w>(&self, words: &[&'w str]) -> Vec<(usize, &'w str)> {
        let mut found = Vec::new();
        for word in words {
            let mut from = 0;
            while let Some(at) = find(&self.code, word, from) {
                from = at + 1;
                let inside = at > 0 && is_name(self.code[at - 1]) && word.starts_with(is_name);
                if !inside {
                    let line = 1 + self.code[..at].iter().filter(|c| **c == '\n').count();
                    found.push((line, *word));
                }
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(line, _)| *line);
        found
    }

    /// Blanks the item that begins at this place with an attribute.
    fn take_item(&mut self, start: usize) {
        let mut at = start;
        while self.code[at..].starts_with(&['#', '[']) {
            at = self.end_of_brackets(at + 1);
            at += self.code[at..].iter().take_while(|c| c.is_whitespace()).count();
        }
        let begin = at;
        let words = |until: usize| self.code[begin..until].iter().collect::<String>();
        // An import has braces and still ends with a semicolon.
        let is_use = words((begin + 12).min(self.code.len())).split_whitespace().any(|word| word == "use");
        let end = loop {
            match self.code.get(at) {
                None => break at,
                Some(';') => break at + 1,
                Some('{') if !is_use => break self.end_of_brackets(at),
                Some('(' | '[' | '{') => at = self.end_of_brackets(at),
                Some(_) => at += 1,
            }
        };
        if let Some(name) = words(end).strip_suffix(';').and_then(|item| item.split_once("mod ")).map(|(_, name)| name)
        {
            self.test_modules.push(name.trim().to_owned());
        }
        self.code[start..end].iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
        self.texts.retain(|text| !(start..end).contains(&text.at));
    }

    /// The place behind the bracket that closes the one at `at`.
    fn end_of_brackets(&self, mut at: usize) -> usize {
        let mut depth = 0usize;
        while let Some(c) = self.code.get(at) {
            at += 1;
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth <= 1 => return at,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
        }
        at
    }
}

/// The text with comments and literals blank, and the string literals.
fn without_text(text: &str) -> (Vec<char>, Vec<Text>) {
    let mut code: Vec<char> = text.chars().collect();
    let mut texts = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < code.len() {
        let rest = &code[at..];
        let length = match rest {
            ['/', '/', ..] => rest.iter().take_while(|c| **c != '\n').count(),
            ['/', '*', ..] => block_comment(rest),
            ['"', ..] => literal(rest, '"'),
            ['r', '"' | '#', ..] if !(at > 0 && is_name(code[at - 1]) && code[at - 1] != 'b') => raw_literal(rest),
            // A lifetime has no quote behind its first character.
            ['\'', '\\', ..] | ['\'', _, '\'', ..] => literal(rest, '\''),
            _ => 0,
        };
        if matches!(code[at], '"' | 'r') && length > 0 {
            texts.push(Text { line, text: code[at..at + length].iter().collect(), at });
        }
        code[at..at + length].iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
        line += code[at..at + length.max(1)].iter().filter(|c| **c == '\n').count();
        at += length.max(1);
    }
    (code, texts)
}

fn block_comment(code: &[char]) -> usize {
    let (mut at, mut depth) = (0, 0usize);
    while at < code.len() {
        match &code[at..] {
            ['/', '*', ..] => (at, depth) = (at + 2, depth + 1),
            ['*', '/', ..] if depth == 1 => return at + 2,
            ['*', '/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    code.len()
}

fn literal(code: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < code.len() {
        match code[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    code.len()
}

/// The length of `r"…"` or `r#"…"#`; 0 when it is a name such as `r#type`.
fn raw_literal(code: &[char]) -> usize {
    let marks = code[1..].iter().take_while(|c| **c == '#').count();
    if code.get(1 + marks) != Some(&'"') {
        return 0;
    }
    let end: String = std::iter::once('"').chain(std::iter::repeat_n('#', marks)).collect();
    find(code, &end, 2 + marks).map_or(code.len(), |at| at + end.len())
}

fn find(code: &[char], word: &str, from: usize) -> Option<usize> {
    let word: Vec<char> = word.chars().collect();
    let places = code.get(from..)?.windows(word.len());
    places.into_iter().position(|window| window == word).map(|at| from + at)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
