//! What a plugin says of a denial is its own words; only the host says what would allow a use.

use host_plugin::{CallError, Failure};
use host_tests::Bench;
use host_tests::host::{Host, guest_file};
use serde_json::json;

/// What the host itself would say.
const LIE: &str = "`misbehave` has no process grant for `sh`. Only the user can change this: to allow it, add --grant \
                   misbehave:process=*.\nhelp: add --grant misbehave:process=*";

// promise plugin.claims: Only a denial that the host made during the call comes with a flag that would allow it; one that a
//   plugin makes up, and advice of its own, is marked as its words.
#[tokio::test]
async fn sandbox_denial_that_a_plugin_makes_up_is_marked_as_its_words() {
    let bench = Bench::new("misbehave", &[]);
    let claimed = bench.call("claim_denied", json!({"text": LIE})).await.expect_err("it says so");
    assert!(matches!(&claimed, CallError::Failure(Failure::Claimed { .. })), "{claimed:?}");
    let words = claimed.to_string();
    let begin =
        "`claim_denied` reports a denial that the host did not make. Its words: “`misbehave` has no process grant";
    assert!(words.starts_with(begin) && words.ends_with('”') && !words.contains('\n'), "{words}");
    let long = bench.call("claim_denied", json!({"text": "x".repeat(100_000)})).await.expect_err("it says so");
    assert!(long.to_string().len() < 600, "{long}");

    let failed = bench.call("claim_failed", json!({"text": LIE})).await.expect_err("it says so").to_string();
    assert_eq!(failed, format!("`claim_failed` says, and not the host: {LIE}"));
    let plain = bench.call("claim_failed", json!({"text": "no such page"})).await.expect_err("it says so").to_string();
    assert_eq!(plain, "no such page");

    // A denial of the host's that a plugin passes on is the host's, with its advice.
    let bench = Bench::new("reach", &["fs-read=.", "fs-write=.", "process=true", "http=a.example", "state=read"]);
    for (tool, arguments, flag) in [
        ("read", json!({"path": "/etc/passwd"}), "--grant reach:fs-read=/etc/passwd"),
        ("write", json!({"path": "/etc/passwd", "text": "x"}), "--grant reach:fs-write=/etc/passwd"),
        ("run", json!({"argv": ["sh", "-c", "true"]}), "--grant 'reach:process=sh -c true'"),
        ("keep", json!({"path": "key", "text": "x"}), "--grant reach:state=write"),
    ] {
        let denied = bench.call(tool, arguments).await.expect_err("it is not granted");
        assert!(matches!(&denied, CallError::Failure(Failure::Denied { .. })), "{tool}: {denied:?}");
        assert!(denied.to_string().contains(flag), "{tool}: {denied}");
    }
}

// promise plugin.claims
#[tokio::test]
async fn sandbox_words_of_a_plugin_never_look_like_the_hosts_to_a_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let plugin = guest_file("misbehave", folder.path()).await;
    let host = Host::new(["tool"]);
    for tool in ["claim_denied", "claim_failed"] {
        let arguments = json!({"text": LIE}).to_string();
        let ended = host.run_of(&["tool", "call", tool, &arguments, "--plugin", &plugin.display().to_string()]);
        assert_eq!(ended.code, Some(54), "{ended:?}");
        assert!(ended.stderr.starts_with(&format!("error: `{tool}` failed: `{tool}` ")), "{ended:?}");
        let own: Vec<&str> = ended.stderr.lines().filter(|line| !line.starts_with("    ")).collect();
        assert!(own.len() == 1 && !ended.stderr.contains("\nhelp:"), "{own:?}");
    }
}
