//! The program as it is installed: what the doctor says of that, a newer release in its place, and its manual pages.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::Compression;
use flate2::write::GzEncoder;
use host_tests::host::{Host, binary};
use minisign::KeyPair;

const ARCHIVE: &str = "host-x86_64-unknown-linux-musl.tar.gz";

/// The binary under another path, as a user has it who unpacked an archive.
fn unpacked(folder: &Path) -> PathBuf {
    let program = folder.join("host");
    if fs::hard_link(binary(), &program).is_err() {
        fs::copy(binary(), &program).expect("copied");
    }
    program
}

/// Starts a program with an environment that has only a home.
fn started(program: &Path, arguments: &[&str], home: &Path) -> Output {
    Command::new(program).args(arguments).env_clear().env("HOME", home).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes an archive whose program prints a word, and its signature with this comment.
fn release(folder: &Path, key: &KeyPair, statement: &str) -> PathBuf {
    let program = b"#!/bin/sh\necho newer\n";
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut header = tar::Header::new_ustar();
    header.set_size(program.len() as u64);
    header.set_mode(0o755);
    tar.append_data(&mut header, "host-x86_64-unknown-linux-musl/host", program.as_slice()).expect("packed");
    let packed = tar.into_inner().expect("packed").finish().expect("packed");
    let signed = minisign::sign(Some(&key.pk), &key.sk, Cursor::new(&packed), Some(statement), Some("by a test"));
    let archive = folder.join(ARCHIVE);
    fs::write(&archive, packed).expect("written");
    fs::write(folder.join(format!("{ARCHIVE}.minisig")), signed.expect("signed").into_string()).expect("written");
    archive
}

// promise update.signed: `host update` puts a release in the place of the program only if its signature holds for that
//   file and for a newer version, and fetches nothing.
#[test]
fn update_replaces_a_program_of_its_own_with_a_newer_signed_release() {
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let program = unpacked(at);
    let (ours, theirs) = [(); 2].map(|()| KeyPair::generate_unencrypted_keypair().expect("a key")).into();
    let update = |archive: &Path, key: &KeyPair| {
        let key = key.pk.to_base64();
        started(&program, &["update", &archive.display().to_string(), "--public-key", &key], at)
    };
    let before = fs::metadata(&program).expect("it is there").len();
    for (key, statement, wanted) in [
        (&theirs, format!("host 99.0.0 {ARCHIVE}"), "was made with the key"),
        (&ours, format!("host 0.0.1 {ARCHIVE}"), "is version 0.0.1, and this program is"),
        (&ours, "host 99.0.0 other.tar.gz".to_owned(), "which is not a release named"),
    ] {
        let ended = update(&release(at, key, &statement), &ours);
        let said = text(&ended.stderr);
        assert!(ended.status.code() == Some(42) && said.contains(wanted), "{said}");
        assert_eq!(fs::metadata(&program).expect("it is there").len(), before, "{said}");
    }
    let archive = release(at, &ours, &format!("host 99.0.0 {ARCHIVE}"));
    let ended = started(&program, &["update", &archive.display().to_string()], at);
    assert!(text(&ended.stderr).contains("--public-key RW"), "{ended:?}");
    let ended = update(&archive, &ours);
    assert!(ended.status.success() && text(&ended.stdout).contains("is now 99.0.0; it was"), "{ended:?}");
    assert_eq!(text(&started(&program, &[], at).stdout), "newer\n");
    // What stays of it all: the program, the release and its signature.
    assert_eq!(fs::read_dir(at).expect("a folder").count(), 3);
}

#[test]
fn doctor_says_how_the_program_was_installed_and_what_updates_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).expect("made");
    let program = unpacked(&bin);
    let home = Host::new(["doctor"]);
    let said = || {
        let printed = text(&started(&program, &["doctor"], home.home()).stdout);
        printed.lines().find(|line| line.contains("installation")).map(str::to_owned).expect("a line")
    };
    assert_eq!(said(), "good  installation    a file of its own; to update it: `host update NEWER.tar.gz`");
    fs::write(folder.path().join(".crates2.json"), "{}").expect("written");
    assert!(said().contains("installed by cargo; to update it: `cargo install"), "{}", said());
    let refused = started(&program, &["update", "host.tar.gz"], home.home());
    assert!(text(&refused.stderr).contains("is kept up to date by what installed it"), "{refused:?}");
}

#[test]
fn manual_has_a_page_for_each_command() {
    let host = Host::new(["manual"]);
    let page = host.run_of(&["manual"]).stdout;
    assert!(page.starts_with(".ie") || page.contains(".TH host 1"), "{page}");
    let folder = host.home().join("man");
    let ended = host.run_of(&["manual", "--out", &folder.display().to_string()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let names = |name: &str| folder.join(name).is_file();
    assert!(["host.1", "host-run.1", "host-mcp-serve.1", "host-session-show.1"].into_iter().all(names));
    let run = fs::read_to_string(folder.join("host-run.1")).expect("a page");
    assert!(run.contains("approval\\-mode"), "{run}");
}
