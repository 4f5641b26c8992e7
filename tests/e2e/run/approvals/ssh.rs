//! The question about git over ssh: what it says, how far its answers reach, and how they are taken back.

use super::*;
use crate::escape::ssh::{git, remote, started, with_ssh};

/// Writes another script for the host's next process.
fn next(host: &Host, call: &Value, told: &str) {
    let replies =
        [json!({"chunks": [call]}), json!({"expect": {"responses": [told]}, "chunks": [{"text": "All is done."}]})];
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    std::fs::write(host.home().join("script.jsonl"), lines).expect("written");
}

fn asks(host: &Host, call: &Value, told: &str, head: &str, keys: &str) {
    next(host, call, told);
    let mut pty = begin(host, Way::Task, 110, 40);
    if !head.is_empty() {
        let is_asked = |screen: &str| screen.contains(head) && screen.contains("│ git@git.invalid") && listens(screen);
        pty.until(head, is_asked).types(keys);
    }
    done(&mut pty, Way::Task);
    assert_eq!(pty.everything().contains("over ssh and with your keys"), !head.is_empty(), "{}", pty.everything());
}

// promise confine.ssh
#[test]
fn ssh_question_names_the_server_and_the_direction_and_a_fetch_sends_nothing() {
    let host = with_ssh(Host::scripted(&[], &["--approval-mode", "auto", "--confine", "require"]));
    let remote = remote(&host);
    let (fetching, sending) = ("git wants, over ssh and with your keys, to fetch from", "to send to");
    let fetch = shell(&format!("git fetch -q git@git.invalid:{remote} old:fetched && echo fetched"));
    let push =
        |name: &str| shell(&format!("git push -q git@git.invalid:{remote} HEAD:refs/heads/{name} && echo pushed"));
    let refused = "may not fetch from `git@git.invalid` over ssh";
    asks(&host, &fetch, refused, fetching, "n");
    assert_eq!(started(host.home()), "", "nothing is started before the answer, nor after a no");
    asks(&host, &fetch, "fetched", fetching, "a");
    assert!(rules(&host).expect("it is kept").contains("net = \"ssh://git@git.invalid\""), "{:?}", rules(&host));
    asks(&host, &fetch, "fetched", "", "");
    asks(&host, &push("one"), "may not send to", sending, "n");
    assert!(!git(&host, &["ls-remote", &remote]).contains("refs/heads/one"));
    asks(&host, &push("two"), "pushed", sending, "y");
    asks(&host, &push("three"), "pushed", sending, "a");
    asks(&host, &push("four"), "pushed", "", "");
    let sent = git(&host, &["ls-remote", &remote]);
    assert!(["two", "three", "four"].iter().all(|name| sent.contains(&format!("refs/heads/{name}"))), "{sent}");
    let list = host.run_of(&["policy", "list"]).stdout;
    let rows: Vec<&str> = list.lines().filter(|row| row.contains("ssh://")).collect();
    assert!(rows.iter().any(|row| row.contains("`git` reaches ssh://git@git.invalid +push")), "{list}");
    let forgotten = host.run_of(&["policy", "forget", "ssh://git@git.invalid"]);
    let forgotten = format!("{forgotten:?}{:?}", host.run_of(&["policy", "forget", "ssh://git@git.invalid +push"]));
    assert!(!rules(&host).unwrap_or_default().contains("ssh://git@git.invalid +push"), "{forgotten}");
    asks(&host, &push("five"), "may not send to", sending, "n");
}
