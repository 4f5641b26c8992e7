//! Plugins of others: installed from a file, a folder, a registry, an address; used, updated, revoked.

use std::path::Path;

use host_bundle::{Bundle, LockFile, Parts};
use host_manifest::Manifest;
use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use host_tests::registry::{DockerRegistry, LOGIN};
use host_tests::server::{Answer, Server};
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
use serde_json::json;

use crate::publisher::{Publisher, READS, done, file, run_of, trust};

fn install(host: &Host, arguments: &[&str]) -> Ended {
    host.run_of(&[&["plugin", "install"], arguments].concat())
}

/// The same beside a server of this process.
async fn install_of(host: &Host, arguments: &[&str]) -> Ended {
    run_of(host, &[&["plugin", "install"], arguments].concat()).await
}

fn lock(host: &Host) -> LockFile {
    let text = std::fs::read_to_string(host.repository().join(".host/plugins.lock")).expect("it is there");
    LockFile::parse(&text).expect("it is one")
}

// promise install.version
// promise install.changed
#[tokio::test]
async fn from_a_registry_to_a_call_and_on_to_an_update_and_a_revocation() {
    let (server, acme) = (DockerRegistry::start(false), Publisher::new("acme"));
    let place = server.name("acme/counts");
    let publishing = Host::new(["plugin"]);
    for (version, asks) in [("1.0.0", READS), ("1.1.0", READS)] {
        let bundle = file(&publishing, "counts.tar", &acme.signed(version, asks).await);
        let ended = publishing.run_of(&["plugin", "push", &bundle, &place]);
        assert!(ended.code == Some(0) && ended.stdout.contains("with 1 signature"), "{ended:?}");
    }

    // Another person, on another machine.
    let host = Host::new(["run"]).file("a.txt", "1\n2\n");
    let outside = host.home().join("b.txt");
    std::fs::write(&outside, "1\n2\n3\n").expect("written");
    let count = |path: &Path| host.run_of(&["tool", "call", "count_lines", &json!({ "path": path }).to_string()]);
    let first = format!("{place}:1.0.0");
    outcome_snapshot!(install(&host, &[&first, "--yes"]), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: the key [KEY] is not in your list of keys; get the publisher's key file from a source that \
    you trust, then run `host keys trust FILE --for acme/counts`
    help: add --allow-unsigned to install it anyway
    ");
    trust(&host, &acme);
    outcome_snapshot!(install(&host, &[&first]), @r"
    exit: 42
    ----- stdout
    acme/counts 1.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.
    ----- stderr
    error: `acme/counts` asks for `fs-read`, and there is no terminal to ask on
    help: add --yes to install it and be asked at each call, or --grant CAPABILITY to allow that without \
    asking
    ");
    let grant = format!("fs-read={}", host.home().display());
    outcome_snapshot!(install(&host, &[&first, "--grant", &grant]), @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Installed `acme/counts` 1.0.0; granted: fs-read=[HOME].
    ----- stderr
    ");
    let locked = lock(&host).plugins["acme/counts"].clone();
    assert!(locked.source.starts_with(&format!("{first}@sha256:")), "{locked:?}");

    // It is used, with what was agreed to and nothing else.
    assert!(count(Path::new("a.txt")).stdout.contains("2 lines") && count(&outside).stdout.contains("3 lines"));
    outcome_snapshot!(count(Path::new("/etc/passwd")), @r"
    exit: 54
    ----- stdout
    ----- stderr
    error: `acme/counts` may not read `/etc/passwd`: it is outside of `[REPOSITORY],[HOME]`. Only the user \
    can change this: to allow it, add --grant acme/counts:fs-read=/etc/passwd, or --add-dir /etc.
    ");

    // An update is asked for by name, and what was agreed to stays.
    outcome_snapshot!(install(&host, &[&format!("{place}:1.1.0")]), @r"
    exit: 0
    ----- stdout
    acme/counts 1.1.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Since 1.0.0: no change that is visible to callers or users

    Installed `acme/counts` 1.1.0; granted: fs-read=[HOME].
    ----- stderr
    ");
    outcome_snapshot!(install(&host, &[&first]), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is installed as 1.1.0, and 1.0.0 is older
    help: add --allow-downgrade to install it anyway
    ");
    assert_eq!(install(&host, &[&first, "--allow-downgrade"]).code, Some(0));

    // Revoked, it is not used, and what it was is said.
    host_snapshot!(host, ["keys", "revoke", &acme.id(), "--reason", "the laptop was stolen"], @"
    exit: 0
    ----- stdout
    Revoked permanently: the key [KEY].
    It was trusted for `acme/*`.
    ----- stderr
    ");
    outcome_snapshot!(count(Path::new("a.txt")), @r"
    exit: 42
    ----- stdout
    ----- stderr
    note: the plugin `acme/counts` is not used: the key [KEY] is revoked: the laptop was stolen; ask the \
    publisher for a bundle that another key signed; remove it with `host plugin remove acme/counts`
    error: there is no tool `count_lines`; call tools by their exact names
    ");
    outcome_snapshot!(install(&host, &[&format!("{place}:1.1.0"), "--yes"]), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: the key [KEY] is revoked: the laptop was stolen; ask the publisher for a bundle that \
    another key signed
    ");
    host_snapshot!(host, ["plugin", "list"], @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.0  signed by [KEY]  (project)
      127.0.0.1:[PORT]/acme/counts:1.0.0@sha256:[DIGEST]
      sha256:[DIGEST]
      not used: the key [KEY] is revoked: the laptop was stolen; ask the publisher for a bundle that \
    another key signed
    ----- stderr
    ");
    assert_eq!(host.run_of(&["plugin", "remove", "acme/counts"]).code, Some(0));
    assert!(host.run_of(&["tool", "list"]).stderr.is_empty());
}

#[tokio::test]
async fn the_login_is_dockers() {
    let (server, acme) = (DockerRegistry::start(true), Publisher::new("acme"));
    let place = server.name("acme/counts");
    let host = Host::new(["plugin"]);
    let bundle = file(&host, "counts.tar", &acme.signed("1.0.0", READS).await);
    let push = ["plugin", "push", &bundle, &place];
    host_snapshot!(host, push, @r"
    exit: 41
    ----- stdout
    ----- stderr
    error: `127.0.0.1:[PORT]` denies access without a login; log in with `docker login 127.0.0.1:[PORT]`, \
    then try again
    ");
    let login = |password: &str| {
        let both =
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{}:{password}", LOGIN.0));
        let registry = place.split('/').next().unwrap_or_default();
        json!({"auths": {registry: {"auth": both}}}).to_string()
    };
    let host = host.home_file(".docker/config.json", login("wrong"));
    host_snapshot!(host, push, @r"
    exit: 41
    ----- stdout
    ----- stderr
    error: `127.0.0.1:[PORT]` denies access with this login; log in with `docker login 127.0.0.1:[PORT]`, \
    then try again
    ");
    let host = host.home_file(".docker/config.json", login(LOGIN.1));
    assert_eq!(host.run_of(&push).code, Some(0));
    let ended = host.run_of(&["plugin", "pull", &format!("{place}:1.0.0"), "--out", "again.tar"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let same = |name: &str| std::fs::read(host.repository().join(name)).expect("it is there");
    assert!(same("again.tar") == same("counts.tar"), "what comes back is what was put there");
    host_snapshot!(host, ["plugin", "pull", &format!("{place}:1.0.0"), "--out", "again.tar"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `again.tar` already exists
    help: name another file with --out, or add --force to replace the file and all signatures in it
    ");
}

#[tokio::test]
async fn a_model_calls_it_in_a_run() {
    let acme = Publisher::new("acme");
    let replies = [
        json!({"chunks": [{"call": {"name": "count_lines", "arguments": {"path": "a.txt"}}}]}),
        json!({"expect": {"responses": ["2 lines"]}, "chunks": [{"text": "It has two lines."}]}),
    ];
    let host = Host::scripted(&replies, &["Count a.txt"]).file("a.txt", "1\n2\n");
    trust(&host, &acme);
    let bundle = file(&host, "counts.tar", &acme.signed("1.0.0", READS).await);
    assert_eq!(install(&host, &[&bundle, "--user", "--yes"]).code, Some(0));
    let ended = host.run();
    assert!(ended.code == Some(0) && ended.stdout.contains("It has two lines."), "{ended:?}");
}

// promise install.publisher: A bundle that is not known to come from its publisher is not installed;
//   `--allow-unsigned` applies to that bundle, which stays marked.
// promise install.version: The same version with other bytes, an older version and other signers are reported and
//   denied.
#[tokio::test]
async fn install_denies_what_is_not_known_to_come_from_its_publisher() {
    let (acme, evil) = (Publisher::new("acme"), Publisher::new("evil"));
    let host = Host::new(["run"]);
    trust(&host, &acme);
    trust(&host, &evil);
    let unsigned = acme.bundle("1.0.0", READS).await;
    outcome_snapshot!(install(&host, &[&file(&host, "a.tar", &unsigned), "--yes"]), @"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: it is not signed
    help: ask its publisher for a signed one, or add --allow-unsigned to install this one
    ");

    // A key that is trusted for one publisher signs nothing of another's.
    let mut others = unsigned.clone();
    evil.sign(&mut others);
    outcome_snapshot!(install(&host, &[&file(&host, "b.tar", &others), "--yes"]), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: the key [KEY] is trusted for `evil/*`, not for `acme/counts`; if it may sign that too, run \
    `host keys trust FILE --for acme/counts` with the publisher's key file
    ");
    outcome_snapshot!(install(&host, &[&file(&host, "b.tar", &others), "--yes", "--allow-unsigned"]), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: the key [KEY] is trusted for `evil/*`, not for `acme/counts`; if it may sign that too, run \
    `host keys trust FILE --for acme/counts` with the publisher's key file
    ");

    // A signature of another bundle, and a byte that was changed.
    let other = acme.signed("2.0.0", READS).await;
    let mut moved = unsigned.clone();
    moved.add_signature(other.signatures()[0].clone()).expect("added");
    outcome_snapshot!(install(&host, &[&file(&host, "c.tar", &moved), "--yes"]), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: the signature of the key [KEY] says that it is of `acme/counts@2.0.0 sha256:[DIGEST]`, but \
    this bundle is `acme/counts@1.0.0 sha256:[DIGEST]`; get the bundle again
    ");
    let mut bytes = acme.signed("1.0.0", READS).await.to_archive();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(host.repository().join("d.tar"), bytes).expect("written");
    outcome_snapshot!(install(&host, &["d.tar", "--yes"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: cannot read the bundle `d.tar`
      caused by: the blob `sha256:[DIGEST]` was changed: its bytes have the digest `sha256:[DIGEST]`
    help: get it again from its publisher; `host plugin pack` makes one
    ");

    // A digest that was named.
    let digest = other.digest().to_string();
    let good = file(&host, "e.tar", &acme.signed("1.0.0", READS).await);
    outcome_snapshot!(install(&host, &[&good, "--yes", "--digest", &digest]), @"
    exit: 55
    ----- stdout
    ----- stderr
    error: `[REPOSITORY]/e.tar` is a different bundle
      caused by: its digest is sha256:[DIGEST], not sha256:[DIGEST]
    help: ask the publisher which digest is right
    ");
    assert!(!host.repository().join(".host").exists(), "nothing of it was kept");

    // Unsigned is taken with the one flag, and is shown as that from then on.
    outcome_snapshot!(install(&host, &[&file(&host, "a.tar", &unsigned), "--yes", "--allow-unsigned"]), @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    UNSIGNED: no key that you trust signed it.

    Installed `acme/counts` 1.0.0; you are asked before each call that does more than read the workspace.
    ----- stderr
    ");
    host_snapshot!(host, ["plugin", "list"], @"
    exit: 0
    ----- stdout
    acme/counts 1.0.0  UNSIGNED  (project)
      [REPOSITORY]/a.tar
      sha256:[DIGEST]
    ----- stderr
    ");
    // The same version with other bytes is an alarm that no flag silences.
    let again = acme.bundle("1.0.0", &[("fs-read", ".")]).await;
    let flags = ["--yes", "--allow-unsigned", "--allow-downgrade", "--allow-other-signers"];
    outcome_snapshot!(install(&host, &[&[file(&host, "f.tar", &again).as_str()], &flags[..]].concat()), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` 1.0.0 changed: its digest was `sha256:[DIGEST]` and is `sha256:[DIGEST]`. A \
    published version must never change; ask its publisher before you use it
    ");
}

// promise install.changed: An installed bundle that was changed or revoked is not used.
#[tokio::test]
async fn a_bundle_that_was_changed_on_the_shelf_is_an_alarm() {
    let acme = Publisher::new("acme");
    let host = Host::new(["run"]).file("notes.txt", "one\ntwo\n");
    trust(&host, &acme);
    let bundle = acme.signed("1.0.0", READS).await;
    assert_eq!(install(&host, &[&file(&host, "a.tar", &bundle), "--yes"]).code, Some(0));
    let kept = host.home().join(".local/share/host/plugins").join(format!("{}.tar", bundle.digest().digits()));
    let whole = std::fs::read(&kept).expect("it is there");
    let flip = |part: &[u8]| {
        let at = whole.windows(part.len()).position(|bytes| bytes == part).expect("it is in there");
        let mut changed = whole.clone();
        changed[at + part.len() / 2] ^= 1;
        std::fs::write(&kept, changed).expect("written");
    };
    flip(bundle.signed_bytes());
    host_snapshot!(host, ["tool", "list"], @"
    exit: 52
    ----- stdout
    ----- stderr
    error: the plugin `[HOME]/.local/share/host/plugins/[DIGEST].tar` was changed since it was installed
      caused by: the blob `sha256:[DIGEST]` was changed: its bytes have the digest `sha256:[DIGEST]`
    help: remove the file and install the plugin again, unless you know who changed it
    ");
    // The component is not read before it is compiled; what was compiled before is still that of the right one.
    flip(bundle.component());
    host_snapshot!(host, ["plugin", "list"], @"
    exit: 52
    ----- stdout
    ----- stderr
    error: the plugin `[HOME]/.local/share/host/plugins/[DIGEST].tar` was changed since it was installed
      caused by: the blob `sha256:[DIGEST]` was changed: its bytes have the digest `sha256:[DIGEST]`
    help: remove the file and install the plugin again, unless you know who changed it
    ");
    let call = ["tool", "call", "count_lines", r#"{"path":"notes.txt"}"#];
    assert_eq!(host.run_of(&call).code, Some(0));
    let mut without_cache = host.command_of(&call);
    without_cache.env("XDG_CACHE_HOME", host.home().join("cache"));
    outcome_snapshot!(host.end(without_cache), @r"
    exit: 54
    ----- stdout
    ----- stderr
    error: the component in `[HOME]/.local/share/host/plugins/[DIGEST].tar` was changed since it was \
    installed: its digest is [DIGEST], not [DIGEST]; remove the file and install the plugin again, unless \
    you know who changed it
    ");
    // Nor is a whole other bundle taken that was put in its place.
    std::fs::write(&kept, acme.signed("1.0.1", READS).await.to_archive()).expect("written");
    host_snapshot!(host, ["tool", "list"], @"
    exit: 52
    ----- stdout
    ----- stderr
    error: the plugin `[HOME]/.local/share/host/plugins/[DIGEST].tar` was changed since it was installed
      caused by: its digest is now sha256:[DIGEST]
    help: remove the file and install the plugin again, unless you know who changed it
    ");
    std::fs::write(&kept, whole).expect("written");
    assert_eq!(host.run_of(&["tool", "list"]).code, Some(0));
    // What was agreed to counts only as long as nobody else could have written it.
    let agreed = host.home().join(".local/share/host/plugins/agreed.json");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(&agreed, mode).expect("set");
    host_snapshot!(host, ["tool", "list"], @r"
    exit: 52
    ----- stdout
    ----- stderr
    error: `[HOME]/.local/share/host/plugins/agreed.json` cannot be used: other users can write to it (its \
    mode is 666)
    help: if its contents are right: chmod 600 '[HOME]/.local/share/host/plugins/agreed.json'
    ");
}

// promise install.agreed: A plugin acts without a question only within what the user agreed to for its digest; a
//   project's list grants nothing and an update asks about additions.
#[tokio::test]
async fn a_projects_list_grants_nothing_and_is_installed_to_the_byte() {
    let acme = Publisher::new("acme");
    let author = Host::new(["run"]);
    trust(&author, &acme);
    let bundle = acme.signed("1.0.0", READS).await;
    let place = file(&author, "a.tar", &bundle);
    assert_eq!(install(&author, &[&place, "--grant", "fs-read"]).code, Some(0));
    // The project is used as it was: installing is the user's own word about its list.
    assert!(author.run_of(&["tool", "list"]).stderr.is_empty());
    let count = ["tool", "call", "count_lines", "{\"path\": \"/etc/passwd\"}"];
    assert_eq!(author.run_of(&count).code, Some(0));

    // Somebody who gets the project has its list, and neither the plugin nor the grant.
    let list = std::fs::read_to_string(author.repository().join(".host/plugins.lock")).expect("it is there");
    let host = Host::new(["run"]).file(".host/plugins.lock", &list);
    assert!(host.run_of(&["tool", "list"]).stderr.contains("is not trusted"));
    host_snapshot!(host, ["trust"], @r"
    exit: 0
    ----- stdout
    `[REPOSITORY]/.host` is not trusted and is ignored.

      `plugins.lock`: plugins by other publishers, to install with `host plugin install`: acme/counts 1.0.0 \
    ([SIZE] bytes)

    `host trust add` trusts it as it is now.
    ----- stderr
    ");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    assert!(host.run_of(&["tool", "list"]).stderr.contains("`acme/counts` is not installed here"));
    outcome_snapshot!(install(&host, &["--yes"]), @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: the key [KEY] is not in your list of keys; get the publisher's key file from a source that \
    you trust, then run `host keys trust FILE --for acme/counts`
    help: add --allow-unsigned to install it anyway
    ");
    trust(&host, &acme);
    assert_eq!(install(&host, &["--yes"]).code, Some(0));
    host_snapshot!(host, count, @r"
    exit: 54
    ----- stdout
    ----- stderr
    error: `acme/counts` may not read `/etc/passwd`: it is outside of `[REPOSITORY]`. Only the user can \
    change this: to allow it, add --grant acme/counts:fs-read=/etc/passwd, or --add-dir /etc.
    ");

    // What is there now is not what the list says.
    std::fs::write(&place, acme.signed("1.0.1", READS).await.to_archive()).expect("written");
    let late = Host::new(["run"]).file(".host/plugins.lock", &list);
    trust(&late, &acme);
    assert_eq!(late.run_of(&["trust", "add"]).code, Some(0));
    outcome_snapshot!(install(&late, &["--yes"]), @"
    exit: 55
    ----- stdout
    ----- stderr
    error: `[TEMP]/a.tar` is a different bundle
      caused by: its digest is sha256:[DIGEST], not sha256:[DIGEST]
    help: ask the publisher which digest is right
    ");
}

// promise project.lock: The list of plugins of a project that is not trusted is not read: it is neither shown nor
//   installed from nor written to.
#[tokio::test]
async fn install_list_of_an_untrusted_project_is_not_read() {
    let acme = Publisher::new("acme");
    let mut transcript = Transcript::default();
    for list in ["version = 1\n\n[[plugin]]\nname = \"evil/x\"\n", "\u{0}not a list \u{e0041}"] {
        let host = Host::new(["run"]).file(".host/plugins.lock", list);
        trust(&host, &acme);
        let bundle = file(&host, "a.tar", &acme.signed("1.0.0", READS).await);
        let mine = install(&host, &[&bundle, "--user", "--yes"]);
        assert_eq!(mine.code, Some(0), "the user's own list is another one: {mine:?}");
        let listed = host.run_of(&["plugin", "list"]);
        assert!(!format!("{listed:?}").contains("evil"), "{listed:?}");
        transcript.add("plugin list", &listed);
        for arguments in [&["install", "--yes"][..], &["install", &bundle, "--yes"], &["remove", "evil/x"]] {
            let arguments = [&["plugin"], arguments].concat();
            transcript.add(arguments.join(" "), &host.run_of(&arguments));
        }
        assert_eq!(std::fs::read_to_string(host.repository().join(".host/plugins.lock")).expect("there"), list);
    }
    transcript_snapshot!(transcript, @r"
    # plugin list
    exit: 0
    ----- stdout
    acme/counts 1.0.0  signed by [KEY]  (user)
      [REPOSITORY]/a.tar
      sha256:[DIGEST]
    ----- stderr
    note: the project's list of plugins is not read: `[REPOSITORY]/.host` is not trusted; `host trust` \
    shows it, `host trust add` trusts it

    # plugin install --yes
    exit: 55
    ----- stderr
    error: the project's list of plugins is not read
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # plugin install [REPOSITORY]/a.tar --yes
    exit: 55
    ----- stderr
    error: the project's list of plugins is not read
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # plugin remove evil/x
    exit: 55
    ----- stderr
    error: the project's list of plugins is not read
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # plugin list
    exit: 0
    ----- stdout
    acme/counts 1.0.0  signed by [KEY]  (user)
      [REPOSITORY]/a.tar
      sha256:[DIGEST]
    ----- stderr
    note: the project's list of plugins is not read: `[REPOSITORY]/.host` is not trusted; `host trust` \
    shows it, `host trust add` trusts it

    # plugin install --yes
    exit: 55
    ----- stderr
    error: the project's list of plugins is not read
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # plugin install [REPOSITORY]/a.tar --yes
    exit: 55
    ----- stderr
    error: the project's list of plugins is not read
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # plugin remove evil/x
    exit: 55
    ----- stderr
    error: the project's list of plugins is not read
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now
    ");
    // It is read as soon as it is trusted, and not any more when somebody changed it.
    let host = Host::new(["run"]).file(".host/plugins.lock", "version = 1\n");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    assert!(host.run_of(&["plugin", "list"]).stderr.is_empty());
    let host = host.file(".host/plugins.lock", "version = 7\n");
    let listed = host.run_of(&["plugin", "list"]);
    assert!(listed.code == Some(0) && listed.stderr.contains("has changed since you trusted it"), "{listed:?}");
}

// promise install.lookalikes: The question before an installation names each name that looks like one of another
//   plugin, and is asked unless the user said `--yes`.
#[tokio::test]
async fn install_names_that_look_like_others_are_in_the_question() {
    let (acme, evil) = (Publisher::new("acme"), Publisher::new("acne"));
    let host = Host::new(["run"]);
    trust(&host, &acme);
    let ended = install(&host, &[&file(&host, "a.tar", &acme.signed("1.0.0", READS).await), "--user", "--yes"]);
    assert!(ended.code == Some(0) && !ended.stdout.contains("Easily confused"), "{ended:?}");
    // An update of itself is no other plugin.
    let ended = install(&host, &[&file(&host, "a.tar", &acme.signed("1.0.1", READS).await), "--user", "--yes"]);
    assert!(ended.code == Some(0) && !ended.stdout.contains("Easily confused"), "{ended:?}");

    let plugin = host_tests::guest("misbehave");
    let tools = host_tests::runtime().describe(plugin).await.expect("it describes itself");
    let honest = evil.bundle("1.0.0", READS).await;
    let tools = tools.into_iter().map(host_manifest::ToolEntry::from).collect();
    let manifest = Manifest { name: "acme/c0unts".to_owned(), tools, ..honest.manifest().clone() };
    let component = plugin.component().expect("it is read").into_owned();
    let bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
    let archive = file(&host, "b.tar", &bundle);
    outcome_snapshot!(install(&host, &[&archive, "--user", "--allow-unsigned"]), @r"
    exit: 42
    ----- stdout
    acme/c0unts 1.0.0 (MIT)
      echo␠␠
      count␠␠
      loop_for_ever␠␠
      loop_until_told␠␠
      keep_until_told␠␠
      grow␠␠
      recurse␠␠
      panic␠␠
      claim_denied␠␠
      claim_failed␠␠
      claim_invalid_arguments␠␠
      claim_not_found␠␠
      claim_conflict␠␠
      claim_unavailable␠␠
      claim_cancelled␠␠
      flood␠␠
      flood_pieces␠␠
      no_json␠␠
      shout␠␠
      paint␠␠
      paint_controls␠␠
      leave␠␠
      allocate␠␠
      find␠␠

    It cannot read files, change files, run programs, reach the network, keep anything between calls, call \
    tools of MCP servers or call other tools: its component has no import for that.

    UNSIGNED: no key that you trust signed it.
    Easily confused: the plugin `acme/c0unts` looks like `acme/counts`, which you have
    ----- stderr
    error: `acme/c0unts` asks for `fs-read` and has names that are easily confused (the plugin \
    `acme/c0unts` looks like `acme/counts`, which you have), and there is no terminal to ask on
    help: add --yes, if it is the plugin that you mean
    ");
    let mut pty = Pty::start(host.command_of(&["plugin", "install", &archive, "--user", "--allow-unsigned"]), 200, 60);
    pty.sees("Easily confused: the plugin `acme/c0unts` looks like `acme/counts`, which you have");
    pty.sees("Install it?");
    pty.types("n\r");
    assert_eq!(pty.ends(), Some(130));
}

// promise bundle.crowd
#[tokio::test]
async fn install_says_how_many_signatures_do_not_count_and_shows_few() {
    let acme = Publisher::new("acme");
    let host = Host::new(["run"]);
    trust(&host, &acme);
    let mut bundle = acme.signed("1.0.0", READS).await;
    let stranger = host_bundle::SecretKey::without_password().expect("a key");
    for _ in 0..30 {
        bundle.sign(&stranger).expect("signed");
    }
    // A comment that nothing covers is not shown either.
    let first = bundle.signatures()[0].text();
    let (_, covered) = first.split_once('\n').expect("a line");
    let own = host_bundle::Signature::new(format!("untrusted comment: AUDITED AND SAFE\n{covered}")).expect("short");
    let mut commented = acme.bundle("1.0.0", READS).await;
    commented.add_signature(own).expect("added");
    for signature in bundle.signatures() {
        commented.add_signature(signature.clone()).expect("added");
    }
    let archive = file(&host, "a.tar", &commented);
    let ended = install(&host, &[&archive, "--yes"]);
    outcome_snapshot!(ended, @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: the key [KEY] is not in your list of keys; get the publisher's key file from a source \
    that you trust, then run `host keys trust FILE --for acme/counts`
      not counted: 22 more signatures; `host plugin verify` shows all

    Installed `acme/counts` 1.0.0; you are asked before each call that does more than read the workspace.
    ----- stderr
    ");
    let verified = host.run_of(&["plugin", "verify", &archive]);
    let listed = host.run_of(&["plugin", "list"]);
    for ended in [&ended, &verified, &listed] {
        assert!(ended.code == Some(0) && !format!("{ended:?}").contains("AUDITED"), "{ended:?}");
    }
}

// promise install.agreed
#[tokio::test]
async fn a_name_or_a_tool_of_another_is_not_taken() {
    let (acme, other) = (Publisher::new("acme"), Publisher::new("other"));
    let host = Host::new(["run"]);
    trust(&host, &acme);
    trust(&host, &other);
    assert_eq!(install(&host, &[&file(&host, "a.tar", &acme.signed("1.0.0", READS).await), "--yes"]).code, Some(0));
    let other = file(&host, "b.tar", &other.signed("1.0.0", READS).await);
    outcome_snapshot!(install(&host, &[&other, "--yes"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `other/counts` cannot be installed
      caused by: the plugin `acme/counts` has a tool `count_lines` too
    help: `host plugin remove acme/counts`, to install this one in its place
    ");
    // What it asks for is the most that can be granted.
    let newer = file(&host, "a.tar", &acme.signed("1.0.1", READS).await);
    outcome_snapshot!(install(&host, &[&newer, "--grant", "http"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `acme/counts` does not ask for `http`
    help: it asks for `fs-read`
    ");
    outcome_snapshot!(install(&host, &["a.tar", "--grant", "fs-reed"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `acme/counts` does not ask for `fs-reed`
    help: it asks for `fs-read`
    ");
}

// promise install.conflict: Two plugins with a tool of the same name are reported with the list that each is in and the
//   command that removes it.
#[tokio::test]
async fn a_tool_in_the_users_and_the_projects_list_is_reported_with_the_way_out() {
    let (acme, other) = (Publisher::new("acme"), Publisher::new("other"));
    let host = Host::new(["run"]);
    trust(&host, &acme);
    trust(&host, &other);
    assert_eq!(install(&host, &[&file(&host, "a.tar", &acme.signed("1.0.0", READS).await), "--yes"]).code, Some(0));
    let theirs = file(&host, "b.tar", &other.signed("1.0.0", READS).await);
    assert_eq!(install(&host, &[&theirs, "--yes", "--user"]).code, Some(0));
    host_snapshot!(host, ["tool", "list"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: the plugins `acme/counts` and `other/counts` both have a tool `count_lines`
      caused by: `acme/counts` is in the project's list of plugins, `other/counts` is in your own list of \
    plugins
    help: use one of them: `host plugin remove acme/counts`, or `host plugin remove other/counts --user`
    ");
    assert_eq!(host.run_of(&["plugin", "remove", "other/counts", "--user"]).code, Some(0));
    assert_eq!(host.run_of(&["tool", "list"]).code, Some(0));
    // The user's own list counts for what is installed in a project.
    assert_eq!(host.run_of(&["plugin", "remove", "acme/counts"]).code, Some(0));
    assert_eq!(install(&host, &[&theirs, "--yes", "--user"]).code, Some(0));
    outcome_snapshot!(install(&host, &["a.tar", "--yes"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `acme/counts` cannot be installed
      caused by: the plugin `other/counts` has a tool `count_lines` too
    help: `host plugin remove other/counts --user`, to install this one in its place
    ");
}

// promise install.server
#[tokio::test(flavor = "multi_thread")]
async fn an_address_needs_a_digest() {
    let acme = Publisher::new("acme");
    let bundle = acme.signed("1.0.0", READS).await;
    let archive = bundle.to_archive();
    let server = Server::start(move |request| match request.path.as_str() {
        "/counts.tar" => Answer::ok(&archive),
        "/endless.tar" => Answer::ok(vec![0; 1 << 16]).endless(),
        _ => Answer::status(404, "none"),
    })
    .await;
    let host = Host::new(["run"]);
    trust(&host, &acme);
    let digest = bundle.digest().to_string();
    let (good, other) = (server.url("/counts.tar"), acme.bundle("1.0.1", READS).await.digest().to_string());
    outcome_snapshot!(install_of(&host, &[&good, "--yes"]).await, @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `http://127.0.0.1:[PORT]/counts.tar` needs the digest of its bundle
    help: add --digest sha256:…, as its publisher gives it
    ");
    outcome_snapshot!(install_of(&host, &[&good, "--yes", "--digest", &other]).await, @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `127.0.0.1` sent other content than was asked for: its digest is sha256:[DIGEST], not \
    sha256:[DIGEST]; ask the publisher which digest is right
    ");
    outcome_snapshot!(install_of(&host, &[&server.url("/none"), "--yes", "--digest", &digest]).await, @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `127.0.0.1` has no `http://127.0.0.1:[PORT]/none`
    ");
    outcome_snapshot!(install_of(&host, &[&server.url("/endless.tar"), "--yes", "--digest", &digest]).await, @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `127.0.0.1` sent more than 105906176 bytes for `http://127.0.0.1:[PORT]/endless.tar`
    ");
    outcome_snapshot!(install_of(&host, &["http://192.0.2.1/x", "--yes", "--digest", &digest]).await, @"
    exit: 55
    ----- stdout
    ----- stderr
    error: `http://192.0.2.1/x` does not use TLS; use an address that begins with `https://`
    ");
    done(install_of(&host, &[&good, "--yes", "--digest", &digest]).await);
}

// promise install.agreed
#[tokio::test]
async fn install_asks_the_user_only_about_what_is_new() {
    let acme = Publisher::new("acme");
    let host = Host::new(["run"]);
    trust(&host, &acme);
    let reading: &[(&str, &str)] =
        &[("fs-read", "."), ("fs-write", "."), ("process", "true"), ("http", "a.test"), ("state", "write")];
    let first = file(&host, "a.tar", &acme.signed("1.0.0", reading).await);
    let mut pty = Pty::start(host.command_of(&["plugin", "install", &first]), 120, 50);
    pty.sees("New requests:");
    pty.sees("process = true");
    pty.sees("[n]o: ");
    pty.types("g\r");
    pty.sees("Installed `acme/counts` 1.0.0; granted: fs-read=. fs-write=. http=a.test process=true state=write.");
    assert_eq!(pty.ends(), Some(0));

    // One that asks for no more is not asked about; one that does is asked about that.
    let same = file(&host, "b.tar", &acme.signed("1.0.1", reading).await);
    let ended = install(&host, &[&same]);
    outcome_snapshot!(ended, @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.1 (MIT)
      count_lines␠␠

    It asks to
      read the files of the workspace
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Since 1.0.0: no change that is visible to callers or users

    Installed `acme/counts` 1.0.1; granted: fs-read=. fs-write=. http=a.test process=true state=write.
    ----- stderr
    ");
    let more: &[(&str, &str)] =
        &[("fs-read", "."), ("fs-write", "."), ("process", "true,false"), ("http", "a.test"), ("state", "write")];
    let wider = file(&host, "c.tar", &acme.signed("2.0.0", more).await);
    let mut pty = Pty::start(host.command_of(&["plugin", "install", &wider]), 120, 50);
    pty.sees("it asks for more `process`: `true,false` instead of `true`");
    pty.sees("New requests");
    pty.sees("[n]o: ");
    assert!(!pty.screen().contains("  http = a.test"), "{}", pty.screen());
    pty.types("n\r");
    pty.sees("nothing was installed");
    assert_eq!(pty.ends(), Some(130));
    assert_eq!(lock(&host).plugins["acme/counts"].version.to_string(), "1.0.1");
    assert!(Path::new(&wider).exists());
}

// promise secret.owner
#[tokio::test]
async fn a_secret_that_goes_to_another_server_is_asked_about() {
    let acme = Publisher::new("acme");
    let host = Host::new(["run"]);
    trust(&host, &acme);
    let asks = [("fs-read", "*"), ("http", "*")];
    let sends = |servers: &str| {
        format!("[secrets.token]\ndescription = \"From the settings.\"\nservers = [{servers}]\noptional = true\n")
    };
    let mut first = acme.bundle_that("1.0.0", &asks, &sends("\"a.example\"")).await;
    acme.sign(&mut first);
    let ended = install(&host, &[&file(&host, "a.tar", &first), "--yes"]);
    outcome_snapshot!(ended, @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    It sends, and never reads,
      your secret `token` (optional), as `authorization: Bearer …`, to a.example and no other server
        it says: From the settings.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Installed `acme/counts` 1.0.0; you are asked before each call that does more than read the workspace.
    ----- stderr
    ");
    // Nothing more is asked for, so nobody is asked.
    let mut same = acme.bundle_that("1.0.1", &asks, &sends("\"a.example\"")).await;
    acme.sign(&mut same);
    assert_eq!(install(&host, &[&file(&host, "b.tar", &same)]).code, Some(0));
    let mut more = acme.bundle_that("2.0.0", &asks, &sends("\"a.example\", \"b.example\"")).await;
    acme.sign(&mut more);
    outcome_snapshot!(install(&host, &[&file(&host, "c.tar", &more)]), @r"
    exit: 42
    ----- stdout
    acme/counts 2.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    It sends, and never reads,
      your secret `token` (optional), as `authorization: Bearer …`, to a.example, b.example and no other \
    server
        it says: From the settings.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Since 1.0.1:
      breaking it sends the secret `token` to a.example, b.example instead of a.example
    ----- stderr
    error: `acme/counts` asks for the secret `token`, and there is no terminal to ask on
    help: add --yes, once you have seen where it sends what you give it: `host plugin verify` shows a bundle
    ");
    // Nor does a flag that grants something else say yes to that.
    let granting = [&file(&host, "c.tar", &more), "--grant", "fs-read"];
    outcome_snapshot!(install(&host, &granting), @r"
    exit: 42
    ----- stdout
    acme/counts 2.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    It sends, and never reads,
      your secret `token` (optional), as `authorization: Bearer …`, to a.example, b.example and no other \
    server
        it says: From the settings.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Since 1.0.1:
      breaking it sends the secret `token` to a.example, b.example instead of a.example
    ----- stderr
    error: `acme/counts` asks for the secret `token`, and there is no terminal to ask on
    help: add --yes, once you have seen where it sends what you give it: `host plugin verify` shows a bundle
    ");
    host_snapshot!(host, ["plugin", "verify", "c.tar"], @"
    exit: 0
    ----- stdout
    acme/counts 2.0.0  sha256:[DIGEST]
    Counts the lines of a file.
    tools: count_lines
    asks for http: *, to try it
    asks for fs-read: *, to try it
    sends your secret token: to a.example, b.example
    signed by [KEY]
    ----- stderr
    ");
    outcome_snapshot!(install(&host, &[&file(&host, "c.tar", &more), "--yes"]), @r"
    exit: 0
    ----- stdout
    acme/counts 2.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    It sends, and never reads,
      your secret `token` (optional), as `authorization: Bearer …`, to a.example, b.example and no other \
    server
        it says: From the settings.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Since 1.0.1:
      breaking it sends the secret `token` to a.example, b.example instead of a.example

    Installed `acme/counts` 2.0.0; you are asked before each call that does more than read the workspace.
    ----- stderr
    ");
}

// promise install.described: The tools shown before installation come from the component itself, run in a sandbox
//   without capabilities.
#[tokio::test]
async fn install_denies_a_manifest_that_differs_from_its_component() {
    let acme = Publisher::new("acme");
    let host = Host::new(["run"]);
    trust(&host, &acme);
    type Lie = fn(&mut Manifest);
    let lies: [(Lie, &str); 3] = [
        (|it| it.tools[0].spec.description = "Harmless.".to_owned(), "another description"),
        (|it| it.tools[0].spec.name = host_message::ToolName::new("count_words"), "another name"),
        (|it| it.tools[0].spec.annotations.destructive = !it.tools[0].spec.annotations.destructive, "other hints"),
    ];
    let mut denials = Transcript::default();
    for (lie, what) in lies {
        let honest = acme.bundle("1.0.0", READS).await;
        let mut manifest = honest.manifest().clone();
        lie(&mut manifest);
        let component = honest.component().to_vec();
        let mut bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
        // Signed by its publisher, it is no less a lie.
        acme.sign(&mut bundle);
        let ended = install(&host, &[&file(&host, "counts.tar", &bundle), "--yes"]);
        denials.add(what, &ended);
        assert!(ended.stdout.is_empty(), "nothing was shown of it: {ended:?}");
        assert!(!host.repository().join(".host/plugins.lock").exists());
        assert!(!host.home().join(".local/share/host/plugins").exists());
    }
    transcript_snapshot!(denials, @r#"
    # another description
    exit: 55
    ----- stderr
    error: `acme/counts` is not installed: its manifest does not describe its component
      caused by: the manifest and the component differ in the description of `count_lines`: "Harmless." in \
    the manifest, "Counts the lines of a file." in the component
    help: report it to its publisher; `host plugin build` and `host plugin pack` make a manifest that agrees

    # another name
    exit: 55
    ----- stderr
    error: `acme/counts` is not installed: its manifest does not describe its component
      caused by: the component has a tool `count_lines`, which the manifest does not list
    help: report it to its publisher; `host plugin build` and `host plugin pack` make a manifest that agrees

    # other hints
    exit: 55
    ----- stderr
    error: `acme/counts` is not installed: its manifest does not describe its component
      caused by: the manifest and the component differ in the hints of `count_lines`: \
    {"read_only":true,"destructive":true,"idempotent":true,"open_world":false} in the manifest, \
    {"read_only":true,"destructive":false,"idempotent":true,"open_world":false} in the component
    help: report it to its publisher; `host plugin build` and `host plugin pack` make a manifest that agrees
    "#);
    let honest = acme.signed("1.0.0", READS).await;
    assert_eq!(install(&host, &[&file(&host, "counts.tar", &honest), "--yes"]).code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn install_download_ended_by_ctrl_c_is_continued_by_the_same_command() {
    let acme = Publisher::new("acme");
    let bundle = acme.signed("1.0.0", READS).await;
    let archive = bundle.to_archive();
    let half = archive.len() / 2;
    let server = Server::start(move |request| match request.header("range") {
        None => Answer::pieces([archive[..half].to_vec()]).hanging(),
        Some(_) => {
            let range = format!("bytes {half}-{}/{}", archive.len() - 1, archive.len());
            Answer::pieces([archive[half..].to_vec()]).with_status(206).header("content-range", &range)
        }
    })
    .await;
    let host = Host::new(["run"]).env("XDG_CACHE_HOME", tempfile::tempdir().expect("a folder").keep());
    trust(&host, &acme);
    let (address, digest) = (server.url("/counts.tar"), bundle.digest().to_string());
    let arguments = ["plugin", "install", &address, "--digest", &digest, "--yes"];
    let mut command = host.command_of(&arguments);
    let downloads = command.get_envs().find(|(name, _)| *name == "XDG_CACHE_HOME").and_then(|(_, value)| value);
    let downloads = Path::new(downloads.expect("it is set")).join("host/downloads");
    let mut child = command.spawn().expect("it starts");
    let came = || {
        let entries = std::fs::read_dir(&downloads).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).any(|about| about.len() == half as u64)
    };
    host_tests::eventually(came).await;
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).expect("it has an id");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let ended = install_of(&host, &arguments[2..]).await;
    assert!(ended.code == Some(0) && ended.stdout.contains("Installed `acme/counts`"), "{ended:?}");
    assert_eq!(server.requests().len(), 2, "nothing was fetched twice");
}

#[tokio::test]
async fn install_of_a_plugin_with_the_name_of_the_discovered_tools_is_denied() {
    let host = Host::new(["run"]);
    let honest = Publisher::new("acme").bundle("1.0.0", READS).await;
    let manifest = Manifest { name: "discovered".to_owned(), ..honest.manifest().clone() };
    let component = honest.component().to_vec();
    let bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
    outcome_snapshot!(install(&host, &[&file(&host, "a.tar", &bundle), "--yes", "--allow-unsigned"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `discovered` cannot be installed
      caused by: the name is reserved for tools that a command of the user or the project lists
    help: ask its publisher to rename it
    ");
    assert_eq!(host.run_of(&["tool", "list"]).code, Some(0));
}
