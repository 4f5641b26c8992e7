//! Plugins of others: installed from a file, a folder, a registry, an address; used, updated, revoked.

use std::path::Path;

use host_bundle::{Bundle, LockFile, Parts};
use host_manifest::Manifest;
use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use host_tests::registry::{DockerRegistry, LOGIN};
use host_tests::server::{Answer, Server};
use serde_json::json;

use crate::publisher::{Publisher, READS, file, trust};

fn install(host: &Host, arguments: &[&str]) -> Ended {
    host.run_of(&[&["plugin", "install"], arguments].concat())
}

fn refused(ended: &Ended, code: i32, says: &str) {
    assert!(ended.code == Some(code) && ended.stderr.contains(says), "{says}: {ended:?}");
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
    refused(&install(&host, &[&first, "--yes"]), 55, "is not installed");
    trust(&host, &acme);
    refused(&install(&host, &[&first]), 42, "there is no terminal to ask on");
    let grant = format!("fs-read={}", host.home().display());
    let ended = install(&host, &[&first, "--grant", &grant]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for says in [
        "It asks to\n  read the files that you allow",
        "Signed by",
        &format!("granted: {grant}"),
        "Installed `acme/counts` 1.0.0",
    ] {
        assert!(ended.stdout.contains(says), "{says}: {}", ended.stdout);
    }
    let locked = lock(&host).plugins["acme/counts"].clone();
    assert!(locked.source.starts_with(&format!("{first}@sha256:")), "{locked:?}");

    // It is used, with what was agreed to and nothing else.
    assert!(count(Path::new("a.txt")).stdout.contains("2 lines") && count(&outside).stdout.contains("3 lines"));
    refused(&count(Path::new("/etc/passwd")), 54, "`acme/counts` has no fs-read grant");

    // An update is asked for by name, and what was agreed to stays.
    let ended = install(&host, &[&format!("{place}:1.1.0")]);
    assert!(ended.code == Some(0) && ended.stdout.contains("Since 1.0.0:"), "{ended:?}");
    assert!(ended.stdout.contains(&format!("Installed `acme/counts` 1.1.0; granted: {grant}.")), "{ended:?}");
    refused(&install(&host, &[&first]), 55, "--allow-downgrade");
    assert_eq!(install(&host, &[&first, "--allow-downgrade"]).code, Some(0));

    // Revoked, it is not used, and what it was is said.
    let ended = host.run_of(&["keys", "revoke", &acme.id(), "--reason", "the laptop was stolen"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ended = count(Path::new("a.txt"));
    refused(&ended, 42, "there is no tool `count_lines`");
    assert!(ended.stderr.contains("the laptop was stolen") && ended.stderr.contains("host plugin remove acme/counts"));
    refused(&install(&host, &[&format!("{place}:1.1.0"), "--yes"]), 55, "the laptop was stolen");
    let listed = host.run_of(&["plugin", "list"]);
    assert!(listed.stdout.contains("not used:") && listed.stdout.contains("the laptop was stolen"), "{listed:?}");
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
    refused(&host.run_of(&push), 41, "docker login");
    let login = |password: &str| {
        let both =
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{}:{password}", LOGIN.0));
        let registry = place.split('/').next().unwrap_or_default();
        json!({"auths": {registry: {"auth": both}}}).to_string()
    };
    let host = host.home_file(".docker/config.json", login("wrong"));
    refused(&host.run_of(&push), 41, "this login");
    let host = host.home_file(".docker/config.json", login(LOGIN.1));
    assert_eq!(host.run_of(&push).code, Some(0));
    let ended = host.run_of(&["plugin", "pull", &format!("{place}:1.0.0"), "--out", "again.tar"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let same = |name: &str| std::fs::read(host.repository().join(name)).expect("it is there");
    assert!(same("again.tar") == same("counts.tar"), "what comes back is what was put there");
    refused(&host.run_of(&["plugin", "pull", &format!("{place}:1.0.0"), "--out", "again.tar"]), 42, "again.tar");
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
    refused(&install(&host, &[&file(&host, "a.tar", &unsigned), "--yes"]), 55, "it is not signed");

    // A key that is trusted for one publisher signs nothing of another's.
    let mut others = unsigned.clone();
    evil.sign(&mut others);
    refused(&install(&host, &[&file(&host, "b.tar", &others), "--yes"]), 55, "evil/*");
    refused(&install(&host, &[&file(&host, "b.tar", &others), "--yes", "--allow-unsigned"]), 55, "evil/*");

    // A signature of another bundle, and a byte that was changed.
    let other = acme.signed("2.0.0", READS).await;
    let mut moved = unsigned.clone();
    moved.add_signature(other.signatures()[0].clone()).expect("added");
    refused(&install(&host, &[&file(&host, "c.tar", &moved), "--yes"]), 55, "acme/counts@2.0.0");
    let mut bytes = acme.signed("1.0.0", READS).await.to_archive();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(host.repository().join("d.tar"), bytes).expect("written");
    refused(&install(&host, &["d.tar", "--yes"]), 42, "was changed");

    // A digest that was named.
    let digest = other.digest().to_string();
    let good = file(&host, "e.tar", &acme.signed("1.0.0", READS).await);
    refused(&install(&host, &[&good, "--yes", "--digest", &digest]), 55, "is a different bundle");
    assert!(!host.repository().join(".host").exists(), "nothing of it was kept");

    // Unsigned is taken with the one flag, and is shown as that from then on.
    let ended = install(&host, &[&file(&host, "a.tar", &unsigned), "--yes", "--allow-unsigned"]);
    assert!(ended.code == Some(0) && ended.stdout.contains("UNSIGNED"), "{ended:?}");
    assert!(host.run_of(&["plugin", "list"]).stdout.contains("acme/counts 1.0.0  UNSIGNED"));
    // The same version with other bytes is an alarm that no flag silences.
    let again = acme.bundle("1.0.0", &[("fs-read", ".")]).await;
    let flags = ["--yes", "--allow-unsigned", "--allow-downgrade", "--allow-other-signers"];
    refused(
        &install(&host, &[&[file(&host, "f.tar", &again).as_str()], &flags[..]].concat()),
        55,
        "changed: its digest was",
    );
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
    refused(&host.run_of(&["tool", "list"]), 52, "was changed since it was installed");
    // The component is not read before it is compiled; what was compiled before is still that of the right one.
    flip(bundle.component());
    refused(&host.run_of(&["plugin", "list"]), 52, "was changed since it was installed");
    let call = ["tool", "call", "count_lines", r#"{"path":"notes.txt"}"#];
    assert_eq!(host.run_of(&call).code, Some(0));
    let mut without_cache = host.command_of(&call);
    without_cache.env("XDG_CACHE_HOME", host.home().join("cache"));
    refused(&host.end(without_cache), 54, "was changed since it was installed: its digest is ");
    // Nor is a whole other bundle taken that was put in its place.
    std::fs::write(&kept, acme.signed("1.0.1", READS).await.to_archive()).expect("written");
    refused(&host.run_of(&["tool", "list"]), 52, "was changed since it was installed");
    std::fs::write(&kept, whole).expect("written");
    assert_eq!(host.run_of(&["tool", "list"]).code, Some(0));
    // What was agreed to counts only as long as nobody else could have written it.
    let agreed = host.home().join(".local/share/host/plugins/agreed.json");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(&agreed, mode).expect("set");
    refused(&host.run_of(&["tool", "list"]), 52, "others can write it");
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
    let shown = host.run_of(&["trust"]);
    assert!(shown.stdout.contains("plugins that others made, each as you install it: acme/counts 1.0.0"), "{shown:?}");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    assert!(host.run_of(&["tool", "list"]).stderr.contains("`acme/counts` is not installed here"));
    refused(&install(&host, &["--yes"]), 55, "is not installed");
    trust(&host, &acme);
    assert_eq!(install(&host, &["--yes"]).code, Some(0));
    refused(&host.run_of(&count), 54, "has no fs-read grant");

    // What is there now is not what the list says.
    std::fs::write(&place, acme.signed("1.0.1", READS).await.to_archive()).expect("written");
    let late = Host::new(["run"]).file(".host/plugins.lock", &list);
    trust(&late, &acme);
    assert_eq!(late.run_of(&["trust", "add"]).code, Some(0));
    refused(&install(&late, &["--yes"]), 55, "is a different bundle");
}

// promise project.lock: The list of plugins of a project that is not trusted is not read: it is neither shown nor
//   installed from nor written to.
#[tokio::test]
async fn install_list_of_an_untrusted_project_is_not_read() {
    let acme = Publisher::new("acme");
    for list in ["version = 1\n\n[[plugin]]\nname = \"evil/x\"\n", "\u{0}not a list \u{e0041}"] {
        let host = Host::new(["run"]).file(".host/plugins.lock", list);
        trust(&host, &acme);
        let bundle = file(&host, "a.tar", &acme.signed("1.0.0", READS).await);
        let mine = install(&host, &[&bundle, "--user", "--yes"]);
        assert_eq!(mine.code, Some(0), "the user's own list is another one: {mine:?}");
        let listed = host.run_of(&["plugin", "list"]);
        assert!(listed.code == Some(0) && listed.stdout.starts_with("acme/counts 1.0.0"), "{listed:?}");
        let note = "the project's list of plugins is not read: ";
        assert!(listed.stderr.contains(note) && listed.stderr.contains("is not trusted"), "{listed:?}");
        assert!(!format!("{listed:?}").contains("evil"), "{listed:?}");
        for arguments in [&["install", "--yes"][..], &["install", &bundle, "--yes"], &["remove", "evil/x"]] {
            let ended = host.run_of(&[&["plugin"], arguments].concat());
            refused(&ended, 55, "the project's list of plugins is not read");
            assert!(ended.stderr.contains("`host trust add`"), "{ended:?}");
        }
        assert_eq!(std::fs::read_to_string(host.repository().join(".host/plugins.lock")).expect("there"), list);
    }
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
    let ended = install(&host, &[&archive, "--user", "--allow-unsigned"]);
    refused(&ended, 42, "names that are easily confused (the plugin `acme/c0unts` looks like `acme/counts`");
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
    assert!(ended.code == Some(0) && ended.stdout.contains("which you trust for it."), "{ended:?}");
    assert_eq!(ended.stdout.matches("  not counted: the key ").count(), 8, "{ended:?}");
    assert!(ended.stdout.contains("  not counted: 22 more signatures; `host plugin verify` shows all"), "{ended:?}");
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
    let ended = install(&host, &[&file(&host, "b.tar", &other.signed("1.0.0", READS).await), "--yes"]);
    refused(&ended, 42, "the plugin `acme/counts` has a tool `count_lines` too");
    refused(&ended, 42, "`host plugin remove acme/counts`, to install this one in its place");
    // What it asks for is the most that can be granted.
    refused(
        &install(&host, &[&file(&host, "a.tar", &acme.signed("1.0.1", READS).await), "--grant", "http"]),
        42,
        "does not ask for `http`",
    );
    refused(&install(&host, &["a.tar", "--grant", "fs-reed"]), 42, "does not ask for `fs-reed`");
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
    let ended = host.run_of(&["tool", "list"]);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (
            Some(42),
            "error: the plugins `acme/counts` and `other/counts` both have a tool `count_lines`\n  \
             caused by: `acme/counts` is in the project's list of plugins, `other/counts` is in your own list of plugins\n\
             help: use one of them: `host plugin remove acme/counts`, or `host plugin remove other/counts --user`\n"
        ),
        "{ended:?}"
    );
    assert_eq!(host.run_of(&["plugin", "remove", "other/counts", "--user"]).code, Some(0));
    assert_eq!(host.run_of(&["tool", "list"]).code, Some(0));
    // The user's own list counts for what is installed in a project.
    assert_eq!(host.run_of(&["plugin", "remove", "acme/counts"]).code, Some(0));
    assert_eq!(install(&host, &[&theirs, "--yes", "--user"]).code, Some(0));
    refused(&install(&host, &["a.tar", "--yes"]), 42, "`host plugin remove other/counts --user`, to install this one");
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
    refused(&install_of(&host, &[&good, "--yes"]).await, 42, "add --digest");
    refused(&install_of(&host, &[&good, "--yes", "--digest", &other]).await, 55, "in the place of");
    refused(&install_of(&host, &[&server.url("/none"), "--yes", "--digest", &digest]).await, 42, "has no `http");
    refused(
        &install_of(&host, &[&server.url("/endless.tar"), "--yes", "--digest", &digest]).await,
        42,
        "sent more than",
    );
    refused(&install_of(&host, &["http://192.0.2.1/x", "--yes", "--digest", &digest]).await, 55, "does not use TLS");
    let ended = install_of(&host, &[&good, "--yes", "--digest", &digest]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

/// The server of the test has to run while the command does.
async fn install_of(host: &Host, arguments: &[&str]) -> Ended {
    let command = host.command_of(&[&["plugin", "install"], arguments].concat());
    tokio::task::block_in_place(|| host.end(command))
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
    assert!(ended.code == Some(0) && ended.stdout.contains("process=true"), "{ended:?}");
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
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let says = "your secret `token` (optional), as `authorization: Bearer …`, to a.example and no other server";
    assert!(ended.stdout.contains(says), "{ended:?}");
    // Nothing more is asked for, so nobody is asked.
    let mut same = acme.bundle_that("1.0.1", &asks, &sends("\"a.example\"")).await;
    acme.sign(&mut same);
    assert_eq!(install(&host, &[&file(&host, "b.tar", &same)]).code, Some(0));
    let mut more = acme.bundle_that("2.0.0", &asks, &sends("\"a.example\", \"b.example\"")).await;
    acme.sign(&mut more);
    refused(
        &install(&host, &[&file(&host, "c.tar", &more)]),
        42,
        "asks for the secret `token`, and there is no terminal to ask on",
    );
    // Nor does a flag that grants something else say yes to that.
    let granting = [&file(&host, "c.tar", &more), "--grant", "fs-read"];
    refused(&install(&host, &granting), 42, "asks for the secret `token`, and there is no terminal to ask on");
    let shown = host.run_of(&["plugin", "verify", "c.tar"]);
    assert!(shown.stdout.contains("sends your secret token: to a.example, b.example"), "{shown:?}");
    let ended = install(&host, &[&file(&host, "c.tar", &more), "--yes"]);
    let says = "it sends the secret `token` to a.example, b.example instead of a.example";
    assert!(ended.code == Some(0) && ended.stdout.contains(says), "{ended:?}");
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
        (|it| it.tools[0].spec.description = "Harmless.".to_owned(), "its description is \"Harmless.\""),
        (|it| it.tools[0].spec.name = host_message::ToolName::new("count_words"), "has a tool `count_lines`"),
        (|it| it.tools[0].spec.annotations.destructive = !it.tools[0].spec.annotations.destructive, "its hints"),
    ];
    for (lie, says) in lies {
        let honest = acme.bundle("1.0.0", READS).await;
        let mut manifest = honest.manifest().clone();
        lie(&mut manifest);
        let component = honest.component().to_vec();
        let mut bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
        // Signed by its publisher, it is no less a lie.
        acme.sign(&mut bundle);
        let ended = install(&host, &[&file(&host, "counts.tar", &bundle), "--yes"]);
        refused(&ended, 55, says);
        assert!(ended.stdout.is_empty(), "nothing was shown of it: {ended:?}");
        assert!(!host.repository().join(".host/plugins.lock").exists());
        assert!(!host.home().join(".local/share/host/plugins").exists());
    }
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
    let ended = install(&host, &[&file(&host, "a.tar", &bundle), "--yes", "--allow-unsigned"]);
    refused(&ended, 42, "`discovered` cannot be installed");
    assert_eq!(host.run_of(&["tool", "list"]).code, Some(0));
}
