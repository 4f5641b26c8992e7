//! Every command of a session is in every frontend that holds a conversation, unless the client has its own place for
//! it.

use host_app::session::command::{COMMANDS, SessionCommand};
use host_tests::host::Host;
use host_tests::pty::Pty;
use serde_json::json;

use crate::acp::editor::Editor;

/// Where a command is offered besides a terminal, which has all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Editors {
    Have,
    /// They show it in their own way.
    HaveTheirOwn,
}

fn editors(command: &SessionCommand) -> Editors {
    match command {
        // A new session is the client's to begin.
        SessionCommand::Clear => Editors::HaveTheirOwn,
        SessionCommand::Model(_)
        | SessionCommand::Effort(_)
        | SessionCommand::Verbosity(_)
        | SessionCommand::Tools
        | SessionCommand::Reload
        | SessionCommand::Agents
        | SessionCommand::Servers
        | SessionCommand::Hooks
        | SessionCommand::Mode(_)
        | SessionCommand::Permissions(_)
        | SessionCommand::AddFolder(_)
        | SessionCommand::Steps
        | SessionCommand::Processes(_)
        | SessionCommand::Memory(_)
        | SessionCommand::Init
        | SessionCommand::Review(_)
        | SessionCommand::Compress(_)
        | SessionCommand::Context
        | SessionCommand::Stats
        | SessionCommand::Cost
        | SessionCommand::Settings
        | SessionCommand::Export(_)
        | SessionCommand::Rename(_)
        | SessionCommand::Undo(_)
        | SessionCommand::UndoPrompt
        | SessionCommand::Rewind(_)
        // Their names are a server's, a skill's or a file's.
        | SessionCommand::ServerPrompt(_)
        | SessionCommand::Custom(_) => Editors::Have,
    }
}

// promise acp.offered: What a user can ask of a session with a command can be asked in a terminal and in an
//   editor.
#[test]
fn frontends_offer_every_command_of_a_session() {
    let host = Host::new(["acp"]);
    let mut editor = Editor::connected(&host, &["--model", "offline"], json!({}));
    editor.session();
    let listed = editor.sees(|update| update["sessionUpdate"] == "available_commands_update");
    let listed: Vec<&str> =
        listed["availableCommands"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    let mut command = host.command_of(&["run", "--model", "offline"]);
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 40);
    pty.sees(" › ").types("/help\r").saw("Alt-Enter").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let help = pty.everything();
    for known in COMMANDS {
        for name in known.names() {
            let in_editor = listed.contains(&name.trim_start_matches('/'));
            assert_eq!(in_editor, editors(&known.command()) == Editors::Have, "{name} in an editor: {listed:?}");
            assert!(help.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name} in {help}");
        }
    }
}
