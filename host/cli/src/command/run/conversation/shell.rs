//! `!command`: a command that the user runs from the prompt line, as themselves. Its output is shown as it comes, and
//! the model gets it with the next prompt, cut in the middle if it is long.
//!
//! Deliberately not here: running it (`host_app::session::user_command`).

use std::time::Instant;

use host_app::session::user_command;
use host_settings::error::Failure;
use host_text::visible_line;

use super::Repl;

impl Repl {
    /// Runs a line of the user's and keeps its output for the model.
    pub(super) async fn run_command(&mut self, line: &str) -> Result<(), Failure> {
        let turn = self.works();
        let began = Instant::now();
        self.printer.waits_for(&visible_line(line));
        let terminal = self.terminal.clone();
        let ran = user_command::run(self.session.app(), line, &mut |text| terminal.show(text), &turn).await;
        self.printer.waits_no_more();
        self.terminal.rests();
        let ran = ran?;
        let (words, seconds) = (&ran.ended, began.elapsed().as_secs_f64());
        self.terminal
            .lines(&self.style.dim(&format!("{words} ({seconds:.1} s) · the model gets this with your next prompt")));
        self.session.add_command(ran);
        Ok(())
    }
}
