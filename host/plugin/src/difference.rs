//! Checks that the diff in a preview is the one that its call makes.
//!
//! Promises: the diff that a user sees leads from the file's content to the proposed content. A plugin's own diff is
//! kept if it does, since it is easier to read; otherwise the host shows a simple one of its own.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use host_capability::{Grants, PluginName};

use crate::limits::MAX_WHOLE;
use crate::workspace::{OpenError, Workspace, changed, real_path};

/// The content of the file before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before<'t> {
    /// The file does not exist.
    Nothing,
    Text(&'t str),
    /// The file cannot be read, so the whole new content is shown as added.
    Unknown,
}

/// Returns the diff to be shown for this change of a file, of which [`there`] is what was found.
pub(crate) fn of_file(path: &str, there: Option<Option<There>>, proposed: &str, unified: String) -> String {
    match there {
        Some(Some(there)) => {
            let text = String::from_utf8_lossy(&there.content);
            truthful(path, Before::Text(&text), proposed, unified)
        }
        Some(None) => truthful(path, Before::Nothing, proposed, unified),
        None => truthful(path, Before::Unknown, proposed, unified),
    }
}

/// A file as it is now.
pub(crate) struct There {
    /// Its real path.
    pub(crate) path: PathBuf,
    pub(crate) content: Vec<u8>,
    /// When anything about it was last changed.
    pub(crate) changed: SystemTime,
}

/// Reads what is at a path with a plugin's own grants; `None` if it cannot be read, and `Some(None)` if nothing is
/// there.
pub(crate) fn there(path: &str, plugin: &PluginName, grants: &Grants, workspace: &Workspace) -> Option<Option<There>> {
    let absolute = workspace.absolute(path).ok()?;
    let permit = grants.permit_read(plugin, &absolute).ok()?;
    let file = match workspace.open(&permit) {
        Ok(file) => file,
        Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Some(None),
        Err(OpenError::Io(_) | OpenError::Denied(_) | OpenError::Escapes) => return None,
    };
    let about = file.metadata().ok()?;
    if !about.is_file() {
        return None;
    }
    let (path, changed) = (real_path(&file, &absolute).ok()?, changed(&about));
    let content = host_files::read_limited(file, MAX_WHOLE).ok()?;
    Some(Some(There { path, content, changed }))
}

/// Returns the diff to be shown: the plugin's, if it is true.
pub(crate) fn truthful(path: &str, before: Before<'_>, proposed: &str, unified: String) -> String {
    let old = match before {
        Before::Nothing => "",
        Before::Text(text) => text,
        Before::Unknown => return unseen(path, proposed),
    };
    let is_kept = applied(old, &unified).as_deref() == Some(proposed) && unified != unseen(path, proposed);
    if is_kept { unified } else { plain(path, old, proposed) }
}

/// Whether the diff that was shown leads from what is there now to the proposed content: nothing changed in between.
/// Where the file could not be read, that cannot be said, and the diff said so.
pub(crate) fn still_applies(path: &str, unified: &str, there: Option<&[u8]>, proposed: &str) -> bool {
    let there = String::from_utf8_lossy(there.unwrap_or_default());
    applied(&there, unified).as_deref() == Some(proposed) || unified == unseen(path, proposed)
}

/// Formats the diff of a file that cannot be read.
fn unseen(path: &str, proposed: &str) -> String {
    hunk(&format!("{} (cannot be read)", host_text::exact(path)), "", proposed)
}

/// Applies the diff to a text; `None` if it does not apply, or contains anything else.
fn applied(old: &str, unified: &str) -> Option<String> {
    let mut old_lines = old.split_inclusive('\n');
    // Counted by lines of the old text: a hunk that goes back to an earlier line is not a diff of it.
    let (mut new, mut taken, mut headers, mut hunks) = (String::with_capacity(old.len()), 0usize, 0, 0);
    let mut last = None;
    for line in unified.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        match bare.as_bytes().first() {
            // Only in front of the first hunk: behind it a removed line may begin with `--`.
            _ if hunks == 0 && headers < 2 && (bare.starts_with("--- ") || bare.starts_with("+++ ")) => headers += 1,
            Some(b'@') => {
                let first = skipped(bare)?;
                while taken < first {
                    new.push_str(old_lines.next()?);
                    taken += 1;
                }
                (hunks, last) = (hunks + 1, None);
            }
            Some(mark @ (b' ' | b'-')) if hunks > 0 => {
                let there = old_lines.next()?;
                taken += 1;
                // Each old line is compared: a diff of another text would show the user what the call does not do.
                if there.strip_suffix('\n').unwrap_or(there) != bare.get(1..)? {
                    return None;
                }
                if *mark == b' ' {
                    new.push_str(there);
                }
                last = Some(*mark);
            }
            Some(b'+') if hunks > 0 => {
                new.push_str(bare.get(1..)?);
                new.push('\n');
                last = Some(b'+');
            }
            // "No newline at end of file".
            Some(b'\\') if last.is_some() => {
                if last == Some(b'+') {
                    new.pop();
                }
                last = None;
            }
            _ => return None,
        }
    }
    new.extend(old_lines);
    Some(new)
}

/// Returns how many lines precede a hunk: `@@ -START,COUNT +… @@`, where a hunk that removes nothing names the line
/// before it.
fn skipped(header: &str) -> Option<usize> {
    let (range, rest) = header.strip_prefix("@@ -")?.split_once(' ')?;
    if !rest.starts_with('+') || !rest.ends_with(" @@") || !rest.trim_end_matches(" @@").bytes().all(is_of_range) {
        return None;
    }
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
    if count == 0 { Some(start) } else { start.checked_sub(1) }
}

fn is_of_range(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b',')
}

/// Returns a unified diff between two texts of the host's own.
pub fn difference(name: &str, old: &str, new: &str) -> String {
    plain(name, old, new)
}

/// Formats a diff that replaces everything between the first and the last line that differ.
fn plain(path: &str, old: &str, new: &str) -> String {
    hunk(&host_text::exact(path), old, new)
}

fn hunk(path: &str, old: &str, new: &str) -> String {
    let lines = |text: &'_ str| -> Vec<String> { text.split_inclusive('\n').map(str::to_owned).collect() };
    let (old, new) = (lines(old), lines(new));
    let alike = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - alike;
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count().min(most);
    let (gone, come) = (&old[alike..old.len() - behind], &new[alike..new.len() - behind]);
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    let start = |lines: &[String]| if lines.is_empty() { alike } else { alike + 1 };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "@@ -{},{} +{},{} @@", start(gone), gone.len(), start(come), come.len());
    for (mark, lines) in [('-', gone), ('+', come)] {
        for line in lines {
            let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            let _ = write!(text, "{mark}{line}{end}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "a\nb\nc\nd\n";

    fn check(old: &str, proposed: &str, unified: &str, kept: bool) {
        let shown = truthful("f", Before::Text(old), proposed, unified.to_owned());
        assert_eq!(shown == unified, kept, "{unified}\n{shown}");
        assert_eq!(applied(old, &shown).as_deref(), Some(proposed), "{shown}");
    }

    #[test]
    fn a_true_difference_is_shown_as_it_is() {
        check(OLD, "a\nB\nc\nd\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", true);
        check(OLD, "x\na\nb\nc\n", "@@ -0,0 +1 @@\n+x\n@@ -4 +4,0 @@\n-d\n", true);
        check("", "x\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", true);
        check("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", true);
        check("a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", true);
        check("a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n", true);
        check(OLD, OLD, "", true);
        check("-- a\n", "++ b\n", "@@ -1 +1 @@\n--- a\n+++ b\n", true);
    }

    // promise preview.true-difference: The diff that the user sees leads from the file's real content to the proposed
    //   content, whatever the plugin claims.
    #[test]
    fn a_difference_that_lies_is_not_shown() {
        let evil = "a\nb\nc\nevil\n";
        check(OLD, evil, "", false);
        check(OLD, evil, "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+B\n", false);
        check(OLD, evil, "@@ -4 +4 @@\n-d\n+good\n", false);
        check(OLD, evil, "@@ -4 +4 @@\n-D\n+evil\n", false);
        check(OLD, evil, "@@ -3 +4 @@\n-d\n+evil\n", false);
        check(OLD, evil, "nothing to see\n@@ -4 +4 @@\n-d\n+evil\n", false);
        check(OLD, evil, "@@ -4 +4 @@\n-d\n+evil\nand nothing else\n", false);
        check(OLD, evil, "@@ -4 +4 @@ only a comment\n-d\n+evil\n", false);
        check(OLD, evil, "@@ -4 +4 only a comment @@\n-d\n+evil\n", false);
        check(OLD, evil, "@@ -99999999999999999999 +4 @@\n-d\n+evil\n", false);
        check(OLD, evil, "@@ -0 +4 @@\n", false);
        check(OLD, "", "é", false);
        check("", "a\nb", "@@ -1 +1 @@\n", false);
        check("a\na\n", "a\n", "x", false);
    }

    // promise preview.true-difference
    #[test]
    fn difference_from_a_file_that_cannot_be_read_shows_everything_as_new() {
        let shown = truthful("a\n+b", Before::Unknown, "x\ny\n", "lies".to_owned());
        let header = "--- a/a\\n+b (cannot be read)\n+++ b/a\\n+b (cannot be read)\n";
        assert_eq!(shown, format!("{header}@@ -0,0 +1,2 @@\n+x\n+y\n"));
        // No plugin can say that of a file that can be read.
        let forged = unseen("f", "x\n");
        assert_eq!(truthful("f", Before::Nothing, "x\n", forged), plain("f", "", "x\n"));
        assert_eq!(truthful("f", Before::Nothing, "x\n", String::new()).lines().last(), Some("+x"));
    }
}
