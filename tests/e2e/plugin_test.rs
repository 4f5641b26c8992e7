//! `host plugin test`: what its cases find, and what they cannot reach.

use host_tests::host::{Ended, Host};
use host_tests::repository;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};

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
    let edits = [
        edit("a", "{}"),
        edit("b", "{ files = { \"a.txt\" = \"three\\n\" } }"),
        edit("c", "{ files = { \"a.txt\" = false } }"),
        edit("d", "{ files = { \"a.txt\" = true, \"b.txt\" = \"\" } }"),
        edit("e", "{ failure = \"conflict\" }"),
        edit("f", "{ denied = \"fs-write\" }"),
        edit("g", "{ text = \"no\", files = { \"a.txt\" = true } }"),
        edit("h", "{ contains = [\"no\"], files = { \"a.txt\" = true } }"),
        edit("i", "{ structured = 1, files = { \"a.txt\" = true } }"),
        edit("j", "{ preview = \"exec\", files = { \"a.txt\" = true } }"),
        edit("k", "{ requests = [\"GET https://x/\"], files = { \"a.txt\" = true } }"),
        edit("l", "{ failure = \"failed\" }").replace("\"one\",", "\"none\","),
        edit("m", "{}").replace("\"one\",", "\"none\","),
        edit("n", "{}").replace("a.txt\", old", "a.txt\", odl"),
        edit("o", "{}").replace("files =", "grants = { fs-read = \".\" }\nfiles ="),
        edit("p", "{ denied = \"http\" }").replace("files =", "grants = {}\nfiles ="),
        edit("q", "{}").replace("name =", "tool = \"edti\"\nname ="),
        edit("r", "{}").replace("files =", "grants = { fs-reed = \".\" }\nfiles ="),
        edit("s", "{}").replace(
            "files =",
            "before = [{ arguments = { path = \"b\", old_string = \"a\", new_string = \"b\" } }]\nfiles =",
        ),
    ];
    let mut failures = Transcript::default();
    for case in edits {
        let (_host, ended) = cases(&["edit"], &case);
        let heading = case.lines().last().unwrap_or_default();
        failures.add(heading, &ended);
    }
    transcript_snapshot!(failures, @r#"
    # expect = {}
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL a ([DURATION])
           the file `a.txt` was changed:
           -one
           +two

    0 passed, 1 failed

    # expect = { files = { "a.txt" = "three\n" } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL b ([DURATION])
           the file `a.txt` is different:
           -three
           +two

    0 passed, 1 failed

    # expect = { files = { "a.txt" = false } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL c ([DURATION])
           the file `a.txt` is still there

    0 passed, 1 failed

    # expect = { files = { "a.txt" = true, "b.txt" = "" } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL d ([DURATION])
           the file `b.txt` is not there

    0 passed, 1 failed

    # expect = { failure = "conflict" }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL e ([DURATION])
           expected the failure `conflict`, but the call succeeded:
           Edited `a.txt` in 1 place
           the file `a.txt` was changed:
           -one
           +two

    0 passed, 1 failed

    # expect = { denied = "fs-write" }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL f ([DURATION])
           expected `fs-write` to be denied, but the call succeeded:
           Edited `a.txt` in 1 place
           the file `a.txt` was changed:
           -one
           +two

    0 passed, 1 failed

    # expect = { text = "no", files = { "a.txt" = true } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL g ([DURATION])
           the text is different:
           -no
           +Edited `a.txt` in 1 place

    0 passed, 1 failed

    # expect = { contains = ["no"], files = { "a.txt" = true } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL h ([DURATION])
           the text does not contain `no`:
           Edited `a.txt` in 1 place

    0 passed, 1 failed

    # expect = { structured = 1, files = { "a.txt" = true } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL i ([DURATION])
           the result has no structured JSON

    0 passed, 1 failed

    # expect = { preview = "exec", files = { "a.txt" = true } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL j ([DURATION])
           expected the preview `exec`, but it is `edit`

    0 passed, 1 failed

    # expect = { requests = ["GET https://x/"], files = { "a.txt" = true } }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL k ([DURATION])
           the requests are different:
           -GET https://x/
           (one of them ends with a line break, the other does not)

    0 passed, 1 failed

    # expect = { failure = "failed" }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL l ([DURATION])
           expected the failure `failed`, but the call failed with `conflict`: `a.txt` was not changed: \
    `old_string` is not in it, and none of its lines is; read the file again

    0 passed, 1 failed

    # expect = {}
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL m ([DURATION])
           the call failed with `conflict`: `a.txt` was not changed: `old_string` is not in it, and none of \
    its lines is; read the file again

    0 passed, 1 failed

    # expect = {}
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL n ([DURATION])
           the call failed with `invalid-arguments`: "old_string" is a required property
           unknown property "odl_string"; the properties are "new_string", "old_string", "path" and \
    "replace_all"

    0 passed, 1 failed

    # expect = {}
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL o ([DURATION])
           the call failed with `denied`: `edit` has no fs-write grant for `.`

    0 passed, 1 failed

    # expect = { denied = "http" }
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL p ([DURATION])
           expected `http` to be denied, but the call failed with `denied`: `edit` has no fs-read grant for \
    `.`

    0 passed, 1 failed

    # expect = {}
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL q ([DURATION])
           the plugin has no tool `edti`; it has `edit`

    0 passed, 1 failed

    # expect = {}
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL r ([DURATION])
           there is no capability `fs-reed`; the capabilities are `fs-read`, `fs-write`, `process`, `http`, \
    `state`, `mcp` and `tools`

    0 passed, 1 failed

    # expect = {}
    exit: 54
    ----- stdout
    edit (cases.toml)
      FAIL s ([DURATION])
           a call under `before` failed: there is no file `b`; to make it, leave `old_string` empty

    0 passed, 1 failed
    "#);
}

#[test]
fn plugin_test_invalid_case_file_is_reported_with_its_place() {
    let case = "[[case]]\nname = \"x\"\n";
    let mut errors = Transcript::default();
    for text in [
        "",
        "[[case]]\nnme = \"x\"\n",
        &format!("{case}expect = {{ text = 1 }}\n"),
        &format!("{case}expect = {{ failure = \"boom\" }}\n"),
        &format!("{case}files = {{ \"../a\" = \"\" }}\n"),
        &format!("{case}files = {{ \"/etc/a\" = \"\" }}\n"),
        &format!("{case}files = {{ a = {{ base64 = \"?\" }} }}\n"),
        &format!("{case}http = [{{ url = \"https://x/\", status = 9 }}]\n"),
        &format!("{case}expect = {{ failure = \"conflict\", denied = \"http\" }}\n"),
        &format!("{case}expect = {{ failure = \"failed\", text = \"x\" }}\n"),
        &format!("{case}expect = {{ message = \"x\" }}\n"),
    ] {
        let (_host, ended) = cases(&["edit"], text);
        errors.add(text.lines().last().unwrap_or("an empty file"), &ended);
    }
    let (_host, ended) = cases(&[], "");
    errors.add("no plugin", &ended);
    transcript_snapshot!(errors, @r#"
    # an empty file
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: it has no `[[case]]`

    # nme = "x"
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: TOML parse error at line 2, column 1
          |
        2 | nme = "x"
          | ^^^
        unknown field `nme`, expected one of `name`, `tool`, `arguments`, `files`, `before`, `grants`, \
    `config`, `secrets`, `http`, `expect`

    # expect = { text = 1 }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: TOML parse error at line 3, column 19
          |
        3 | expect = { text = 1 }
          |                   ^
        invalid type: integer `1`, expected a string

    # expect = { failure = "boom" }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: TOML parse error at line 3, column 22
          |
        3 | expect = { failure = "boom" }
          |                      ^^^^^^
        unknown variant `boom`, expected one of `invalid-arguments`, `denied`, `not-found`, `conflict`, \
    `unavailable`, `cancelled`, `failed`, `crashed`

    # files = { "../a" = "" }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: the case `x`: `../a` is not a path beneath the workspace

    # files = { "/etc/a" = "" }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: the case `x`: `/etc/a` is not a path beneath the workspace

    # files = { a = { base64 = "?" } }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: the case `x`: `base64`: Invalid symbol 63, offset 0.

    # http = [{ url = "https://x/", status = 9 }]
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: the case `x`: invalid answer to `GET https://x/`: the status 9 is not between 100 and 599

    # expect = { failure = "conflict", denied = "http" }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: the case `x`: `denied` and another `failure` cannot both be expected

    # expect = { failure = "failed", text = "x" }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: the case `x`: a failure has no `text`, `structured` or `summary`; use `message` for its \
    text

    # expect = { message = "x" }
    exit: 42
    ----- stderr
    error: invalid case file `./tests/cases.toml`
      caused by: the case `x`: `message` is the text of a failure; add `failure` or `denied`

    # no plugin
    exit: 42
    ----- stderr
    error: there are no cases: there is no file `*.toml` in
    help: a case is
          [[case]]
          name = "what it shows"
          arguments = { path = "a.txt" }
          files = { "a.txt" = "one\n" }
          expect = { contains = "one" }
    "#);
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
    outcome_snapshot!(ended, @"
    exit: 54
    ----- stdout
    ls (cases.toml)
      ok   good ([DURATION])
      FAIL bad ([DURATION])
           the text does not contain `c.txt`:
           [dir] .git
           b.txt (0 bytes)

    1 passed, 1 failed
    ----- stderr
    ");
    let ended = host.args(&["--json"]).run();
    let told = ended.json();
    assert_eq!(
        (ended.code, told[0]["passed"].as_bool(), told[1]["passed"].as_bool()),
        (Some(54), Some(true), Some(false))
    );
    assert!(told[1]["wrong"][0].as_str().is_some_and(|why| why.contains("`c.txt`")), "{told}");

    let (host, _) = cases(&["ls"], &text);
    host_snapshot!(host.args(&["--filter", "good"]), @"
    exit: 0
    ----- stdout
    ls (cases.toml)
      ok   good ([DURATION])

    1 passed, 0 failed
    ----- stderr
    ");
    let (host, _) = cases(&["ls"], &text);
    host_snapshot!(host.args(&["--filter", "neither"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: no case has `neither` in its name
    ");
}
