//! Folders that vanish while the host runs: its cache, its state, its configuration, the home.

use host_tests::host::Host;
use serde_json::json;

use super::{answer, call};

#[test]
fn crashes_folders_that_vanish_during_a_run_end_it_with_no_panic() {
    for gone in ["~/.cache", "~/.config", "~/.local/share", "~/.local/state", "~/.cache ~/.config ~/.local"] {
        let replies = [
            call("shell", json!({"command": format!("rm -rf {gone}")})),
            call("ls", json!({})),
            call("memory", json!({"action": "save", "fact": "it rains"})),
            call("write_file", json!({"path": "new.txt", "content": "new"})),
            answer("All is done."),
        ];
        let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Begin"]).file("a.txt", "");
        let host = host.configured("").home_file(".local/share/host/kept", "");
        // The cache of this home is filled first, with what it takes from the tests' own.
        let cache = host.home().join(".cache");
        std::fs::create_dir_all(&cache).expect("made");
        let ended = host.env("XDG_CACHE_HOME", cache);
        let (host, ended) = (&ended, ended.run());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "All is done.\n"), "{gone}: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{gone}: {ended:?}");
        assert_eq!(std::fs::read_to_string(host.repository().join("new.txt")).expect("written"), "new", "{gone}");
        // The next start finds what it needs, or makes it.
        let next = host.run_of(&["tool", "call", "ls", "{}"]);
        assert!(next.code == Some(0) && next.stdout.contains("a.txt"), "{gone}: {next:?}");
        assert_eq!(host.run_of(&["session", "list"]).code, Some(0), "{gone}");
    }
}
