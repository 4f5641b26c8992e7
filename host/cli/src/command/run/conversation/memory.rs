//! `/memory`: the context files that the model has, and the user's editor on one.

use host_app::context::ContextFile;
use host_settings::error::Failure;
use host_terminal::wrapped;
use host_text::counted;

use super::Repl;
use crate::approval::edit::Editor;

/// The list, a line for each file.
pub(super) fn list(files: &[ContextFile], columns: usize) -> String {
    if files.is_empty() {
        return "The model read no context files. /init writes AGENTS.md for this repository.".to_owned();
    }
    let line = |(number, file): (usize, &ContextFile)| {
        let size = counted(file.characters, "character");
        wrapped(&format!("{:>2}  {} · {size} · {}", number + 1, file.shown, file.origin.words()), columns, 4) + "\n"
    };
    let lines: String = files.iter().enumerate().map(line).collect();
    lines + &wrapped("/memory NUMBER edits one", columns, 0)
}

impl Repl {
    /// Lists the context files, or opens the editor on one.
    pub(super) async fn memory(&mut self, which: Option<&str>) -> Result<(), Failure> {
        let files = self.session.memory();
        let Some(which) = which else {
            self.terminal.lines(&list(&files, self.terminal.columns()));
            return Ok(());
        };
        let number = which.parse::<usize>().ok().and_then(|number| files.get(number.checked_sub(1)?));
        let named = files.iter().find(|file| file.shown == which);
        let Some(file) = number.or(named) else {
            return Err(Failure::input(format!("there is no context file `{}`", host_text::exact(which)))
                .help("/memory lists those that there are, with their numbers"));
        };
        let before = self.session.memory_text(file)?;
        let editor = Editor::from_environment(&self.session.app().environment);
        let edited =
            editor.edit(&self.terminal, before.clone(), "context.md".to_owned()).await.map_err(Failure::input)?;
        match edited {
            None => self.note("nothing was changed"),
            Some(text) => {
                let notes = self.session.write_memory(file, &before, &text)?;
                self.note(&format!("{} is written; the model reads it with the next prompt", file.shown));
                notes.iter().for_each(|line| self.note(line));
            }
        }
        Ok(())
    }
}
