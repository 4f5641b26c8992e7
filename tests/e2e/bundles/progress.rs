//! The progress of a download on a terminal.

use std::process::Command;

use host_tests::host::{Host, binary};
use host_tests::pty::Pty;
use host_tests::server::Answer;

use super::registry::{bundle, evil};

#[tokio::test(flavor = "multi_thread")]
async fn bundle_progress_leaves_no_row_behind_after_ctrl_c() {
    let bundle = bundle();
    let component = bundle.component_digest().to_string();
    // A few bytes again and again, which never become the component.
    let server = evil(&bundle, move |request, honest| {
        if request.path.ends_with(&component) { Answer::pieces([vec![0; 10]]).dripping() } else { honest }
    })
    .await;
    let place = format!("127.0.0.1:{}/acme/ls:1", server.port());
    for (columns, shown) in [(100, "getting"), (80, "getting"), (60, "getting"), (32, " B")] {
        let host = Host::new(["run"]);
        // The terminal writes `^C` where the cursor is. The shell stays to report how the command ended.
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap : INT; echo begins; \"$1\" plugin pull \"$0\"; echo \"code $?\"", &place]);
        shell.arg(binary()).current_dir(host.repository()).env_clear().env("HOME", host.home());
        let mut pty = Pty::start(shell, columns, 20);
        pty.sees("begins").sees(shown).types("\u{3}").sees("code 130");
        let rows: Vec<String> = pty.screen().lines().map(str::to_owned).filter(|row| !row.is_empty()).collect();
        assert_eq!(rows, ["begins", "error: cancelled", "code 130"], "{columns}: {:?}", pty.written());
        assert_eq!(pty.ends(), Some(0));
    }
}
