//! Attacks by a plugin on the files beside its grant, with a guest that does as it is told.

mod changes;
mod moments;

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use host_tests::Bench;
use serde_json::json;

use super::Failures;

const SECRET: &str = "SECRET-OF-THE-USER";

/// Where a path leads if its wall is not there.
#[derive(Clone, Copy)]
enum Leads {
    /// To the secret beside the workspace.
    Out,
    /// To the secret, once it is decoded to this.
    Decoded(&'static str),
    /// To the denied file in the workspace.
    Denied,
    /// To a file that is there, and holds no secret.
    Elsewhere,
}
use Leads::{Decoded, Denied, Elsewhere, Out};

/// A workspace with links and special files, and a secret beside it. `OUT` in a path is the folder around the
/// workspace, and `NAME` its name.
fn bench(grants: &[&str]) -> Bench {
    let bench = Bench::new("reach", grants);
    let (root, outside) = (bench.root().to_owned(), bench.outside());
    std::fs::write(outside.join("secret"), SECRET).expect("written");
    std::fs::create_dir(outside.join("workspace-twin")).expect("made");
    std::fs::write(outside.join("workspace-twin/secret"), SECRET).expect("written");
    bench.file("a.txt", "inside").file("deep/b.txt", "below").file("key.pem", SECRET).file("certs/x/ca.pem", SECRET);
    bench.file(".env", SECRET).file("packages/api/.env", SECRET);
    for (link, target) in [
        ("link", outside.join("secret")),
        ("relative", "../secret".into()),
        ("folder", outside.clone()),
        ("up", "..".into()),
        ("deep/up", "../..".into()),
        ("chain1", "chain2".into()),
        ("chain2", "chain3".into()),
        ("chain3", "up/secret".into()),
        ("loop1", "loop2".into()),
        ("loop2", "loop1".into()),
        ("itself", "itself".into()),
        ("root", "/".into()),
        ("magic", "/proc/self/root".into()),
        ("work", "/proc/self/cwd".into()),
        ("innocent", "key.pem".into()),
        ("here", ".".into()),
        ("dangling", outside.join("new")),
    ] {
        symlink(target, root.join(link)).expect("linked");
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RUSR).expect("made");
    UnixListener::bind(root.join("socket")).expect("bound");
    std::fs::write(root.join(std::ffi::OsStr::from_bytes(b"not-text-\xff")), SECRET).expect("written");
    bench
}

fn filled(text: &str, bench: &Bench) -> String {
    text.replace("OUT", &bench.outside().display().to_string())
}

const READ: &[&str] = &["fs-read=.,!**/*.pem,!.env,!**/.env", "fs-write=.", "process=*", "http=*", "state=write"];
/// The same without the walls.
const READ_ALL: &[&str] = &["fs-read=*", "fs-write=.", "process=*", "http=*", "state=write"];

/// A path, and where it leads.
const PATHS: &[(&str, Leads)] = &[
    ("../secret", Out),
    ("./../secret", Out),
    ("deep/../../secret", Out),
    ("deep/./../../secret", Out),
    ("a/../../secret", Decoded("deep/../../secret")),
    (".//..//secret", Out),
    ("..///secret", Out),
    ("../workspace/../secret", Out),
    ("../workspace-twin/secret", Out),
    ("OUT/secret", Out),
    ("OUT//secret", Out),
    ("//OUT/secret", Out),
    ("OUT/workspace/../secret", Out),
    ("OUT/workspace-twin/secret", Out),
    ("/proc/self/rootOUT/secret", Out),
    ("/proc/thread-self/rootOUT/secret", Out),
    ("link", Out),
    ("relative", Out),
    ("here/here/link", Out),
    ("folder/secret", Out),
    ("folder/workspace/../secret", Out),
    ("up/secret", Out),
    ("deep/up/secret", Out),
    ("chain1", Out),
    ("rootOUT/secret", Out),
    ("root/OUT/secret", Out),
    ("magicOUT/secret", Out),
    ("%2e%2e/secret", Decoded("../secret")),
    ("%2e%2e%2fsecret", Decoded("../secret")),
    ("..%2fsecret", Decoded("../secret")),
    ("..%252fsecret", Decoded("../secret")),
    ("%252e%252e/secret", Decoded("../secret")),
    ("..%c0%afsecret", Decoded("../secret")),
    ("%c0%ae%c0%ae/secret", Decoded("../secret")),
    ("%uff0e%uff0e/secret", Decoded("../secret")),
    ("..\\secret", Decoded("../secret")),
    ("..\\/secret", Decoded("../secret")),
    ("\\..\\secret", Decoded("../secret")),
    ("..%5csecret", Decoded("../secret")),
    ("deep\\..\\..\\secret", Decoded("../secret")),
    ("..\u{2215}secret", Decoded("../secret")),
    ("..\u{2044}secret", Decoded("../secret")),
    ("..\u{ff0f}secret", Decoded("../secret")),
    ("\u{ff0e}\u{ff0e}/secret", Decoded("../secret")),
    ("\u{2024}\u{2024}/secret", Decoded("../secret")),
    ("\u{2025}/secret", Decoded("../secret")),
    (".\u{200b}./secret", Decoded("../secret")),
    ("\u{202e}../secret", Decoded("../secret")),
    ("../secret\0", Decoded("../secret")),
    ("../secret\0.txt", Decoded("../secret")),
    ("a.txt\0/../../secret", Decoded("../secret")),
    (".. /secret", Decoded("../secret")),
    ("../secret ", Decoded("../secret")),
    ("../secret.", Decoded("../secret")),
    (" ../secret", Decoded("../secret")),
    ("../secret/", Decoded("../secret")),
    ("../secret/.", Decoded("../secret")),
    ("../secret\n", Decoded("../secret")),
    ("....//secret", Decoded("../secret")),
    (".../secret", Decoded("../secret")),
    ("..;/secret", Decoded("../secret")),
    ("file:../secret", Decoded("../secret")),
    ("file://OUT/secret", Decoded("OUT/secret")),
    ("~/../../..OUT/secret", Decoded("OUT/secret")),
    ("$PWD/../secret", Decoded("../secret")),
    ("$(pwd)/../secret", Decoded("../secret")),
    ("{..,.}/secret", Decoded("../secret")),
    ("../secre*", Decoded("../secret")),
    ("C:\\..\\secret", Decoded("../secret")),
    ("C:../secret", Decoded("../secret")),
    ("\\\\?\\OUT\\secret", Decoded("OUT/secret")),
    ("\\\\localhost\\OUT\\secret", Decoded("OUT/secret")),
    ("key.pem", Denied),
    ("./key.pem", Denied),
    ("deep/../key.pem", Denied),
    ("here/key.pem", Denied),
    ("here/here/here/key.pem", Denied),
    ("innocent", Denied),
    ("here/innocent", Denied),
    ("OUT/workspace/key.pem", Denied),
    ("../workspace/key.pem", Denied),
    ("folder/workspace/key.pem", Denied),
    ("certs/x/ca.pem", Denied),
    ("certs//x/./ca.pem", Denied),
    (".env", Denied),
    ("here/.env", Denied),
    ("packages/api/.env", Denied),
    ("packages/../packages/api/.env", Denied),
    ("/proc/self/environ", Elsewhere),
    ("/proc/self/cmdline", Elsewhere),
    ("/proc/self/status", Elsewhere),
    ("work/Cargo.toml", Elsewhere),
    ("/etc/passwd", Elsewhere),
    ("root/etc/passwd", Elsewhere),
    ("magic/etc/passwd", Elsewhere),
    ("../../../../../../../../etc/passwd", Elsewhere),
];

// promise files.roots
// promise files.deny
#[tokio::test]
async fn escape_no_path_reads_what_is_not_granted() {
    let mut failures = Failures::default();
    let (walls, free) = (bench(READ), bench(READ_ALL));
    for (path, leads) in PATHS {
        for tool in ["read", "walk"] {
            let answer = walls.text(tool, json!({"path": filled(path, &walls)})).await;
            let is_refused = answer.starts_with("error: ") || (tool == "walk" && answer.is_empty());
            failures.check(&format!("{tool} {path:?}"), is_refused && !answer.contains(SECRET), &answer);
        }
        let answer = walls.text("stat", json!({"path": filled(path, &walls)})).await;
        failures.check(&format!("stat {path:?}"), answer.starts_with("error: "), &answer);
        // To who is not kept by a wall, it leads there, as it is or decoded.
        let way = match leads {
            Decoded(path) => path,
            Out | Denied | Elsewhere => path,
        };
        let text = std::fs::read_to_string(walls.root().join(filled(way, &walls)));
        let is_there = text.as_ref().is_ok_and(|text| match leads {
            Elsewhere => !text.is_empty(),
            Out | Decoded(_) | Denied => text == SECRET,
        });
        failures.check(&format!("the control of {path:?}"), is_there, &format!("{text:?}"));
    }
    // A grant that covers them reads the files themselves.
    for path in ["OUT/secret", "key.pem", ".env", "/etc/passwd"] {
        let answer = free.text("read", json!({"path": filled(path, &free)})).await;
        failures.check(&format!("the grant for {path}"), !answer.starts_with("error: "), &answer);
    }
    failures.report(PATHS.len() * 3);
}

/// What is not a file, and what its reading would do.
const SPECIAL: &[(&str, &str)] = &[
    ("pipe", "wait for ever"),
    ("socket", "fail"),
    ("/dev/zero", "never end"),
    ("/dev/stdin", "take the input of the host"),
    ("/dev/fd/0", "take the input of the host"),
    ("/proc/self/mem", "read the memory of the host"),
    ("/proc/self/fd/0", "take the input of the host"),
    ("loop1", "go round"),
    ("itself", "go round"),
    ("deep", "read a folder"),
    ("", "read a folder"),
    (".", "read a folder"),
];

// promise files.special
#[tokio::test]
async fn escape_only_files_are_read_even_with_a_grant_for_everything() {
    let mut failures = Failures::default();
    let free = bench(READ_ALL);
    for (path, harm) in SPECIAL {
        let answer = free.text("read", json!({"path": path})).await;
        failures.check(&format!("{path}, which would {harm}"), answer.starts_with("error: "), &answer);
    }
    let long = format!("{}a.txt", "deep/../".repeat(10_000));
    let answer = free.text("read", json!({"path": long})).await;
    failures.check("a path that is too long", answer.starts_with("error: "), &answer);
    let answer = free.text("read", json!({"path": "x".repeat(100_000)})).await;
    failures.check("a name that is too long", answer.starts_with("error: "), &answer);
    // The same guest reads what is a file.
    assert_eq!(free.text("read", json!({"path": "a.txt"})).await, "inside");
    failures.report(SPECIAL.len() + 2);
}
