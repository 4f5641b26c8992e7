//! The form of a patch, as models of the GPT families write it.
//!
//! Owns its grammar and nothing about files. What a model tends to add around a patch (a code fence, a here-document) is
//! passed over; a line that means nothing is an error with its number, and so is a patch that stops before its end.

use std::collections::HashSet;
use std::fmt;

/// A patch: what becomes of some files.
#[derive(Debug, PartialEq)]
pub(crate) struct Patch {
    /// At least one, each path once.
    pub(crate) files: Vec<FilePatch>,
}

/// What becomes of one file.
#[derive(Debug, PartialEq)]
pub(crate) struct FilePatch {
    pub(crate) path: String,
    pub(crate) action: Action,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    /// It is created with this content.
    Add(String),
    Delete,
    /// Its lines change, and it may get another path.
    Update {
        moved_to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// Lines that come in place of others.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Hunk {
    /// Lines above the place that narrow it down, outermost first: a class, then a method.
    pub(crate) context: Vec<String>,
    /// The lines that are there, without the ones that are added.
    pub(crate) old: Vec<String>,
    /// The lines that will be there.
    pub(crate) new: Vec<String>,
    /// Whether the place is at the end of the file.
    pub(crate) at_end: bool,
}

/// Why a text is not a patch.
#[derive(Debug, PartialEq)]
pub(crate) enum PatchError {
    /// It does not begin or end as one.
    Frame(&'static str),
    /// A line that means nothing where it is: its number, the line, and what would be right.
    Line { number: usize, line: String, expected: &'static str },
    /// A file has nothing to change.
    Empty { path: String },
    /// A path is there twice.
    Twice { path: String },
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame(what) => f.write_str(what),
            Self::Line { number, line, expected } => {
                write!(f, "line {number} of the patch is `{line}`; expected {expected}")
            }
            Self::Empty { path } => {
                write!(f, "the patch changes nothing in `{path}`: each line to add or remove begins with `+` or `-`")
            }
            Self::Twice { path } => write!(f, "the patch names `{path}` twice: put its changes into one section"),
        }
    }
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// How many characters of a wrong line are quoted.
const QUOTED: usize = 120;

/// Reads a patch.
///
/// # Errors
///
/// If the text is not one; says where and what was expected.
pub(crate) fn parse(text: &str) -> Result<Patch, PatchError> {
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().map(|(index, line)| (index + 1, line.strip_suffix('\r').unwrap_or(line))).collect();
    let begin = lines.iter().position(|(_, line)| line.trim() == BEGIN);
    let end = lines.iter().rposition(|(_, line)| line.trim() == END);
    let Some(begin) = begin else { return Err(PatchError::Frame("the patch does not begin with `*** Begin Patch`")) };
    let Some(end) = end.filter(|end| *end > begin) else {
        return Err(PatchError::Frame("the patch does not end with `*** End Patch`: it may have been cut off"));
    };
    let around = lines.iter().take(begin).chain(lines.iter().skip(end + 1));
    for (number, line) in around {
        if !is_wrapping(line) {
            return Err(line_error(*number, line, "nothing before `*** Begin Patch` or after `*** End Patch`"));
        }
    }
    let mut files: Vec<FilePatch> = Vec::new();
    for &(number, line) in lines.get(begin + 1..end).unwrap_or_default() {
        if let Some(file) = header(line) {
            files.push(file);
            continue;
        }
        let Some(file) = files.last_mut() else {
            if line.trim().is_empty() {
                continue;
            }
            return Err(line_error(
                number,
                line,
                "`*** Update File: PATH`, `*** Add File: PATH` or `*** Delete File: PATH`",
            ));
        };
        body(&mut file.action, number, line)?;
    }
    if files.is_empty() {
        return Err(PatchError::Frame("the patch names no file"));
    }
    checked(files)
}

/// Whether the line is what models put around a patch.
fn is_wrapping(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with("```") || line.ends_with("<<'EOF'") || line.ends_with("<<EOF") || line == "EOF"
}

fn header(line: &str) -> Option<FilePatch> {
    let path_of = |prefix: &str| line.trim_end().strip_prefix(prefix).map(|path| path.trim().to_owned());
    type NewAction = fn() -> Action;
    let actions: [(&str, NewAction); 3] = [
        ("*** Add File:", || Action::Add(String::new())),
        ("*** Delete File:", || Action::Delete),
        ("*** Update File:", || Action::Update { moved_to: None, hunks: Vec::new() }),
    ];
    actions.iter().find_map(|(prefix, action)| {
        path_of(prefix).filter(|path| !path.is_empty()).map(|path| FilePatch { path, action: action() })
    })
}

/// Takes a line behind the header of a file.
fn body(action: &mut Action, number: usize, line: &str) -> Result<(), PatchError> {
    match action {
        Action::Add(content) => match line.strip_prefix('+') {
            Some(line) => {
                content.push_str(line);
                content.push('\n');
            }
            None => return Err(line_error(number, line, "`+` and a line of the new file")),
        },
        Action::Delete if line.trim().is_empty() => {}
        Action::Delete => return Err(line_error(number, line, "the next file: a deleted one has no lines")),
        Action::Update { moved_to, hunks } => {
            if let Some(path) = line.strip_prefix("*** Move to:").map(str::trim)
                && hunks.is_empty()
                && moved_to.is_none()
                && !path.is_empty()
            {
                *moved_to = Some(path.to_owned());
            } else {
                hunk_line(hunks, number, line)?;
            }
        }
    }
    Ok(())
}

fn hunk_line(hunks: &mut Vec<Hunk>, number: usize, line: &str) -> Result<(), PatchError> {
    if let Some(context) = line.strip_prefix("@@") {
        let context = without_positions(context);
        // Several of them in a row narrow the place down step by step.
        match hunks.last_mut() {
            Some(hunk) if hunk.old.is_empty() && hunk.new.is_empty() && !context.is_empty() => {
                hunk.context.push(context.to_owned());
            }
            _ => {
                let context = Some(context).filter(|context| !context.is_empty());
                hunks.push(Hunk { context: context.map(str::to_owned).into_iter().collect(), ..Hunk::default() });
            }
        }
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Ok(()) };
    if line.trim_end() == END_OF_FILE {
        hunk.at_end = true;
    } else if let Some(added) = line.strip_prefix('+') {
        hunk.new.push(added.to_owned());
    } else if let Some(removed) = line.strip_prefix('-') {
        hunk.old.push(removed.to_owned());
    } else if let Some(kept) = line.strip_prefix(' ').or(line.is_empty().then_some("")) {
        hunk.old.push(kept.to_owned());
        hunk.new.push(kept.to_owned());
    } else {
        return Err(line_error(number, line, "a space, `+`, `-` or `@@` in front of it"));
    }
    Ok(())
}

/// What stands behind `@@`, without the line numbers of a unified difference (`-1,3 +1,4 @@`), which models get wrong.
fn without_positions(context: &str) -> &str {
    let context = context.trim();
    let is_position =
        |word: &str| word.starts_with(['-', '+']) && word[1..].chars().all(|c| c.is_ascii_digit() || c == ',');
    match context.split_once("@@") {
        Some((positions, rest)) if positions.split_whitespace().all(is_position) => rest.trim(),
        None if !context.is_empty() && context.split_whitespace().all(is_position) => "",
        _ => context,
    }
}

fn line_error(number: usize, line: &str, expected: &'static str) -> PatchError {
    PatchError::Line { number, line: line.chars().take(QUOTED).collect(), expected }
}

/// A patch in which each file has something to change, and each path is there once.
fn checked(mut files: Vec<FilePatch>) -> Result<Patch, PatchError> {
    let mut paths = HashSet::new();
    for FilePatch { path, action } in &mut files {
        let mut moved = None;
        if let Action::Update { moved_to, hunks } = action {
            // A header without lines behind it, such as an empty `@@` at the end, changes nothing.
            hunks.retain(|hunk| hunk.old != hunk.new);
            if hunks.is_empty() && moved_to.is_none() {
                return Err(PatchError::Empty { path: path.clone() });
            }
            moved = moved_to.clone();
        }
        for path in [Some(path.clone()), moved].into_iter().flatten() {
            if !paths.insert(path.clone()) {
                return Err(PatchError::Twice { path });
            }
        }
    }
    Ok(Patch { files })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn patch_has_files_with_what_becomes_of_them() {
        let patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Delete File: old.txt\n*** Update File: a.rs\n\
                     *** Move to: b.rs\n@@ impl A\n@@ fn f() {\n one\n-two\n+2\n\n@@\n-x\n*** End of File\n*** End Patch\n";
        let hunks = vec![
            Hunk {
                context: words(&["impl A", "fn f() {"]),
                old: words(&["one", "two", ""]),
                new: words(&["one", "2", ""]),
                at_end: false,
            },
            Hunk { old: words(&["x"]), at_end: true, ..Hunk::default() },
        ];
        let file = |path: &str, action| FilePatch { path: path.to_owned(), action };
        let files = vec![
            file("new.txt", Action::Add("one\n\n".to_owned())),
            file("old.txt", Action::Delete),
            file("a.rs", Action::Update { moved_to: Some("b.rs".to_owned()), hunks }),
        ];
        assert_eq!(parse(patch), Ok(Patch { files }));
        // What models put around it.
        for wrapped in
            [format!("```\n{patch}```\n"), format!("apply_patch <<'EOF'\n{patch}EOF\n"), patch.replace('\n', "\r\n")]
        {
            assert_eq!(parse(&wrapped), parse(patch), "{wrapped}");
        }
    }

    #[test]
    fn positions_of_a_unified_difference_are_passed_over() {
        for (line, expected) in [
            (" -1,3 +1,4 @@", ""),
            (" -1 +1,4 @@ fn f()", "fn f()"),
            (" -1,3 +1,4", ""),
            (" fn f() {", "fn f() {"),
            (" - item", "- item"),
            ("", ""),
        ] {
            assert_eq!(without_positions(line), expected, "{line}");
        }
    }

    #[test]
    fn patch_that_is_wrong_is_refused_with_the_place() {
        let check = |body: &str, expected: &str| {
            let error = parse(&format!("*** Begin Patch\n{body}*** End Patch\n")).expect_err(body).to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("", "names no file");
        check("+x\n", "line 2 of the patch is `+x`; expected `*** Update File: PATH`");
        check("*** Add File: a\nx\n", "line 3 of the patch is `x`; expected `+`");
        check("*** Delete File: a\n-x\n", "a deleted one has no lines");
        check("*** Update File: a\n*** End of Lines\n", "expected a space, `+`, `-` or `@@`");
        check("*** Update File: a\n", "changes nothing in `a`");
        check("*** Update File: a\n@@ f\n x\n", "changes nothing in `a`");
        check("*** Delete File: a\n*** Add File: a\n+x\n", "names `a` twice");
        check("*** Add File: b\n+x\n*** Update File: a\n*** Move to: b\n", "names `b` twice");
        for (text, expected) in [
            ("*** Update File: a\n", "does not begin"),
            ("*** Begin Patch\n*** Delete File: a\n", "cut off"),
            ("sure:\n*** Begin Patch\n*** Delete File: a\n*** End Patch", "line 1 of the patch is `sure:`"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
