//! What a user sets for a plugin: configuration that it reads, secrets that it sends without reading them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use host_manifest::{Manifest, Source, SourceManifest};
use host_plugin::admission::CONTRACT;
use host_tests::host::{Ended, Host};
use host_tests::server::{Answer, Server};
use host_tests::{guest, runtime};
use serde_json::json;

const VALUE: &str = "s3cret-of-a-person";

const DECLARED: &str = "\
[config.region]
description = \"Which region is asked.\"
default = \"eu\"
[config.most]
description = \"How many.\"
type = \"integer\"
[secrets.token]
description = \"A token, from the settings.\"
servers = [\"SERVER\"]
optional = true
";

/// The guest `reach` as the plugin `acme/reach`, with these settings, in `FOLDER/reach.wasm`.
pub(crate) async fn plugin(host: Host, folder: &str, settings: &str) -> Host {
    let capabilities = ["fs-read", "fs-write", "process", "http", "state"].map(|name| {
        let scope = if name == "http" { "*:* +private" } else { "*" };
        format!("[capabilities.{name}]\nscope = \"{scope}\"\nreason = \"to try it\"\n")
    });
    let head = "name = \"acme/reach\"\nversion = \"1.0.0\"\nlicense = \"MIT\"\n";
    let text = format!("{head}{}{settings}", capabilities.concat());
    let source = SourceManifest::parse(&text, &Source::File("plugin.toml".into())).expect("it is right");
    let tools = runtime().describe(guest("reach")).await.expect("it describes itself");
    let manifest = Manifest::new(source, CONTRACT, tools).expect("it is right");
    host.file(&format!("{folder}/reach.wasm"), guest("reach").component().expect("it is read"))
        .file(&format!("{folder}/reach.json"), manifest.to_json())
}

/// A call of the plugin in the folder `p`, or of the project's where it lies there.
fn call(host: &Host, tool: &str, arguments: serde_json::Value, http: &str) -> Ended {
    let (arguments, http) = (arguments.to_string(), format!("acme/reach:http={http}"));
    let grants = ["--grant", &http, "--grant", "acme/reach:fs-write=.", "--grant", "acme/reach:process=env"];
    let named: &[&str] = if host.repository().join("p").exists() { &["--plugin", "p"] } else { &[] };
    host.run_of(&[&["tool", "call", tool, &arguments], named, &grants].concat())
}

fn private(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
}

#[tokio::test]
async fn settings_are_read_by_their_plugin_and_one_that_nobody_reads_is_an_error() {
    let host = || async { plugin(Host::new(["tool"]), "p", &DECLARED.replace("SERVER", "a.example")).await };
    let check = |host: &Host, key: &str, says: &str| {
        let ended = call(host, "configured", json!({"path": key}), "a.example");
        assert!(ended.code == Some(0) && ended.stdout.trim() == says, "{key}: {ended:?}");
    };
    let plain = host().await;
    check(&plain, "region", "\"eu\"");
    check(&plain, "most", "nothing");
    check(&plain, "PATH", "nothing");
    let set = host().await.configured("[plugins.\"acme/reach\"]\nconfig = { region = \"us\", most = 3 }\n");
    check(&set, "region", "\"us\"");
    check(&set, "most", "3");
    // The variable goes before the file, key by key.
    let set = set.env("HOST_PLUGINS", "\"acme/reach\".config.region = \"asia\"");
    check(&set, "region", "\"asia\"");
    check(&set, "most", "3");
    for (text, says) in [
        ("[plugins.\"acme/reach\"]\nconfig.regoin = \"us\"\n", "did you mean `region`?"),
        ("[plugins.\"acme/reach\"]\nsecrets.tokn = { env = \"X\" }\n", "did you mean `token`?"),
        ("[plugins.\"acme/reach\"]\nconfig.most = \"3\"\n", "takes a `integer` there"),
        ("[plugins.\"acme/reach\"]\nconfig.region = 2026-01-01\n", "write it as a string"),
        ("[plugins.\"acme/reach\"]\nconfg.region = \"us\"\n", "did you mean `config`?"),
        ("[plugins.\"acme/reach\"]\nsecrets.token = { variable = \"X\" }\n", "{ env = \"VARIABLE\" }"),
    ] {
        let ended = call(&host().await.configured(text), "configured", json!({"path": "region"}), "a.example");
        assert!(ended.code == Some(52) && ended.stderr.contains(says), "{text}: {ended:?}");
    }
    let broken = host().await.env("HOST_PLUGINS", format!("\"acme/reach\".secrets.token = \"{VALUE}\" oh"));
    let ended = call(&broken, "configured", json!({"path": "region"}), "a.example");
    assert!(
        ended.code == Some(52) && ended.stderr.contains("HOST_PLUGINS") && !ended.stderr.contains(VALUE),
        "{ended:?}"
    );
}

// promise secret.redacted
#[tokio::test(flavor = "multi_thread")]
async fn settings_secret_is_sent_from_where_the_user_keeps_it_and_never_shown() {
    let server =
        Server::start(|request| Answer::ok(format!("you are {}", request.header("authorization").unwrap_or("nobody"))))
            .await;
    let place = format!("127.0.0.1:{}", server.port());
    let declared = DECLARED.replace("SERVER", &place);
    let fetch = json!({"path": server.url("/"), "argv": ["token"]});
    let here = format!("[plugins.\"acme/reach\"]\nsecrets.token = \"{VALUE}\"\n");
    let variable = "[plugins.\"acme/reach\"]\nsecrets.token = { env = \"OF_ACME\" }\n";
    let file = "[plugins.\"acme/reach\"]\nsecrets.token = { file = \"~/.token\" }\n";
    let blotted = format!("you are Bearer {}", "*".repeat(VALUE.len()));
    let of_environment = format!("\"acme/reach\".secrets.token = \"{VALUE}\"");
    for (text, name, value) in [
        (here.as_str(), "OTHER", ""),
        (variable, "OF_ACME", VALUE),
        (file, "OTHER", ""),
        ("", "HOST_PLUGINS", of_environment.as_str()),
    ] {
        let host = plugin(Host::new(["tool"]), "p", &declared).await.configured(text).env(name, value);
        let host = host.home_file(".token", format!("{VALUE}\n"));
        private(&host.home().join(".config/host/config.toml"), 0o600);
        private(&host.home().join(".token"), 0o600);
        let ended = call(&host, "fetch", fetch.clone(), &place);
        assert!(ended.code == Some(0) && ended.stdout.ends_with(&format!("{blotted}\n")), "{text}: {ended:?}");
        // Nor does a program see it that the plugin runs.
        let run = json!({"argv": ["env"], "path": "."});
        let ended = call(&host, "run", run, &place);
        assert!(ended.code == Some(0) && ended.stdout.contains("PATH=") && !ended.stdout.contains(VALUE), "{ended:?}");
    }
    assert_eq!(server.requests().len(), 4);
    // Where others can read it, it is no secret.
    for (text, mode, open) in [(here.as_str(), 0o644, ".config/host/config.toml"), (file, 0o640, ".token")] {
        let host = plugin(Host::new(["tool"]), "p", &declared).await.configured(text).home_file(".token", VALUE);
        private(&host.home().join(".config/host/config.toml"), 0o600);
        private(&host.home().join(open), mode);
        let ended = call(&host, "fetch", fetch.clone(), &place);
        assert!(ended.code == Some(52) && ended.stderr.contains("chmod 600"), "{text}: {ended:?}");
        assert!(!ended.stderr.contains(VALUE), "{ended:?}");
    }
    // One that was not given is a refusal with the words that give it, and one that is none says no word of itself.
    let none = plugin(Host::new(["tool"]), "p", &declared).await;
    let ended = call(&none, "fetch", fetch.clone(), &place);
    assert!(ended.code == Some(54) && ended.stderr.contains("plugins.\"acme/reach\".secrets.token"), "{ended:?}");
    let bad = none.configured(variable).env("OF_ACME", "not a secret");
    let ended = call(&bad, "fetch", fetch, &place);
    assert!(ended.code == Some(52) && !ended.stderr.contains("not a secret"), "{ended:?}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn settings_plugin_that_lacks_a_required_one_is_left_out_and_names_it() {
    let needed = DECLARED.replace("SERVER", "a.example").replace("optional = true\n", "");
    let needed = needed.replace("type = \"integer\"\n", "type = \"integer\"\nrequired = true\n");
    let host = plugin(Host::new(["tool"]), "p", &needed).await;
    let list = ["tool", "list", "--plugin", "p"];
    let ended = host.run_of(&list);
    assert!(ended.code == Some(0) && !ended.stdout.contains("configured"), "{ended:?}");
    for says in ["`acme/reach` is left out until you set", "config.most` in config.toml (How many)", "secrets.token`"] {
        assert!(ended.stderr.contains(says), "{says}: {ended:?}");
    }
    let host = host.configured("[plugins.\"acme/reach\"]\nconfig.most = 3\nsecrets.token = { env = \"OF_ACME\" }\n");
    let ended = host.run_of(&list);
    assert!(ended.stderr.contains("until you set the variable OF_ACME"), "{ended:?}");
    let ended = host.env("OF_ACME", VALUE).run_of(&list);
    assert!(ended.stdout.contains("configured") && !ended.stderr.contains("left out"), "{ended:?}");
}

// promise secret.owner: A project's plugin of the same name gets no secret, and an update that sends one to another
//   server asks again.
#[tokio::test]
async fn settings_project_gets_no_secret_of_the_user_whatever_its_plugin_is_called() {
    let server = Server::start(|_| Answer::ok("hello")).await;
    let place = format!("127.0.0.1:{}", server.port());
    let declared = DECLARED.replace("SERVER", &place);
    let own = "[plugins.\"acme/reach\"]\nsecrets.token = { env = \"OF_ACME\" }\n";
    let host = plugin(Host::new(["tool"]), ".host/plugins", &declared).await.configured(own).env("OF_ACME", VALUE);
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let ended = call(&host, "fetch", json!({"path": server.url("/"), "argv": ["token"]}), &place);
    assert!(ended.code == Some(54) && ended.stderr.contains("a project's own gets no secret"), "{ended:?}");
    assert!(server.requests().is_empty());
    // Nor can its configuration give one, or say where one is; what is no secret it can say.
    let host = host.file(".host/config.toml", "[plugins.\"acme/reach\"]\nconfig.region = \"us\"\n");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let ended = call(&host, "configured", json!({"path": "region"}), &place);
    assert_eq!((ended.code, ended.stdout.trim()), (Some(0), "\"us\""), "{ended:?}");
    let host = host.file(".host/config.toml", "[plugins.\"acme/reach\"]\nsecrets.token = { env = \"HOME\" }\n");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let ended = call(&host, "configured", json!({"path": "region"}), &place);
    assert!(ended.code == Some(52) && ended.stderr.contains("only you may provide secrets"), "{ended:?}");
}

#[tokio::test]
async fn a_case_of_a_test_gives_settings_and_sees_which_request_carries_a_secret() {
    let cases = |case: &str| {
        let head = "[[case]]\nname = \"it\"\ngrants = { process = \"*\", http = \"*\", state = \"write\", fs-read = \".\", fs-write = \".\" }\n";
        let answer = "[[case.http]]\nurl = \"https://a.example/x\"\nbody = \"hello\"\n";
        format!("{head}{case}\n{answer}")
    };
    let fetch = "tool = \"fetch\"\narguments = { path = \"https://a.example/x\", argv = [\"token\"] }\n";
    for (case, code, says) in [
        (
            format!("{fetch}secrets = [\"token\"]\nexpect = {{ requests = [\"GET https://a.example/x with token\"] }}"),
            0,
            "1 passed",
        ),
        (
            format!("{fetch}secrets = [\"token\"]\nexpect = {{ requests = [\"GET https://a.example/x\"] }}"),
            54,
            "with token",
        ),
        (
            format!("{fetch}expect = {{ denied = \"http\", message = \"gives no secret `token`\", requests = [] }}"),
            0,
            "1 passed",
        ),
        (format!("{fetch}secrets = [\"tokn\"]"), 54, "plugin.toml does not declare"),
        (
            "tool = \"configured\"\narguments = { path = \"region\" }\nexpect = { text = '\"eu\"' }".to_owned(),
            0,
            "1 passed",
        ),
        (
            "tool = \"configured\"\narguments = { path = \"most\" }\nconfig = { most = 3 }\nexpect = { text = '3' }"
                .to_owned(),
            0,
            "1 passed",
        ),
        ("tool = \"configured\"\nconfig = { most = \"3\" }".to_owned(), 54, "has to be a `integer`"),
        ("tool = \"configured\"\nconfig = { mst = 3 }".to_owned(), 54, "plugin.toml does not declare"),
    ] {
        let host = Host::new(["plugin", "test", ".", "--built", "p"]).file("tests/cases.toml", cases(&case));
        let ended = plugin(host, "p", &DECLARED.replace("SERVER", "a.example")).await.run();
        assert!(ended.code == Some(code) && ended.stdout.contains(says), "{case}: {ended:?}");
    }
}
