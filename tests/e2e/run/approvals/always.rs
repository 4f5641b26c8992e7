//! Answers that hold for later calls: how far they reach, that they are kept, and what ends them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use host_tests::host::guest_file;
use host_tests::server::{Answer, Server};

use super::*;

/// Writes another script for the host's next process.
fn next(host: &Host, calls: &[Value], told: &[&str]) {
    let replies =
        [json!({"chunks": calls}), json!({"expect": {"responses": told}, "chunks": [{"text": "All is done."}]})];
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    std::fs::write(host.home().join("script.jsonl"), lines).expect("written");
}

/// Runs the next process to its end; nothing is asked in it.
#[track_caller]
fn is_not_asked(host: &Host, way: Way) {
    let mut pty = begin(host, way, 80, 30);
    done(&mut pty, way);
    assert!(!pty.everything().contains("wants to"), "{}", pty.everything());
}

// promise approval.lasting
#[test]
fn always_for_a_command_holds_for_those_that_begin_with_it_and_for_no_other() {
    for way in WAYS {
        let calls = [shell("git add -n a"), shell("git add -v a"), shell("git adds"), shell("./git add")];
        let host = calling(&calls, &["fatal", "fatal", DECLINED, BEHIND], &[]);
        let mut pty = begin(&host, way, 80, 30);
        pty.sees("Always in this folder: commands that begin with `git add`");
        answers(&mut pty, "│ git add -n a", "a");
        answers(&mut pty, "│ git adds", "n");
        done(&mut pty, way);
        assert!(!pty.everything().contains("│ git add -v a"), "{}", pty.everything());
        let path = host.home().join(".config/host/policies/answers.toml");
        let about = std::fs::metadata(&path).expect("it is kept");
        assert_eq!(about.mode() & 0o777, 0o600);
        let kept = rules(&host).expect("text");
        for part in ["tool = \"shell\"", "digest = ", "command = \"git add\"", "decision = \"allow\"", "workspace = "] {
            assert!(kept.contains(part), "{part} in {kept}");
        }
        // The next process asks no more; what is more than the prefix is asked about, and so is another line with it.
        next(&host, &[shell("git add -u")], &["fatal"]);
        is_not_asked(&host, way);
        next(&host, &[shell("git add -u; touch made")], &[DECLINED]);
        let mut pty = begin(&host, way, 80, 30);
        answers(&mut pty, "│ git add -u; touch made", "n");
        done(&mut pty, way);
        assert!(!host.repository().join("made").exists());
        // Taken out of the file, it is asked about again.
        std::fs::remove_file(&path).expect("it is there");
        next(&host, &[shell("git add -u")], &[DECLINED]);
        let mut pty = begin(&host, way, 80, 30);
        answers(&mut pty, "│ git add -u", "n");
        done(&mut pty, way);
    }
}

// promise approval.once: A command that deletes or is obscure is asked about each time.
#[test]
fn a_command_that_deletes_or_is_obscure_is_never_offered_for_always() {
    for command in ["rm -f x", "python3 -c 'print(1)'", "$EDITOR x", "git push --force", "env X=1 sh -c 'make'"] {
        let host = calling(&[shell(command)], &[DECLINED], &[]);
        let mut pty = begin(&host, Way::Task, 80, 30);
        pty.sees("shell wants to run").sees(LISTENS);
        assert!(!pty.screen().contains("Always in this folder"), "{command}: {}", pty.screen());
        // A digit that is not offered answers nothing.
        pty.types("9");
        assert!(pty.screen().contains(LISTENS));
        answers(&mut pty, "shell wants to run", "n");
        done(&mut pty, Way::Task);
        assert_eq!(rules(&host), None);
    }
}

// promise approval.lasting
#[test]
fn always_for_a_file_holds_for_that_file_and_always_for_the_tool_for_this_folder() {
    for way in WAYS {
        let outside = tempfile::tempdir().expect("a folder");
        let beyond = outside.path().join("x.txt").display().to_string();
        let reads = format!("write_file:fs-read={}", outside.path().display());
        let calls = [
            write("a.txt", "1"),
            write("a.txt", "2"),
            write("b.txt", "1"),
            write("c.txt", "1"),
            edit("a.txt", "2", "3"),
            write(&beyond, "1"),
        ];
        let host = calling(&calls, &["a.txt", "a.txt", "b.txt", "c.txt", "a.txt", DECLINED], &["--grant", &reads]);
        let mut pty = begin(&host, way, 100, 40);
        pty.sees("Always in this folder: edits of `a.txt`");
        answers(&mut pty, "write_file wants to change a.txt:", "a");
        pty.sees("all edits by `write_file`");
        answers(&mut pty, "write_file wants to change b.txt:", "t");
        answers(&mut pty, "edit wants to change a.txt:", "y");
        answers(&mut pty, "x.txt", "n");
        done(&mut pty, way);
        let asked = pty.everything().matches("wants to change").count();
        assert_eq!(asked, 4, "{}", pty.everything());
        assert_eq!(["a.txt", "b.txt", "c.txt"].map(|path| file(&host, path).expect("written")), ["3", "1", "1"]);
        assert!(!Path::new(&beyond).exists());
        next(&host, &[write("d.txt", "1")], &["d.txt"]);
        is_not_asked(&host, way);
    }
}

/// A call of `web_fetch`. Nothing answers at a name that ends in `.invalid` (RFC 6761).
fn fetch(url: &str) -> Value {
    call("web_fetch", json!({"url": url}))
}

// promise approval.lasting
#[test]
fn approvals_always_for_a_request_holds_for_that_server() {
    let calls = [fetch("https://one.invalid/1"), fetch("https://one.invalid/2"), fetch("https://other.invalid/3")];
    for way in WAYS {
        let host = calling(&calls, &["", "", DECLINED], &[]);
        let mut pty = begin(&host, way, 100, 30);
        pty.sees("Always in this folder: GET requests to `one.invalid:443`, never to private addresses");
        answers(&mut pty, "│ GET https://one.invalid/1", "a");
        answers(&mut pty, "│ GET https://other.invalid/3", "n");
        done(&mut pty, way);
        assert!(!pty.everything().contains("│ GET https://one.invalid/2"), "{}", pty.everything());
        next(&host, &[fetch("https://one.invalid/4")], &[""]);
        is_not_asked(&host, way);
    }
}

// promise approval.lasting
#[tokio::test(flavor = "multi_thread")]
async fn approvals_no_lasting_answer_lets_a_request_reach_this_machine() {
    let here = Server::start(|_| Answer::ok("the credentials").header("content-type", "text/plain")).await;
    let url = here.url("/credentials");
    let asked = format!("│ GET {url}");
    for (way, key) in [(Way::Task, "t"), (Way::Talk, "a"), (Way::Talk, "t")] {
        let host = calling(&[fetch("https://example.invalid/"), fetch(&url)], &["", DECLINED], &[]);
        let mut pty = begin(&host, way, 100, 40);
        answers(&mut pty, "│ GET https://example.invalid/", key);
        // Nothing is offered besides yes and no.
        pty.sees(&asked).sees("requests to private addresses").sees(LISTENS).sees("2 n  No");
        answers(&mut pty, &asked, "n");
        done(&mut pty, way);
        // An answer that an earlier version kept for the same call, plugin and folder.
        let kept = rules(&host).expect("the answer is kept");
        let scope = kept.lines().find(|line| line.starts_with("scope = ")).expect("it has a scope");
        assert!(scope.contains("example.invalid") && scope.contains("-private"), "{kept}");
        let path = host.home().join(".config/host/policies/answers.toml");
        let line = 1 + kept.lines().position(|line| line == "[[rule]]").expect("it is a rule");
        for wide in ["*:* +private", "*:*", "127.0.0.1:*"] {
            let older = kept.replace(scope, &format!("scope = {{ http = \"{wide}\" }}"));
            std::fs::write(&path, older).expect("written");
            next(&host, &[fetch(&url)], &[DECLINED]);
            let mut pty = begin(&host, way, 100, 40);
            pty.sees(&format!("answers.toml:{line}")).sees("Remove that");
            answers(&mut pty, &asked, "n");
            done(&mut pty, way);
            // Where the user cannot be asked it is refused, and the note is there too.
            let ended = host.run_of(&["tool", "call", "web_fetch", &json!({ "url": url }).to_string()]);
            assert_eq!(ended.code, Some(54), "{ended:?}");
            assert!(ended.stderr.contains(&format!("answers.toml:{line}`")), "{ended:?}");
        }
    }
    assert!(here.requests().is_empty());
}

#[test]
fn always_for_memory_holds_for_its_notes() {
    let save = |fact: &str| call("memory", json!({"action": "save", "fact": fact}));
    for (way, key) in [(Way::Task, "t"), (Way::Talk, "p")] {
        let host = calling(&[save("tabs"), save("spaces")], &["Saved", "Saved"], &[]);
        let mut pty = begin(&host, way, 100, 30);
        answers(&mut pty, "│ Remember: tabs", key);
        done(&mut pty, way);
        next(&host, &[save("more"), shell("touch made")], &["Saved", DECLINED]);
        let mut pty = begin(&host, way, 100, 30);
        answers(&mut pty, "│ touch made", "n");
        done(&mut pty, way);
    }
}

/// A component with another section that says nothing: the same tools, another digest.
fn change(component: &Path) {
    let mut bytes = std::fs::read(component).expect("it was built");
    bytes.extend([0, 2, 1, b'x']);
    std::fs::write(component, bytes).expect("written");
}

// promise approval.lasting
#[tokio::test(flavor = "multi_thread")]
async fn always_for_a_tool_or_a_plugin_ends_when_its_component_changes() {
    let search = |path: &str| call("web_search", json!({"path": path}));
    for (way, key) in [(Way::Task, "t"), (Way::Talk, "p"), (Way::Talk, "t"), (Way::Task, "p")] {
        let folder = tempfile::tempdir().expect("a folder");
        let impostor = guest_file("impostor", folder.path()).await;
        let plugin = impostor.to_str().expect("a plain path");
        let calls = [search("a.txt"), search("b.txt")];
        let host = calling(&calls, &["written", "written"], &["--plugin", plugin]);
        let mut pty = begin(&host, way, 100, 40);
        answers(&mut pty, "\"path\": \"a.txt\"", key);
        done(&mut pty, way);
        next(&host, &[search("c.txt")], &["written"]);
        is_not_asked(&host, way);
        assert!(["a.txt", "b.txt", "c.txt"].iter().all(|path| file(&host, path).is_some()));
        change(&impostor);
        next(&host, &[search("d.txt")], &[DECLINED]);
        let mut pty = begin(&host, way, 100, 40);
        answers(&mut pty, "\"path\": \"d.txt\"", "n");
        done(&mut pty, way);
        assert_eq!(file(&host, "d.txt"), None);
    }
}
