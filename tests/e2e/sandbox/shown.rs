//! What a preview named is all that its call does, however much is granted.

use std::sync::Arc;

use host_plugin::{Confirmation, FileChange};
use host_tests::Bench;
use host_tests::server::{Answer, Server};
use serde_json::{Value, json};

const EVERYTHING: &[&str] = &["fs-read=.", "fs-write=.", "process=*", "http=* *:* +private", "state=write"];

/// Calls a tool of the guest that does as it is told, after a preview that said this.
async fn after(bench: &Bench, shown: &Confirmation, tool: &str, arguments: Value) -> Result<(), String> {
    let mut invocation = bench.invocation(tool, arguments);
    invocation.shown = Some(Arc::new(shown.clone()));
    bench.invoke(invocation).await.map(drop).map_err(|error| error.to_string())
}

fn exec(argv: &[&str], directory: &str) -> Confirmation {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    Confirmation::Exec { argv, directory: directory.to_owned(), input: None, ground: host_plugin::Ground::Call }
}

// promise preview.command: A call that showed a command runs that command in that folder, with the input shown and no
//   other variables, and changes nothing itself.
#[tokio::test]
async fn a_call_that_showed_one_command_runs_no_other() {
    let bench = Bench::new("reach", EVERYTHING);
    bench.file("sub/x", "");
    let shown = exec(&["touch", "shown"], ".");
    for arguments in [
        json!({"argv": ["touch", "hidden"]}),
        json!({"argv": ["touch", "shown", "hidden"]}),
        json!({"argv": ["sh", "-c", "touch shown; touch hidden"]}),
        json!({"argv": ["touch", "shown"], "path": "sub"}),
        json!({"argv": ["touch", "shown"], "environment": [["LD_PRELOAD", "/tmp/evil.so"]]}),
    ] {
        let refused = after(&bench, &shown, "run", arguments.clone()).await.expect_err("it was not shown");
        assert!(refused.contains("preview"), "{arguments}: {refused}");
    }
    for (tool, arguments) in [
        ("write", json!({"path": "hidden", "text": "x"})),
        ("rename", json!({"path": "sub/x", "text": "hidden"})),
        ("remove", json!({"path": "sub/x"})),
        ("make_directory", json!({"path": "hidden"})),
    ] {
        let refused = after(&bench, &shown, tool, arguments).await.expect_err("it was not shown");
        assert!(refused.contains("preview"), "{tool}: {refused}");
    }
    assert!(!bench.root().join("hidden").exists() && !bench.root().join("shown").exists());
    assert!(!bench.root().join("sub/shown").exists() && bench.root().join("sub/x").exists());
    after(&bench, &shown, "run", json!({"argv": ["touch", "shown"]})).await.expect("it was shown");
    assert!(bench.root().join("shown").exists());
}

// promise preview.difference: A call that showed a diff gives that file that content and changes nothing else.
#[tokio::test]
async fn a_call_that_showed_a_difference_writes_that_and_nothing_else() {
    let bench = Bench::new("reach", EVERYTHING);
    bench.file("f", "old").file("g", "old");
    let unified = "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n".to_owned();
    let shown = Confirmation::Edit { path: "f".to_owned(), unified, proposed: "new".to_owned() };
    for (tool, arguments) in [
        ("write", json!({"path": "f", "text": "another"})),
        ("write", json!({"path": "g", "text": "new"})),
        ("write", json!({"path": "f/../made/f", "text": "new"})),
        ("remove", json!({"path": "f"})),
        ("rename", json!({"path": "f", "text": "g2"})),
        ("rename", json!({"path": "g", "text": "f2"})),
        ("run", json!({"argv": ["touch", "f"]})),
    ] {
        let refused = after(&bench, &shown, tool, arguments.clone()).await.expect_err("it was not shown");
        assert!(refused.contains("preview"), "{tool} {arguments}: {refused}");
    }
    assert_eq!((bench.content("f"), bench.content("g")), ("old".to_owned(), "old".to_owned()));
    assert!(!bench.root().join("made").exists());
    // Somebody wrote to it while the question was open: nobody saw that it would be lost.
    bench.file("f", "written meanwhile");
    let refused = after(&bench, &shown, "write", json!({"path": "f", "text": "new"})).await.expect_err("it changed");
    assert!(refused.contains("the file changed"), "{refused}");
    assert_eq!(bench.content("f"), "written meanwhile");
    bench.file("f", "old");
    after(&bench, &shown, "write", json!({"path": "f", "text": "new"})).await.expect("it was shown");
    assert_eq!(bench.content("f"), "new");
}

// promise preview.difference
#[tokio::test]
async fn a_call_that_showed_several_files_makes_these_changes_and_no_others() {
    let bench = Bench::new("reach", EVERYTHING);
    bench.file("f", "old\n").file("g", "gone\n").file("h", "stays\n");
    let change = |path: &str, unified: &str, proposed: Option<&str>| FileChange {
        path: path.to_owned(),
        unified: unified.to_owned(),
        proposed: proposed.map(str::to_owned),
    };
    let shown = Confirmation::Edits {
        changes: vec![
            change("f", "@@ -1 +1 @@\n-old\n+new\n", Some("new\n")),
            change("g", "@@ -1 +0,0 @@\n-gone\n", None),
        ],
    };
    for (tool, arguments) in [
        ("write", json!({"path": "f", "text": "another\n"})),
        ("write", json!({"path": "g", "text": "new\n"})),
        ("write", json!({"path": "h", "text": "new\n"})),
        ("remove", json!({"path": "f"})),
        ("remove", json!({"path": "h"})),
        ("rename", json!({"path": "g", "text": "g2"})),
        ("run", json!({"argv": ["rm", "g"]})),
    ] {
        let refused = after(&bench, &shown, tool, arguments.clone()).await.expect_err("it was not shown");
        assert!(refused.contains("preview"), "{tool} {arguments}: {refused}");
    }
    // What somebody wrote to it while the question was open was not shown as lost.
    bench.file("g", "gone\nand mine\n");
    let refused = after(&bench, &shown, "remove", json!({"path": "g"})).await.expect_err("it changed");
    assert!(refused.contains("the file changed"), "{refused}");
    assert_eq!(["f", "g", "h"].map(|name| bench.content(name)), ["old\n", "gone\nand mine\n", "stays\n"]);
    bench.file("g", "gone\n");
    after(&bench, &shown, "write", json!({"path": "f", "text": "new\n"})).await.expect("it was shown");
    after(&bench, &shown, "remove", json!({"path": "g"})).await.expect("it was shown");
    assert!(bench.content("f") == "new\n" && !bench.root().join("g").exists());
}

// promise preview.difference
#[tokio::test]
async fn content_that_was_not_shown_makes_no_folder_either() {
    let bench = Bench::new("reach", EVERYTHING);
    let shown = Confirmation::Edit { path: "a/b".to_owned(), unified: String::new(), proposed: "new".to_owned() };
    after(&bench, &shown, "write", json!({"path": "a/b", "text": "other"})).await.expect_err("it was not shown");
    after(&bench, &shown, "make_directory", json!({"path": "a/b"})).await.expect_err("it was not shown");
    assert!(!bench.root().join("a").exists());
}

// promise preview.request: A call that showed requests sends those; redirects stay within the grants.
#[tokio::test]
async fn a_call_that_showed_a_request_sends_that_one_and_is_redirected_within_its_grants() {
    let server = Server::start(|request| match request.path.as_str() {
        "/shown" => Answer::redirect(302, "/on"),
        _ => Answer::ok("hello"),
    })
    .await;
    let bench = Bench::new("reach", EVERYTHING);
    let shown = Confirmation::Info {
        text: String::new(),
        requests: vec![("GET".to_owned(), server.url("/shown"))],
        writes: Vec::new(),
    };
    for path in ["/on", "/", "/shown?secret=1"] {
        let refused = after(&bench, &shown, "fetch", json!({"path": server.url(path)})).await;
        let refused = refused.expect_err("it was not shown");
        assert!(refused.contains("preview"), "{path}: {refused}");
    }
    assert!(server.requests().is_empty());
    after(&bench, &shown, "fetch", json!({"path": server.url("/shown")})).await.expect("it was shown");
    assert_eq!(server.requests().len(), 2);
}
