//! What is denied cannot be seen, and a tool has no more than it asks for.

use host_sdk::fake::FakeHost;
use host_sdk::fs_read::{self, Walk, WalkOptions};
use host_sdk::serde_json::json;
use host_sdk::{Failure, Outcome, Tool, data, fs_write, http, process, state};
use proptest::prelude::*;

#[data]
struct Named {
    path: String,
}

/// A tool that reads a file and writes it back.
fn rewrite() -> Tool {
    Tool::typed("rewrite", "", |Named { path }: Named| {
        let whole = fs_read::read_whole(&path)?;
        fs_write::write(&path, &whole.data, &fs_write::Expected::Anything)?;
        Ok(Outcome::text("done"))
    })
}

fn is_denied<T>(result: Result<T, Failure>, capability: &str) -> bool {
    matches!(result, Err(Failure::Denied(denial)) if denial.capability == capability && !denial.help.is_empty())
}

/// One use of a capability.
type Use<'u> = &'u dyn Fn() -> Result<(), Failure>;

#[test]
fn each_capability_can_be_taken_away() {
    let host = FakeHost::new().file("a", "").program(["ls"], "").http("GET", "https://a.b/", "").state("k", "v");
    let read = || fs_read::read_whole("a").map(drop).map_err(Failure::from);
    let write = || fs_write::write("a", b"x", &fs_write::Expected::Anything).map(drop).map_err(Failure::from);
    let spawn = || process::spawn(&process::Command::new(["ls"])).map(drop).map_err(Failure::from);
    let fetch = || http::fetch(&http::Request::get("https://a.b/", 1)).map(drop).map_err(Failure::from);
    let get = || state::get("k").map(drop).map_err(Failure::from);
    let all: [(&str, Use<'_>); 5] =
        [("fs-read", &read), ("fs-write", &write), ("process", &spawn), ("http", &fetch), ("state", &get)];
    for (name, used) in all {
        assert_eq!(host.run(used), Ok(()), "{name}");
        let without = FakeHost::new().deny(name);
        assert!(is_denied(without.run(used), name), "{name}");
    }
}

// promise contract.sdk
#[test]
fn a_tool_holds_what_it_asks_for_and_no_more() {
    let host = FakeHost::new().file("a", "1").file("src/b", "2");
    let path = |path: &str| json!({ "path": path });
    assert!(is_denied(host.call(&rewrite(), path("a")), "fs-read"));
    let reads = || rewrite().needs("fs-read", "*", "read");
    assert!(is_denied(host.call(&reads(), path("a")), "fs-write"));
    let narrow = reads().needs("fs-write", "src", "write");
    assert!(is_denied(host.call(&narrow, path("a")), "fs-write"));
    assert_eq!(host.call(&narrow, path("src/b")), Ok(Outcome::text("done")));
    let granted = host.grant("fs-read=src");
    let wide = || reads().needs("fs-write", "*", "write");
    assert!(is_denied(granted.call(&wide(), path("a")), "fs-read"), "its asking grants nothing");
    assert_eq!(granted.call(&wide(), path("src/b")), Ok(Outcome::text("done")));
}

#[test]
fn a_deny_holds_whatever_is_granted_before_or_after() {
    let host = FakeHost::new().file("src/.env", "secret").file("src/a", "1");
    let read = |path: &'static str| move || fs_read::read_whole(path).map_err(Failure::from);
    for host in
        [host.clone().deny("fs-read=.env").grant("fs-read=src"), host.clone().grant("fs-read=src").deny("fs-read=.env")]
    {
        assert!(is_denied(host.run(read("src/.env")), "fs-read"));
        assert!(host.run(read("src/a")).is_ok());
    }
    let none = host.deny("fs-read").grant("fs-read=src");
    assert!(is_denied(none.run(read("src/a")), "fs-read"));
}

#[test]
fn a_preview_reads_and_does_nothing_else() {
    let tool = rewrite().needs("fs-read", "*", "read").needs("fs-write", "*", "write").preview(|named: Named| {
        let whole = fs_read::read_whole(&named.path)?;
        fs_write::write(&named.path, &whole.data, &fs_write::Expected::Anything)?;
        Ok(None)
    });
    let host = FakeHost::new().file("a", "1");
    assert!(is_denied(host.preview(&tool, json!({"path": "a"})), "fs-write"));
}

/// Everything that a tool can find out by reading: names, and contents.
fn seen(paths: &[String]) -> Vec<String> {
    let mut seen = Vec::new();
    for path in paths {
        if let Ok(about) = fs_read::stat(path) {
            seen.push(format!("{path} {}", about.size));
        }
        if let Ok(whole) = fs_read::read_whole(path) {
            seen.push(String::from_utf8_lossy(&whole.data).into_owned());
        }
        if let Ok(part) = fs_read::read(path, 0, 100) {
            seen.push(String::from_utf8_lossy(&part.data).into_owned());
        }
        if let Some((folder, _)) = path.rsplit_once('/')
            && let Ok(entries) = fs_read::list(folder)
        {
            seen.extend(entries.into_iter().map(|entry| format!("{folder}/{}", entry.name)));
        }
    }
    for contents in [false, true] {
        let all = WalkOptions { contents, hidden: true, respect_ignore: false, ..WalkOptions::default() };
        if let Ok(walk) = Walk::open(&all) {
            while let Ok(Some(batch)) = walk.next_batch() {
                seen.extend((0..batch.len()).map(|index| batch.name(index).into_owned()));
                seen.push(String::from_utf8_lossy(batch.contents()).into_owned());
            }
        }
    }
    seen
}

/// Paths of one to three names; `no` is what will be denied.
fn paths() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof!["[a-c]", Just("no".to_owned())];
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    prop::collection::vec(path, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // promise contract.sdk: The SDK's fake host denies what the host denies, and `#[tool]` reports mistakes where they
    //   are.
    #[test]
    fn fake_host_denied_files_are_neither_named_nor_read(paths in paths()) {
        // A leaf of its own, so that no file is where another one's folder is.
        let leaf = |path: &str| if path.ends_with('a') { "f.no" } else { "f" };
        let files: Vec<String> = paths.iter().map(|path| format!("{path}/{}", leaf(path))).collect();
        let host = files.iter().fold(FakeHost::new(), |host, path| host.file(path, format!("content of {path}")));
        let is_denied = |name: &str| name == "no" || name.ends_with(".no");
        let denied = |path: &str| path.split('/').any(is_denied);
        let host = host.deny("fs-read=no").deny("fs-read=*.no");
        let seen = host.run(|| seen(&files));
        for path in &files {
            let told = seen.iter().any(|told| told.contains(&format!("content of {path}")));
            prop_assert_eq!(told, !denied(path), "{}: {:?}", path, seen);
        }
        prop_assert!(!seen.iter().any(|told| told.split([' ', '/']).any(is_denied)), "{:?}", seen);
    }

    #[test]
    fn fake_host_paths_outside_of_the_grant_are_denied_whatever_is_there(name in "[a-z]{1,8}", up in 1_usize..4) {
        let path = format!("{}{name}", "../".repeat(up));
        let host = FakeHost::new().file("/workspace/../outside", "secret").file("src/a", "1").grant("fs-read=src");
        for path in [path.as_str(), "/outside", "a", "src/../b"] {
            let read = host.run(|| fs_read::read_whole(path));
            let refused = matches!(read, Err(fs_read::Error::Denied(_) | fs_read::Error::Invalid(_)));
            prop_assert!(refused, "{}: {:?}", path, read);
        }
    }
}
