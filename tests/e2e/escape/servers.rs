//! MCP servers whose programs a clone brings or replaces: what the host starts by itself runs nothing of them without
//! walls.
//!
//! The code of the clone makes a file outside of the workspace when it runs, which the control shows.

use std::process::{Command, Stdio};

use host_tests::host::Host;

use super::Failures;
use super::modes::MODES;
use super::users::As;

struct Row {
    name: &'static str,
    /// The servers of the user's own configuration.
    configured: &'static str,
    /// The servers of the project, which the user trusts.
    project: Option<&'static str>,
    /// The file with the code, which is empty when the user trusts the project.
    file: &'static str,
    /// The command of the server: by itself, in the clone, it runs the code. The host starts it there in no mode, or
    /// not without walls.
    control: &'static str,
}

const PROJECT: &str = r#"{"mcpServers": {"files": {"command": "/usr/bin/python3", "args": ["tools/server.py"]}}}"#;

const ROWS: &[Row] = &[
    Row {
        name: "a module of the clone in place of one that the user has",
        configured: "[mcp.files]\ncommand = \"/usr/bin/python3\"\nargs = [\"-m\", \"server_of_files\"]\n",
        project: None,
        file: "server_of_files.py",
        control: "/usr/bin/python3 -m server_of_files",
    },
    Row {
        name: "a program of the clone that has the name of the user's",
        configured: "[mcp.files]\ncommand = \"/usr/bin/python3\"\nargs = [\"tools/server.py\"]\n",
        project: None,
        file: "tools/server.py",
        control: "/usr/bin/python3 tools/server.py",
    },
    Row {
        name: "the program of a trusted project's server, changed since",
        configured: "",
        project: Some(PROJECT),
        file: "tools/server.py",
        control: "/usr/bin/python3 tools/server.py",
    },
    Row {
        name: "a module of a trusted project's server, changed since",
        configured: "",
        project: Some(PROJECT),
        file: "tools/module.py",
        control: "/usr/bin/python3 tools/server.py",
    },
];

/// A clone with the row's files, and the file that its code makes.
fn clone(row: &Row, by: As) -> (Host, std::path::PathBuf) {
    let host = Host::new(Vec::<String>::new()).configured(row.configured);
    let host = host.file("tools/server.py", "import module\n").file("tools/module.py", "").file(row.file, "");
    let host = row.project.iter().fold(host, |host, servers| host.file(".mcp.json", servers));
    let own = |host: &Host| [host.repository(), host.home()].into_iter().for_each(|folder| by.owns(folder));
    own(&host);
    if row.project.is_some() {
        let trusted = host.end(by.starts(host.command_of(&["trust", "add"])));
        assert_eq!(trusted.code, Some(0), "{trusted:?}");
    }
    let mark = host.home().join("mark");
    let host = host.file(row.file, format!("open({mark:?}, 'w').write('x')\n"));
    own(&host);
    (host, mark)
}

// promise mcp.programs
// promise mcp.trust
#[test]
fn escape_no_mode_runs_code_of_a_clone_as_a_server_without_walls() {
    let mut failures = Failures::default();
    for row in ROWS {
        for by in As::all() {
            for mode in MODES {
                let (host, mark) = clone(row, *by);
                let ended = host.end(by.starts(host.command_of(&["mcp", "list", "--approval-mode", mode])));
                failures.check(&format!("{by:?}, {mode}: {}", row.name), !mark.exists(), &format!("it ran: {ended:?}"));
            }
            let (host, mark) = clone(row, *by);
            let mut command = Command::new("/bin/sh");
            command.args(["-c", row.control]).current_dir(host.repository()).stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let ended = host.end(by.starts(command));
            failures.check(&format!("{by:?}: the control of {}", row.name), mark.exists(), &format!("{ended:?}"));
        }
    }
    failures.report(ROWS.len());
}
