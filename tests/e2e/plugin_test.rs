//! `host plugin test`: what its cases find, and what they cannot reach.

use host_tests::host::{Ended, Host};
use host_tests::repository;

/// Runs the cases in this text against the built-in plugins of these names.
fn cases(plugins: &[&str], text: &str) -> (Host, Ended) {
    let host = Host::new(["plugin", "test", ".", "--built", "dist"]).file("tests/cases.toml", text);
    std::fs::create_dir_all(host.repository().join("dist")).expect("made");
    for name in plugins {
        for end in ["wasm", "json"] {
            let bytes = std::fs::read(repository().join(format!("plugins/dist/{name}.{end}"))).expect("it is built");
            let path = host.repository().join(format!("dist/{name}.{end}"));
            std::fs::write(path, bytes).expect("written");
        }
    }
    let ended = host.run();
    (host, ended)
}

#[test]
fn the_built_in_plugins_pass_their_cases() {
    let plugins = repository().join("plugins");
    let ended = Host::new(["plugin", "test"]).arg(&plugins).arg("--built").arg(plugins.join("dist")).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("web_fetch (fetch.toml)\n  ok   a page comes as text"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with(" passed, 0 failed\n"), "{}", ended.stdout);
}

/// As on the fake host of `host-sdk`, and as in a user's repository.
#[test]
fn plugin_test_honours_the_ignore_files_of_a_case() {
    let (_, ended) = cases(
        &["glob"],
        r#"
            [[case]]
            name = "what .gitignore, .ignore and .hostignore name is left out"
            arguments = { pattern = "**/*.txt" }
            files = { ".gitignore" = "a.txt\n", ".ignore" = "b.txt\n", ".hostignore" = "c.txt\n", "a.txt" = "", "b.txt" = "", "c.txt" = "", "d.txt" = "" }
            expect = { contains = ["Found 1 file matching", "d.txt"] }
        "#,
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn plugin_test_case_that_differs_from_its_expectation_fails_and_reports_how() {
    let files = "files = { \"a.txt\" = \"one\\n\" }\n";
    let edit = |name: &str, expect: &str| {
        let arguments = "{ path = \"a.txt\", old_string = \"one\", new_string = \"two\" }";
        format!("[[case]]\nname = \"{name}\"\narguments = {arguments}\n{files}expect = {expect}\n")
    };
    for (case, says) in [
        (edit("a", "{}"), "the file `a.txt` was changed:\n       -one\n       +two\n"),
        (
            edit("b", "{ files = { \"a.txt\" = \"three\\n\" } }"),
            "the file `a.txt` is different:\n       -three\n       +two\n",
        ),
        (edit("c", "{ files = { \"a.txt\" = false } }"), "the file `a.txt` is still there"),
        (edit("d", "{ files = { \"a.txt\" = true, \"b.txt\" = \"\" } }"), "the file `b.txt` is not there"),
        (edit("e", "{ failure = \"conflict\" }"), "expected the failure `conflict`, and the call succeeded"),
        (edit("f", "{ denied = \"fs-write\" }"), "expected `fs-write` to be denied, and the call succeeded"),
        (edit("g", "{ text = \"no\", files = { \"a.txt\" = true } }"), "the text is different:\n       -no\n       +"),
        (edit("h", "{ contains = [\"no\"], files = { \"a.txt\" = true } }"), "the text does not have `no` in it"),
        (edit("i", "{ structured = 1, files = { \"a.txt\" = true } }"), "there is no JSON in the result"),
        (
            edit("j", "{ preview = \"exec\", files = { \"a.txt\" = true } }"),
            "expected the preview `exec`, and it is `edit`",
        ),
        (edit("k", "{ requests = [\"GET https://x/\"], files = { \"a.txt\" = true } }"), "-GET https://x/"),
        (
            edit("l", "{ failure = \"failed\" }").replace("\"one\",", "\"none\","),
            "expected the failure `failed`, and the call failed with `conflict`",
        ),
        (edit("m", "{}").replace("\"one\",", "\"none\","), "the call failed with `conflict`: "),
        (edit("n", "{}").replace("a.txt\", old", "a.txt\", odl"), "the call failed with `invalid-arguments`: "),
        (
            edit("o", "{}").replace("files =", "grants = { fs-read = \".\" }\nfiles ="),
            "the call failed with `denied`: ",
        ),
        (edit("p", "{ denied = \"http\" }").replace("files =", "grants = {}\nfiles ="), "expected `http` to be denied"),
        (edit("q", "{}").replace("name =", "tool = \"edti\"\nname ="), "the plugin has no tool `edti`; it has `edit`"),
        (edit("r", "{}").replace("files =", "grants = { fs-reed = \".\" }\nfiles ="), "fs-reed"),
        (
            edit("s", "{}").replace(
                "files =",
                "before = [{ arguments = { path = \"b\", old_string = \"a\", new_string = \"b\" } }]\nfiles =",
            ),
            "a call before it failed: ",
        ),
    ] {
        let (_host, ended) = cases(&["edit"], &case);
        assert_eq!(ended.code, Some(54), "{case}\n{ended:?}");
        assert!(ended.stdout.contains(says) && ended.stdout.contains("0 passed, 1 failed"), "{case}\n{}", ended.stdout);
    }
}

#[test]
fn plugin_test_invalid_case_file_is_reported_with_its_place() {
    let case = "[[case]]\nname = \"x\"\n";
    for (text, says) in [
        ("", "it has no `[[case]]`"),
        ("[[case]]\nnme = \"x\"\n", "unknown field `nme`"),
        (&format!("{case}expect = {{ text = 1 }}\n"), "invalid type"),
        (&format!("{case}expect = {{ failure = \"boom\" }}\n"), "unknown variant `boom`"),
        (&format!("{case}files = {{ \"../a\" = \"\" }}\n"), "`../a` is not a path beneath the workspace"),
        (&format!("{case}files = {{ \"/etc/a\" = \"\" }}\n"), "`/etc/a` is not a path beneath the workspace"),
        (&format!("{case}files = {{ a = {{ base64 = \"?\" }} }}\n"), "`base64`: "),
        (&format!("{case}http = [{{ url = \"https://x/\", status = 9 }}]\n"), "the status 9 is not between"),
        (&format!("{case}expect = {{ failure = \"conflict\", denied = \"http\" }}\n"), "cannot both be expected"),
        (&format!("{case}expect = {{ failure = \"failed\", text = \"x\" }}\n"), "a failure has no `text`"),
        (&format!("{case}expect = {{ message = \"x\" }}\n"), "say which `failure`"),
    ] {
        let (_host, ended) = cases(&["edit"], text);
        assert_eq!(ended.code, Some(42), "{text}\n{ended:?}");
        assert!(ended.stderr.contains("invalid case file `") && ended.stderr.contains(says), "{}", ended.stderr);
    }
    let (_host, ended) = cases(&[], "");
    assert!(ended.code == Some(42) && ended.stderr.contains("there are no cases"), "{ended:?}");
}

#[test]
fn a_case_reaches_no_server_and_no_file_of_the_machine() {
    // A server that is really there: nothing may ask it, whatever a case grants.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it can be asked");
    let port = listener.local_addr().expect("an address").port();
    let case = format!(
        "[[case]]\nname = \"a\"\ntool = \"web_fetch\"\narguments = {{ url = \"http://127.0.0.1:{port}/\" }}\n\
         grants = {{ http = \"127.0.0.1:{port}\" }}\n\
         expect = {{ failure = \"unavailable\", message = \"no answer is prepared for `GET http://127.0.0.1:{port}/`\" }}\n",
    );
    let (_host, ended) = cases(&["web_fetch"], &case);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let asked = listener.accept().expect_err("nobody came");
    assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);

    let case = "[[case]]\nname = \"b\"\narguments = { path = \"/etc\" }\nexpect = { denied = \"fs-read\" }\n";
    let (_host, ended) = cases(&["ls"], case);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn plugin_test_cases_are_reported_as_json_and_selected_by_name() {
    let case = |name: &str, expect: &str| {
        format!("[[case]]\nname = \"{name}\"\nfiles = {{ \"b.txt\" = \"\" }}\narguments = {{}}\nexpect = {expect}\n")
    };
    let text = case("good", "{ contains = \"b.txt\" }") + &case("bad", "{ contains = \"c.txt\" }");
    let (host, ended) = cases(&["ls"], &text);
    assert!(ended.stdout.contains("1 passed, 1 failed"), "{ended:?}");
    let ended = host.args(&["--json"]).run();
    let told = ended.json();
    assert_eq!(
        (ended.code, told[0]["passed"].as_bool(), told[1]["passed"].as_bool()),
        (Some(54), Some(true), Some(false))
    );
    assert!(told[1]["wrong"][0].as_str().is_some_and(|why| why.contains("`c.txt`")), "{told}");

    let (host, _) = cases(&["ls"], &text);
    let ended = host.args(&["--filter", "good"]).run();
    assert!(ended.code == Some(0) && ended.stdout.ends_with("1 passed, 0 failed\n"), "{ended:?}");
    let (host, _) = cases(&["ls"], &text);
    let ended = host.args(&["--filter", "neither"]).run();
    assert!(ended.code == Some(42) && ended.stderr.contains("no case has `neither` in its name"), "{ended:?}");
}
