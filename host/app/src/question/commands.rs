//! The commands in a line, listed by themselves where the line does not show them: so that none hides behind the
//! others, and nothing is repeated that is seen at a glance.

use host_text::exact;

/// The most rows of a line in which each command is seen.
const ROWS: usize = 4;

/// Whether a line that is shown on rows of this width shows each of its commands: it is a few rows of commands one
/// after the other.
pub(super) fn are_shown(line: &str, commands: &[String], columns: usize) -> bool {
    let rows: usize = line.split('\n').map(|row| exact(row).chars().count() / columns.max(1) + 1).sum();
    commands.len() < 2 || rows <= ROWS && is_list_of(line, commands)
}

/// Whether a line is these commands one after the other, with nothing between them but what joins and redirects them.
fn is_list_of(line: &str, commands: &[String]) -> bool {
    let mut rest = line;
    let found = commands.iter().all(|command| {
        let Some((between, behind)) = rest.split_once(command.as_str()) else { return false };
        rest = behind;
        // Behind a comment nothing runs that looks like a command.
        !command.is_empty() && !command.contains('#') && joins(between)
    });
    found && joins(rest)
}

/// Whether a text is only what stands between commands: separators, and redirections from and to plain names.
fn joins(mut text: &str) -> bool {
    let is_separator = |c: char| matches!(c, ' ' | '\n' | '&' | '|' | ';');
    loop {
        text = text.trim_start_matches(is_separator);
        if text.is_empty() {
            return true;
        }
        let behind = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['<', '>']);
        let operator = &text[..text.len() - behind.len()];
        // A here-document has other text in it.
        if !matches!(operator.trim_start_matches(|c: char| c.is_ascii_digit()), "<" | ">" | ">>") {
            return false;
        }
        let target = behind.trim_start_matches('&').trim_start_matches(' ');
        let end = target.find(|c: char| !(c.is_ascii_alphanumeric() || "_./-".contains(c))).unwrap_or(target.len());
        if end == 0 {
            return false;
        }
        text = &target[end..];
    }
}

#[cfg(test)]
mod tests {
    use host_tool::simple_commands;

    use super::*;

    fn is_listed(line: &str, columns: usize) -> bool {
        let commands = simple_commands(&["sh", "-c", line].map(str::to_owned));
        let commands: Vec<String> = commands.into_iter().map(|command| command.text).collect();
        !are_shown(line, &commands, columns)
    }

    #[test]
    fn question_commands_that_the_line_shows_are_not_repeated() {
        for (line, listed) in [
            ("make", false),
            ("make && rm -rf x", false),
            ("make; ls | wc -l", false),
            ("make & ls", false),
            ("make > out 2>&1 && ls >>b", false),
            ("make\nls", false),
            ("git push origin HEAD:main", false),
            ("X=1 make && ls", false),
            ("make > \"a b\" && ls", false),
            ("make && $(ls)", true),
            ("if make; then ls; fi", true),
            ("make # && ls\nrm x", true),
            ("cat <<E\nrm x\nE\nls", true),
            ("make\n\n\n\n\nls", true),
        ] {
            assert_eq!(is_listed(line, 80), listed, "{line}");
        }
        let long = format!("make {} && ls", "x".repeat(200));
        assert!(is_listed(&long, 40) && !is_listed(&long, 80));
    }
}
