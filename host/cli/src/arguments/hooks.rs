//! `host hooks`: what can be said.

use clap::Subcommand;

use super::Place;

/// Help on writing a hook.
pub(crate) const HOOKS_HELP: &str = "A hook is a program in your config.toml that gets JSON about an event on standard input:

  [[hooks.PreToolUse]]
  matcher = \"shell\"                   # or Bash, Edit|Write, mcp__github__.*
  command = \"python3 ~/.config/host/hooks/check.py\"

Exit code 2 denies, with standard error as the reason for the model; 0 with JSON such as {\"decision\": \"deny\", \"reason\": \
\"…\"} does too. Hooks in the format of Claude Code go to hooks.json beside config.toml, and those of a trusted project to \
.host/hooks.json; its .claude/settings.json, .gemini/settings.json and .codex/hooks.json are read as well. docs/hooks.md has \
the rest.";

#[derive(Debug, Subcommand)]
pub(crate) enum Hooks {
    /// List the hooks of this folder, and where each comes from
    List {
        #[command(flatten)]
        place: Place,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
