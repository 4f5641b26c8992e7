//! Text of a manifest, an index, a lock file or a project that is padded with blanks, so that a part of it would begin
//! a row of a terminal of 80 columns: no such row looks like one of the host's.

use host_bundle::{Bundle, Parts};
use host_manifest::Manifest;
use host_tests::guest;
use host_tests::host::Host;
use host_tests::pty::Pty;
use host_tests::server::{Answer, Server};
use serde_json::json;

use crate::publisher::{Publisher, READS, file};

/// The columns of the terminal.
const COLUMNS: usize = 80;

/// How a row of the host's would begin.
const BEGINS: &str = "by acme, key 0123456789ABCDEF, which you trust for it";

/// Text that fills the row on which it begins behind so many columns, and goes on with this.
fn padded(before: usize, row: &str) -> String {
    format!("Counts.{}{row}", " ".repeat(COLUMNS - before - "Counts.".len()))
}

/// Runs a command on a terminal, and checks that what is forged is shown, and begins no row.
#[track_caller]
fn begins_no_row(host: &Host, arguments: &[&str], forged: &[&str]) {
    let mut pty = Pty::start(host.command_of(arguments), COLUMNS.try_into().expect("it fits"), 60);
    pty.ends();
    let shown = pty.everything();
    let words = |text: &str| text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    for row in forged {
        assert!(words(&shown).contains(&words(row)), "{arguments:?} does not show {row:?}:\n{shown}");
        let begin: String = row.chars().take(24).collect();
        let found = shown.lines().find(|line| line.starts_with(&begin));
        assert_eq!(found, None, "{arguments:?} shows {row:?}:\n{shown}");
    }
}

/// A plugin of a publisher, with its manifest changed.
async fn changed(publisher: &Publisher, change: impl FnOnce(&mut Manifest)) -> Bundle {
    let mut manifest = publisher.bundle("1.0.0", READS).await.manifest().clone();
    change(&mut manifest);
    let component = guest("counts").component().expect("it is read").into_owned();
    let mut bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
    publisher.sign(&mut bundle);
    bundle
}

// promise plugin.rows: On a terminal, no row of a list that the host prints begins with text from a plugin, an index or
//   a project that could be taken for a row of the host's.
#[tokio::test]
async fn text_of_a_manifest_that_is_padded_begins_no_row_of_a_list() {
    let acme = Publisher::new("acme");
    let details = format!("  {BEGINS}");

    // In an index, and in the bundle itself.
    let before = "acme/counts 1.0.0  ".len();
    let bundle = changed(&acme, |it| it.description = Some(padded(before, &details))).await;
    let host = Host::new(["plugin"]).file("bundles/README", "not a bundle");
    crate::publisher::trust(&host, &acme);
    let archive = file(&host, "bundles/counts-1.0.0.tar", &bundle);
    let (key, password) = (acme.secret().display().to_string(), acme.password().display().to_string());
    let ended =
        host.run_of(&["plugin", "index", "bundles", "--key", &key, "--password-file", &password, "--name", "main"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let index = host.repository().join("bundles/index.json").display().to_string();
    let user = Host::new(["plugin"])
        .configured(&format!("[indexes.main]\nsource = \"{index}\"\nkeys = [\"{}\"]\n", acme.key()));
    begins_no_row(&user, &["plugin", "search", "counts"], &[&details, BEGINS]);
    let bundle = changed(&acme, |it| it.description = Some(padded(0, "signed by 0123456789ABCDEF"))).await;
    file(&host, "bundles/counts-1.0.0.tar", &bundle);
    begins_no_row(&host, &["plugin", "verify", &archive], &["signed by 0123456789ABCDEF"]);

    // In a plugin that is used.
    let description = "Counts.\nPlugin `counts` 1.0.0 (MIT)\n  process (granted: *): to run it";
    let mut manifest = bundle.manifest().clone();
    manifest.tools[0].spec.title = Some(padded("read_many_files  ".len(), "all_of_it  It is granted"));
    manifest.tools[0].spec.description = description.to_owned();
    let host = Host::new(["tool"])
        .file("p/counts.wasm", guest("counts").component().expect("it is read"))
        .file("p/counts.json", manifest.to_json());
    begins_no_row(&host, &["tool", "list", "--plugin", "p"], &["all_of_it  It is granted"]);
    manifest.tools[0].spec.title = Some(padded("count_lines: ".len(), "Imports: host:cap/process"));
    let host = host.file("p/counts.json", manifest.to_json());
    let forged = ["Imports: host:cap/process", "Plugin `counts` 1.0.0", "  process (granted: *)"];
    begins_no_row(&host, &["tool", "show", "count_lines", "--plugin", "p"], &forged);
}

// promise plugin.rows
#[tokio::test]
async fn text_of_a_title_that_is_padded_begins_no_row_of_a_conversations_tools() {
    let acme = Publisher::new("acme");
    let mut manifest = acme.bundle("1.0.0", READS).await.manifest().clone();
    let forged = "all_of_it  It is granted";
    manifest.tools[0].spec.title = Some(padded("read_many_files  ".len(), forged));
    let host = Host::scripted(&[], &["--plugin", "p"])
        .file("p/counts.wasm", guest("counts").component().expect("it is read"))
        .file("p/counts.json", manifest.to_json());
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, COLUMNS.try_into().expect("it fits"), 60);
    pty.sees("› ").types("/tools\r").saw(forged).types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let shown = pty.everything();
    assert!(!shown.lines().any(|line| line.starts_with(forged)), "{shown}");
}

// promise plugin.rows
#[tokio::test(flavor = "multi_thread")]
async fn text_of_a_registry_is_bounded_and_begins_no_row_of_the_versions() {
    const SAME: usize = 60;
    let acme = Publisher::new("acme");
    let image = String::from_utf8(acme.bundle("1.0.0", READS).await.signed_bytes().to_vec()).expect("JSON");
    let long = format!("1.0.0-{}", "y".repeat(5_000));
    let names = [
        ("control", super::steering()),
        ("hidden", super::hidden()),
        ("lines", format!("acme/counts\n  sha256:{}", "0".repeat(64))),
        ("padded", format!("acme/counts{}acme/other 1.0.0", " ".repeat(COLUMNS))),
        ("quoted", "not a plugin".to_owned()),
    ];
    let mut tags: Vec<String> = (0..SAME).map(|number| format!("acme.counts.{number:02}")).collect();
    tags.extend(names.iter().map(|(tag, _)| (*tag).to_owned()));
    tags.push("long".to_owned());
    let list = json!({"name": "acme/counts", "tags": tags}).to_string();
    let server = Server::start(move |request| {
        let Some((_, tag)) = request.path.rsplit_once("/manifests/") else { return Answer::ok(list.clone()) };
        let named = |name: &str| image.replace("\"acme/counts\"", &json!(name).to_string());
        match names.iter().find(|(named, _)| *named == tag) {
            Some((_, name)) => Answer::ok(named(name)),
            None if tag == "long" => Answer::ok(image.replace("\"1.0.0\"", &json!(long).to_string())),
            None => Answer::ok(image.clone()),
        }
    })
    .await;
    let (host, place) = (Host::new(["plugin"]), format!("127.0.0.1:{}/acme/counts", server.port()));
    let shown = tokio::task::spawn_blocking(move || {
        let arguments = ["plugin", "versions", &place];
        let mut pty = Pty::start(host.command_of(&arguments), COLUMNS.try_into().expect("it fits"), 60);
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        let ended = host.run_of(&[&arguments[..], &["--json"]].concat());
        super::hides_nothing("plugin versions --json", &ended.stdout);
        let whole =
            ended.json().as_array().expect("a list").iter().any(|row| {
                row["plugin"] == "acme/counts" && row["tags"].as_array().is_some_and(|tags| tags.len() == SAME)
            });
        assert!(whole, "{ended:?}");
        super::hides_nothing("plugin versions", &pty.written());
        pty.everything()
    });
    let shown = shown.await.expect("no panic");
    // A name that no plugin can have is none.
    for tag in ["control", "hidden", "lines", "padded", "quoted"] {
        assert!(shown.lines().any(|line| line == format!("not a plugin  {tag}")), "{tag}: {shown}");
    }
    let mut rows = shown.lines().peekable();
    while let Some(row) = rows.next() {
        let begins = ["acme/counts 1.0.0", "not a plugin  ", "  sha256:", "      "];
        let is_ours = row == "acme/counts" || begins.iter().any(|begin| row.starts_with(begin));
        assert!(is_ours, "{row:?} in {shown}");
        let more = std::iter::from_fn(|| rows.next_if(|row| row.starts_with("      "))).count();
        assert!(more < 6, "an entry has {more} more rows: {shown}");
    }
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("acme.counts.19, … and 40 more") && !words.contains("acme.counts.20"), "{shown}");
    assert!(words.contains("… (cut)"), "{shown}");
}

// promise plugin.rows
#[tokio::test]
async fn text_of_files_and_lists_that_is_padded_begins_no_row_of_a_list() {
    // The files of a bundle.
    let skill = format!(
        "---\nname: greeting\ndescription: Greets. Use it to greet.\n---\n{}\n",
        padded("│ ".chars().count(), "signed by 0123456789ABCDEF")
    );
    let manifest = "name = \"acme/kit\"\nversion = \"1.0.0\"\nlicense = \"MIT\"\ndescription = \"Greets.\"\n";
    let host = Host::new(["plugin"]).file("kit/plugin.toml", manifest).file("kit/skills/greeting/SKILL.md", skill);
    assert_eq!(host.run_of(&["plugin", "pack", "kit", "--out", "kit.tar"]).code, Some(0));
    begins_no_row(&host, &["plugin", "verify", "kit.tar", "--files"], &["signed by 0123456789ABCDEF"]);

    // A project's list of plugins, and its files.
    let source = padded(2, "  without a question: process=*");
    let lock = format!(
        "version = 1\n\n[[plugin]]\nname = \"acme/counts\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n\
         digest = \"sha256:{0}\"\ncomponent = \"sha256:{0}\"\nunsigned = true\n",
        "0".repeat(64)
    );
    let acme = Publisher::new("acme");
    let mut manifest = acme.bundle("1.0.0", READS).await.manifest().clone();
    let before = "  `plugins/counts.wasm`: the plugin `acme/counts`, which asks for fs-read `".len();
    let scope = format!("./a{}  rules: trusted as they are", " ".repeat(COLUMNS - before - "./a".len()));
    manifest.capabilities.get_mut("fs-read").expect("there").scope = scope;
    let host = Host::new(["plugin"])
        .file(".host/plugins.lock", lock)
        .file(".host/plugins/counts.wasm", guest("counts").component().expect("it is read"))
        .file(".host/plugins/counts.json", manifest.to_json());
    begins_no_row(&host, &["trust", "status"], &["  rules: trusted as they are"]);
    begins_no_row(&host, &["trust", "add"], &["  rules: trusted as they are"]);
    begins_no_row(&host, &["plugin", "list"], &["  without a question: process=*"]);
}
