//! A file of settings of git, read as git reads it.
//!
//! The grammar is that of `git-config(1)` with the corners of its parser: a setting on the line of its section, values
//! that go on in the next line, quotes, comments. What git would reject is an error here too, so nothing is read in one
//! way here and in another by git.

/// One setting, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The section, in lower case.
    pub(crate) section: String,
    /// The part in quotes, as it is written.
    pub(crate) part: Option<String>,
    /// The name, in lower case.
    pub(crate) name: String,
    /// The value; `None` for a name alone, which means true.
    pub(crate) value: Option<String>,
}

impl Setting {
    /// Returns `section.name`, without the part between.
    pub(crate) fn short(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// Returns the whole key, as `git config` takes it.
    pub(crate) fn key(&self) -> String {
        match &self.part {
            Some(part) => format!("{}.{part}.{}", self.section, self.name),
            None => self.short(),
        }
    }

    /// Returns the truth value, if it has one.
    pub(crate) fn truth(&self) -> Option<bool> {
        let Some(value) = &self.value else { return Some(true) };
        match value.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" | "" => Some(false),
            _ => None,
        }
    }
}

/// Returns the settings of a file, or `None` if git would reject it.
pub(crate) fn parse(text: &str) -> Option<Vec<Setting>> {
    // Git reads text that ends at a zero byte in some places.
    if text.contains('\0') {
        return None;
    }
    // Git takes both for the end of a line, and a byte order mark at the start for nothing.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut reader = Reader { rest: &text };
    let mut settings = Vec::new();
    let mut section: Option<(String, Option<String>)> = None;
    while let Some(first) = reader.next() {
        match first {
            '#' | ';' => reader.skip_line(),
            '[' => section = Some(reader.head()?),
            c if is_space(c) => {}
            c if c.is_ascii_alphabetic() => {
                let (name, value) = reader.setting(c)?;
                // A setting in front of any section is an error in git as well.
                let (section, part) = section.clone()?;
                settings.push(Setting { section, part, name, value });
            }
            // Anything else git rejects; a reader that passes over it could see other settings than git does.
            _ => return None,
        }
    }
    Some(settings)
}

/// What git counts as a space: not the vertical tab and the form feed.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = self.rest.get(next.len_utf8()..)?;
        Some(next)
    }

    fn skip_line(&mut self) {
        self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
    }

    /// Reads a section behind its bracket: `core]`, `remote "origin"]`, `branch.main]`.
    fn head(&mut self) -> Option<(String, Option<String>)> {
        let mut name = String::new();
        loop {
            match self.next()? {
                ']' if name.is_empty() => return None,
                ']' => {
                    // An old way to write a part, which git reads in lower case.
                    let (section, part) =
                        name.split_once('.').map_or((&*name, None), |(section, part)| (section, Some(part.to_owned())));
                    return Some((section.to_owned(), part));
                }
                // In front of a part the section's name ends; behind a space only a quoted part is valid.
                c if is_space(c) => {
                    let part = self.part(c)?;
                    return (!name.is_empty() && !name.contains('.')).then_some((name, Some(part)));
                }
                c if is_key(c) || c == '.' => name.push(c.to_ascii_lowercase()),
                _ => return None,
            }
        }
    }

    /// Reads the part of a section behind a space, with its quotes and the bracket.
    fn part(&mut self, space: char) -> Option<String> {
        let mut c = space;
        while is_space(c) {
            // A section stands on one line, even where a quoted value could go on.
            if c == '\n' {
                return None;
            }
            c = self.next()?;
        }
        if c != '"' {
            return None;
        }
        let mut part = String::new();
        loop {
            match self.next()? {
                '\n' => return None,
                '"' => break,
                // In a part a backslash makes the next character literal, and `\n` is the letter n: other than in a
                // value.
                '\\' => part.push(self.next().filter(|c| *c != '\n')?),
                c => part.push(c),
            }
        }
        (self.next()? == ']').then_some(part)
    }

    /// Reads a setting behind the first letter of its name.
    fn setting(&mut self, first: char) -> Option<(String, Option<String>)> {
        let mut name = String::from(first.to_ascii_lowercase());
        let mut c = self.next();
        while let Some(more) = c.filter(|c| is_key(*c)) {
            name.push(more.to_ascii_lowercase());
            c = self.next();
        }
        while c.is_some_and(|c| c == ' ' || c == '\t') {
            c = self.next();
        }
        match c {
            // A name alone means true.
            None | Some('\n') => Some((name, None)),
            Some('=') => Some((name, Some(self.value()?))),
            Some(_) => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // The end without the spaces that stand before a comment or the end of the line.
        let mut end = 0;
        let mut quoted = false;
        loop {
            match self.next() {
                // Quotes must end on their line, unless a backslash continues it.
                None | Some('\n') if quoted => return None,
                None | Some('\n') => break,
                // A space counts only if more of the value follows it, so `end` stays where it is.
                Some(c) if is_space(c) && !quoted => {
                    if !value.is_empty() {
                        value.push(c);
                    }
                    continue;
                }
                Some('#' | ';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some('\\') => match self.next() {
                    Some('\n') => continue,
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some('n') => value.push('\n'),
                    Some(c @ ('\\' | '"')) => value.push(c),
                    // Git knows no other escapes, and rejects the whole file.
                    Some(_) | None => return None,
                },
                Some('"') => quoted = !quoted,
                Some(c) => value.push(c),
            }
            end = value.len();
        }
        value.truncate(end);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What git itself reads, in the form of `git config --list`.
    fn by_git(text: &str) -> Option<String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        let git =
            Command::new("git").args(["config", "--list", "-z", "--no-includes", "--file"]).arg(file.path()).output();
        let git = git.expect("git runs");
        git.status.success().then(|| String::from_utf8(git.stdout).expect("text"))
    }

    #[test]
    fn config_is_read_as_git_reads_it() {
        for text in [
            "",
            "[core]\n\tbare = false\n",
            "[Core]\n\tFileMode\n",
            "[core] sshCommand = x",
            "[diff]external = x",
            "[remote \"a.b\"]\n\turl = https://example.com/a # x\n\turl=\"b c\"  \n",
            "[remote \"a\\\"b\\\\\"]\nurl = x",
            "[user]\n\tname = a\\\n b ; c\n\temail = \"a # b\" c",
            "[user]\n\tname = a\\tb\\n\\\\\\\"",
            "[branch.Main]\n\tremote = x",
            "[a]\nb = 1\n[a \"\"]\nb = 2",
            "# x\n; y\n[a]\n\n  b =   c   d  \n",
            "\u{feff}[a]\r\nb = c\r\n",
            "[user \"]\n[diff\"]\n\texternal = x",
            "[ diff ]\n\texternal = x",
            "[diff \"x\" ]\n\ta = x",
            "[a]\nb = \"c",
            "[a]\nb = \\x",
            "[a]\nb c",
            "[a]\n1b = c",
            "[a]\nb = c\rd",
            "[]\na = b",
            "[a",
            "[a]\n=b",
            "[a]\nb = c]\n[d]\ne = f [g]\n",
        ] {
            let ours = parse(text).map(|settings| {
                let line = |setting: &Setting| match &setting.value {
                    Some(value) => format!("{}\n{value}\0", setting.key()),
                    None => format!("{}\0", setting.key()),
                };
                settings.iter().map(line).collect::<String>()
            });
            assert_eq!(ours, by_git(text), "{text:?}");
        }
        // Git takes a backslash at the very end for nothing. It is an error here: somebody cut the file.
        assert_eq!(parse("[user]\n\tname = a\\"), None);
        assert_eq!(parse("[a]\nb = c\0d"), None);
        // And a setting without a section for one that nobody asks about.
        assert_eq!(parse("a = b"), None);
    }
}
