//! Yes and no, for each kind of question.

use host_tests::host::guest_file;
use host_tests::server::{Answer, Server};

use super::*;

// promise approval.exact
#[test]
fn a_yes_to_a_command_runs_exactly_that_and_a_no_runs_nothing() {
    for way in WAYS {
        let calls = [shell("echo one > one.txt"), shell("echo two > two.txt"), shell("echo three > three.txt")];
        let host = calling(&calls, &["It succeeded", DECLINED, BEHIND], &[]);
        let mut pty = begin(&host, way, 80, 30);
        answers(&mut pty, "│ echo one > one.txt", "y");
        answers(&mut pty, "│ echo two > two.txt", "n");
        done(&mut pty, way);
        let all = pty.everything();
        assert!(!all.contains("│ echo three"), "what is behind a no is not asked about: {all}");
        let files = ["one.txt", "two.txt", "three.txt"].map(|path| file(&host, path));
        assert_eq!(files, [Some("one\n".to_owned()), None, None], "{way:?}");
        assert_eq!(rules(&host), None, "an answer for once is not kept");
    }
}

// promise approval.exact
#[test]
fn a_yes_to_an_edit_changes_that_file_and_no_other() {
    for way in WAYS {
        let calls = [edit("a.txt", "two", "2"), write("b.txt", "new b\n"), write("c.txt", "new c\n"), shell("touch d")];
        let host = calling(&calls, &["a.txt", "b.txt", DECLINED, BEHIND], &[]).file("a.txt", "one\ntwo\n");
        let host = host.file("b.txt", "old b\n").file("c.txt", "old c\n");
        let mut pty = begin(&host, way, 80, 30);
        pty.sees("edit wants to change a.txt:").sees(" - two").sees(" + 2");
        assert_eq!(file(&host, "a.txt").as_deref(), Some("one\ntwo\n"), "nothing is written before the answer");
        answers(&mut pty, "edit wants to change a.txt:", "1");
        answers(&mut pty, "write_file wants to change b.txt:", "\r");
        answers(&mut pty, "write_file wants to change c.txt:", "\u{1b}");
        done(&mut pty, way);
        let all = pty.everything();
        assert!(all.contains(" - old b") && all.contains(" + new b") && all.contains("› rejected"), "{all}");
        let files = ["a.txt", "b.txt", "c.txt"].map(|path| file(&host, path).expect("it is there"));
        assert_eq!(files, ["one\n2\n", "new b\n", "old c\n"]);
        assert!(!host.repository().join("d").exists());
    }
}

#[test]
fn session_has_the_difference_of_an_edit_that_was_declined() {
    for way in WAYS {
        let calls = [write("made.txt", "kept\n"), edit("a.txt", "two", "2"), write("behind.txt", "x")];
        let host = calling(&calls, &["made.txt", DECLINED, BEHIND], &[]).file("a.txt", "one\ntwo\n");
        let mut pty = begin(&host, way, 80, 30);
        answers(&mut pty, "write_file wants to change made.txt:", "y");
        answers(&mut pty, "edit wants to change a.txt:", "n");
        done(&mut pty, way);
        let again = pty.everything().matches(" - two").count();
        assert_eq!(again, 1, "the question showed it: {}", pty.everything());
        let settled: Vec<Value> = host.session().into_iter().filter(|entry| entry["type"] == "call_settled").collect();
        let difference = |at: usize| &settled[at]["display"]["difference"];
        assert_eq!(
            (&settled[1]["decided"], &difference(1)["path"]),
            (&json!("declined"), &json!("a.txt")),
            "{settled:?}"
        );
        let unified = difference(1)["unified"].as_str().expect("text");
        assert!(unified.contains("\n-two\n+2"), "{unified}");
        assert!(difference(0).is_object() && difference(2).is_null(), "{settled:?}");
        // What was recorded is shown and exported, as a change that was not made.
        let ended = host.run_of(&["session", "show"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let shown = ended.stdout;
        let (made, declined) = shown.split_once("■ edit ").expect("it is a call");
        assert!(made.contains("  +kept") && !made.contains("Operation Cancelled"), "{shown}");
        let response = declined.find("  [Operation Cancelled] Reason: the user rejected this call");
        let removed = declined.find("  -two");
        assert!(response.is_some() && response < removed, "{shown}");
        let exported = host.run_of(&["session", "export"]).stdout;
        assert!(exported.contains("`a.txt` (proposed, not applied)\n\n```diff\n"), "{exported}");
        assert!(exported.contains("`made.txt`\n\n```diff\n"), "{exported}");
    }
}

// promise approval.exact
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_a_request_sends_that_and_a_no_sends_nothing() {
    for way in WAYS {
        let server = Server::start(|_| Answer::ok("the page").header("content-type", "text/plain")).await;
        let fetch = |path: &str| call("web_fetch", json!({"url": server.url(path)}));
        let host = calling(&[fetch("/yes"), fetch("/no")], &["the page", DECLINED], &[]);
        let mut pty = begin(&host, way, 80, 30);
        let asked = format!("│ GET {}", server.url("/yes"));
        pty.sees(&asked);
        assert!(server.requests().is_empty(), "nothing is sent before the answer");
        answers(&mut pty, &asked, "y");
        answers(&mut pty, &format!("│ GET {}", server.url("/no")), "n");
        done(&mut pty, way);
        let paths: Vec<_> = server.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths, ["/yes"]);
    }
}

#[test]
fn a_yes_to_a_fact_keeps_it_and_results_that_are_there_stay() {
    let save = |fact: &str| call("memory", json!({"action": "save", "fact": fact}));
    for way in WAYS {
        let calls = [call("read_file", json!({"path": "a.txt"})), save("tabs"), save("spaces")];
        let host = calling(&calls, &["the content", "Saved as `fact-1`", DECLINED], &[]).file("a.txt", "the content");
        let mut pty = begin(&host, way, 80, 30);
        answers(&mut pty, "│ Remember: tabs", "y");
        answers(&mut pty, "│ Remember: spaces", "n");
        done(&mut pty, way);
        let kept = host.run_of(&["tool", "call", "memory", "{\"action\": \"list\"}"]).stdout;
        assert_eq!(kept, "fact-1: tabs\n");
    }
}

// promise approval.exact
#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_which_nothing_is_known_shows_its_arguments_and_all_that_it_could_touch() {
    let folder = tempfile::tempdir().expect("a folder");
    let impostor = guest_file("impostor", folder.path()).await;
    let plugin = impostor.to_str().expect("a plain path");
    let search = |path: &str| call("web_search", json!({"path": path}));
    for way in WAYS {
        let calls = [search("yes.txt"), search("no.txt")];
        let host = calling(&calls, &["written", DECLINED], &["--plugin", plugin]);
        let mut pty = begin(&host, way, 80, 40);
        pty.sees("web_search wants to run with these arguments:").sees("\"path\": \"yes.txt\"").sees("fs-write");
        pty.sees("plugin impostor");
        answers(&mut pty, "\"path\": \"yes.txt\"", "y");
        answers(&mut pty, "\"path\": \"no.txt\"", "n");
        done(&mut pty, way);
        assert!(file(&host, "yes.txt").is_some() && file(&host, "no.txt").is_none());
    }
}

#[test]
fn approvals_call_that_only_reads_is_not_asked_about() {
    let calls = [call("ls", json!({})), call("memory", json!({"action": "list"}))];
    for way in WAYS {
        let host = calling(&calls, &["a.txt", "No facts"], &[]).file("a.txt", "");
        let mut pty = begin(&host, way, 80, 24);
        done(&mut pty, way);
        assert!(!pty.everything().contains("wants to"), "{}", pty.everything());
    }
}
