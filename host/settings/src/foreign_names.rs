//! What other agents call our tools and their arguments: one table for hooks, for `allowed-tools` and for imported
//! permissions.
//!
//! Deliberately not here: what a name means where it is written, and the names of tools of MCP servers.

use host_tool::file_tools::{APPLY_PATCH, EDIT, WRITE_FILE};

/// The names of one of our tools, and of those of its arguments that have others elsewhere: ours, Claude Code's, Gemini
/// CLI's.
pub struct ForeignNames {
    host: &'static str,
    /// The name in Claude Code.
    pub claude: &'static str,
    /// The name in Gemini CLI.
    pub gemini: &'static str,
    /// Names that a matcher may use besides: of tools that others have in its place.
    also: &'static [&'static str],
    /// The names of its arguments that differ.
    pub arguments: &'static [(&'static str, &'static str, &'static str)],
}

const TOOLS: &[ForeignNames] = &[
    ForeignNames {
        host: "shell",
        claude: "Bash",
        gemini: "run_shell_command",
        also: &["Shell", "ShellTool"],
        arguments: &[("background", "run_in_background", "is_background"), ("directory", "directory", "dir_path")],
    },
    ForeignNames {
        host: EDIT,
        claude: "Edit",
        gemini: "replace",
        also: &["MultiEdit", APPLY_PATCH],
        arguments: &[("path", "file_path", "file_path")],
    },
    ForeignNames {
        host: WRITE_FILE,
        claude: "Write",
        gemini: "write_file",
        also: &[APPLY_PATCH],
        arguments: &[("path", "file_path", "file_path")],
    },
    // Codex has it under this name, and answers to the others, whose hooks and rules are about changed files.
    ForeignNames {
        host: APPLY_PATCH,
        claude: APPLY_PATCH,
        gemini: APPLY_PATCH,
        also: &["Edit", "MultiEdit", "Write", "replace", WRITE_FILE, EDIT],
        arguments: &[("patch", "command", "patch")],
    },
    ForeignNames {
        host: "read_file",
        claude: "Read",
        gemini: "read_file",
        also: &["NotebookRead"],
        arguments: &[("path", "file_path", "file_path")],
    },
    ForeignNames {
        host: "read_many_files",
        claude: "Read",
        gemini: "read_many_files",
        also: &["read_file"],
        arguments: &[],
    },
    ForeignNames {
        host: "grep",
        claude: "Grep",
        gemini: "grep_search",
        also: &["search_file_content"],
        arguments: &[
            ("include", "glob", "include"),
            ("ignore_case", "-i", "ignore_case"),
            ("path", "path", "dir_path"),
        ],
    },
    ForeignNames {
        host: "glob",
        claude: "Glob",
        gemini: "glob",
        also: &[],
        arguments: &[("path", "path", "dir_path")],
    },
    ForeignNames {
        host: "ls",
        claude: "LS",
        gemini: "list_directory",
        also: &[],
        arguments: &[("path", "path", "dir_path")],
    },
    ForeignNames { host: "process", claude: "BashOutput", gemini: "process", also: &["KillShell"], arguments: &[] },
    ForeignNames { host: "web_fetch", claude: "WebFetch", gemini: "web_fetch", also: &[], arguments: &[] },
    ForeignNames { host: "web_search", claude: "WebSearch", gemini: "google_web_search", also: &[], arguments: &[] },
    ForeignNames { host: "todo", claude: "TodoWrite", gemini: "write_todos", also: &[], arguments: &[] },
    ForeignNames { host: "memory", claude: "Memory", gemini: "save_memory", also: &[], arguments: &[] },
    ForeignNames { host: "ask_user", claude: "AskUserQuestion", gemini: "ask_user", also: &[], arguments: &[] },
    ForeignNames { host: "present_plan", claude: "ExitPlanMode", gemini: "exit_plan_mode", also: &[], arguments: &[] },
];

impl ForeignNames {
    /// Returns what others call one of our tools; `None` if they have none like it.
    pub fn of(tool: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|known| known.host == tool)
    }

    /// Returns the names that others have for it, one of them perhaps twice.
    pub fn all(&self) -> impl Iterator<Item = &'static str> {
        [self.claude, self.gemini].into_iter().chain(self.also.iter().copied())
    }
}

/// Returns our tools that stand in the place of one of another agent, by its name there; none if we have none like it.
pub fn ours(name: &str) -> Vec<&'static str> {
    TOOLS.iter().filter(|known| known.all().any(|other| other == name)).map(|known| known.host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_names_lead_to_our_tools() {
        for (name, tools) in [
            ("Bash", &["shell"][..]),
            ("run_shell_command", &["shell"]),
            ("Read", &["read_file", "read_many_files"]),
            ("apply_patch", &["edit", "write_file", "apply_patch"]),
            ("Edit", &["edit", "apply_patch"]),
            ("Write", &["write_file", "apply_patch"]),
            ("KillShell", &["process"]),
            ("shell", &[]),
            ("Task", &[]),
            ("", &[]),
        ] {
            assert_eq!(ours(name), tools, "{name}");
        }
    }
}
