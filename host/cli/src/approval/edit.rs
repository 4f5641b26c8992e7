//! The user's own editor on what a call proposed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use host_settings::environment::Environment;
use host_terminal::Terminal;

/// The largest edited text that is read, in bytes: a tool cannot write a larger file.
const MAX_TEXT: u64 = 20 << 20;

/// The editor of the user.
#[derive(Clone, Debug)]
pub(crate) struct Editor {
    /// As the variable has it: a program, perhaps with arguments.
    command: OsString,
}

impl Editor {
    /// `VISUAL`, else `EDITOR`, else `vi`, as POSIX has it for those who set neither.
    pub(crate) fn from_environment(environment: &Environment) -> Self {
        let command = ["VISUAL", "EDITOR"].into_iter().find_map(|name| environment.variable(name));
        Self { command: command.map_or_else(|| "vi".into(), OsString::from) }
    }

    /// Opens it on the text. None when the user left the text as it was.
    pub(crate) async fn edit(&self, terminal: &Terminal, text: String, name: String) -> Result<Option<String>, String> {
        let command = self.command.clone();
        terminal.lend(move || open(&command, &text, &name)).await
    }

    /// The same for a caller that has the terminal already. Blocks.
    pub(crate) fn edit_now(&self, text: &str, name: &str) -> Result<Option<String>, String> {
        open(&self.command, text, name)
    }
}

fn open(command: &OsString, text: &str, name: &str) -> Result<Option<String>, String> {
    let shown = host_text::exact(&command.to_string_lossy()).into_owned();
    let failed = |error: io::Error| format!("cannot run the editor `{shown}` (VISUAL or EDITOR): {error}");
    let folder = tempfile::Builder::new().prefix("host-edit-").tempdir().map_err(failed)?;
    // An editor detects the language by the extension; it does not need the rest of the name.
    let end = Path::new(name).extension().and_then(|end| end.to_str());
    let end = end.filter(|end| end.len() <= 16 && end.chars().all(|c| c.is_ascii_alphanumeric()));
    let file = folder.path().join(end.map_or_else(|| "proposed".to_owned(), |end| format!("proposed.{end}")));
    fs::write(&file, text).map_err(failed)?;
    // The variable may hold arguments, so a shell reads it, as git has it.
    let ended = Command::new("sh")
        .arg("-c")
        .arg({
            // Ctrl-C is for the editor to make something of, so the shell waits until it has.
            let mut line = OsString::from("trap : INT QUIT\n");
            line.push(command);
            line.push(" \"$@\"");
            line
        })
        .arg(command)
        .arg(&file)
        .status()
        .map_err(failed)?;
    if !ended.success() {
        return Err(format!("the editor `{shown}` failed ({ended}); nothing was changed"));
    }
    let size = fs::metadata(&file).map_err(failed)?.len();
    if size > MAX_TEXT {
        return Err(format!("the edited text has {size} bytes, over the limit of {MAX_TEXT}"));
    }
    let bytes = fs::read(&file).map_err(failed)?;
    let edited = String::from_utf8(bytes).map_err(|_| "the edited text is not UTF-8".to_owned())?;
    // Editors put a line end behind the last line, which a command line does not have.
    let edited = match edited.strip_suffix('\n') {
        Some(line) if !text.ends_with('\n') && !text.contains('\n') => line.to_owned(),
        Some(_) | None => edited,
    };
    Ok((edited != text).then_some(edited))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(command: &str, text: &str) -> Result<Option<String>, String> {
        open(&command.into(), text, "a.rs")
    }

    #[test]
    fn approval_edit_uses_what_the_editor_saved() {
        assert_eq!(edited("printf 'b\\n' >", "a").as_ref(), Ok(&Some("b".to_owned())), "a line stays a line");
        assert_eq!(edited("printf 'b\\n' >", "a\n").as_ref(), Ok(&Some("b\n".to_owned())));
        assert_eq!(
            edited("sed -i -e s/a/c/", "a\nx\n").as_ref(),
            Ok(&Some("c\nx\n".to_owned())),
            "it may have arguments"
        );
        assert_eq!(edited("true", "a").as_ref(), Ok(&None));
        assert_eq!(edited("grep -q '' && case $1 in *.rs) : ;; esac; true", "a").as_ref(), Ok(&None));
    }

    #[test]
    fn approval_edit_reports_an_editor_that_fails_and_changes_nothing() {
        for (command, words) in [
            ("false", "failed (exit status: 1)"),
            ("/no/such/editor", "failed ("),
            ("printf '\\377' >", "not UTF-8"),
            ("rm -f", "cannot run the editor"),
        ] {
            let error = edited(command, "a").expect_err("it fails");
            assert!(error.contains(words), "{command}: {error}");
        }
    }
}
