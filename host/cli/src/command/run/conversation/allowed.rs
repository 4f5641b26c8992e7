//! `/permissions` and `/add-dir`: what the user allowed in this folder and this session.

use host_app::session::allowed::Allowed;
use host_settings::error::Failure;
use host_terminal as terminal;
use host_text::exact;
use host_tool::Until;

use super::Repl;

/// The word that takes something back.
const FORGET: &str = "forget";

impl Repl {
    /// Lists what was allowed, or takes one of it back: `forget NUMBER` or `forget TEXT`.
    pub(super) fn permissions(&mut self, what: Option<&str>) -> Result<(), Failure> {
        let Some(what) = what else {
            let list = list(&self.session.allowed(), self.terminal.columns());
            self.terminal.lines(&list);
            return Ok(());
        };
        let Some(what) = what.strip_prefix(FORGET).filter(|rest| rest.starts_with(char::is_whitespace)) else {
            return Err(Failure::input(format!("`/permissions {}` is not a command", exact(what)))
                .help("use /permissions, or /permissions forget with a number or a part of the words"));
        };
        let forgotten = self.session.forget(what)?;
        self.note(&format!("no longer allowed: {}", forgotten.words()));
        Ok(())
    }

    /// Adds a folder to the workspace.
    pub(super) fn add_folder(&mut self, folder: Option<&str>) -> Result<(), Failure> {
        let Some(folder) = folder else {
            return Err(Failure::input("`/add-dir` needs a folder").help("use /add-dir DIR; `~/` is your home"));
        };
        let folder = self.session.add_folder(folder)?;
        let folder = exact(&folder.display().to_string()).into_owned();
        self.note(&format!("tools may read and change {folder} like the workspace, for this session"));
        Ok(())
    }
}

/// All of it with numbers, at this width.
fn list(all: &[Allowed], columns: usize) -> String {
    if all.is_empty() {
        let words = "No answer of yours allows anything here so far. `/mode` shows what the mode allows.";
        return terminal::wrapped(words, columns, 0) + "\n";
    }
    let line = |(number, allowed): (usize, &Allowed)| {
        let until = match allowed.until() {
            Until::SessionEnds => "this session",
            Until::TakenBack => "always",
        };
        terminal::wrapped(&format!("{:>3}  {:<12}  {}", number + 1, until, allowed.words()), columns, 5) + "\n"
    };
    let lines: String = all.iter().enumerate().map(line).collect();
    lines + &terminal::wrapped("/permissions forget NUMBER takes one back", columns, 0)
}
