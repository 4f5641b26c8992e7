//! Attacks on secrets: those of the environment, by programs, and those of a plugin, by the server that gets them and
//! by the plugin that must not.

use std::sync::Arc;

use host_capability::{Capability, Grants, Scope};
use host_plugin::{PlacedSecret, Placement, Secrets};
use host_tests::host::Host;
use host_tests::server::{Answer, Request, Server};
use host_tests::{Bench, text};
use serde_json::json;

use super::Failures;

/// Variables that hold secrets, by their name or by their value.
const VARIABLES: &[(&str, &str)] = &[
    ("GEMINI_API_KEY", "marked-1"),
    ("OPENAI_API_KEY", "marked-2"),
    ("ANTHROPIC_API_KEY", "marked-3"),
    ("GITHUB_TOKEN", "marked-4"),
    ("gh_token", "marked-5"),
    ("AWS_SECRET_ACCESS_KEY", "marked-6"),
    ("AWS_SESSION_TOKEN", "marked-7"),
    ("NPM_CONFIG__AUTH", "marked-8"),
    ("PGPASSWORD", "marked-9"),
    ("DOCKER_PASS", "marked-10"),
    ("SSH_AUTH_SOCK", "/tmp/marked-11"),
    ("SSH_PRIVATE", "marked-12"),
    ("SENTRY_DSN", "marked-13"),
    ("AZURE_SAS", "marked-14"),
    ("SOME_JWT", "marked-15"),
    ("MY_COOKIE", "marked-16"),
    ("CREDS", "marked-17"),
    ("CI_JOB_TOKEN", "marked-18"),
    ("DATABASE_URL", "postgres://user:marked-19@db/x"),
    ("HTTPS_PROXY", "http://user:marked-20@proxy:3128"),
    ("INNOCENT_1", "ghp_marked21"),
    ("INNOCENT_2", "sk-marked22"),
    ("INNOCENT_3", "AKIAMARKED23"),
    ("INNOCENT_4", "-----BEGIN PRIVATE marked24"),
    ("INNOCENT_5", "eyJmarked25"),
    ("INNOCENT_6", "github_pat_marked26"),
    ("INNOCENT_7", "xoxb-marked27"),
    ("INNOCENT_8", "glpat-marked28"),
    ("INNOCENT_9", "AIzamarked29"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "http.https://a.example/.extraheader"),
    ("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic marked-30"),
];

/// Ways to see them.
const WAYS: &[(&str, &str)] = &[
    ("env", "env"),
    ("a shell", "set; export -p"),
    ("its own file of variables", "tr '\\0' '\\n' < /proc/self/environ; cat /proc/$$/environ"),
    ("a child", "sh -c 'bash -c env'"),
    ("git", "git config --list --show-origin"),
];

// promise process.secrets
#[test]
fn escape_no_program_sees_a_secret_of_the_environment() {
    let mut failures = Failures::default();
    let script: String = WAYS.iter().map(|(name, way)| format!("echo '== {name}'; {way}; ")).collect();
    let arguments = json!({"command": script}).to_string();
    for confine in ["require", "off"] {
        let call = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", confine];
        let host = VARIABLES.iter().fold(Host::new(call), |host, (name, value)| host.env(name, value));
        let ended = host.env("LC_HARMLESS", "shown").run();
        let printed = &ended.stdout;
        failures.check(confine, printed.matches("LC_HARMLESS=").count() >= 3, printed);
        for (name, value) in VARIABLES.iter().filter(|(name, _)| !name.starts_with("GIT_CONFIG_COUNT")) {
            failures.check(&format!("{confine}: {name}"), !printed.contains(value), "it was printed");
        }
    }
    // Without the host all of them are seen.
    let mut control = std::process::Command::new("sh");
    control.args(["-c", &script]).envs(VARIABLES.iter().copied());
    let printed = String::from_utf8_lossy(&control.output().expect("it runs").stdout).into_owned();
    for (name, value) in VARIABLES {
        failures.check(&format!("the control of {name}"), printed.contains(value), "it was not printed");
    }
    failures.report(VARIABLES.len() * 2);
}

/// Variables by which a plugin would choose what its program runs.
const CHOOSING: &[&str] = &[
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "PATH",
    "BASH_ENV",
    "ENV",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PERL5OPT",
    "RUBYOPT",
    "NODE_OPTIONS",
    "GIT_DIR",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_PAGER",
    "PAGER",
    "EDITOR",
    "JAVA_TOOL_OPTIONS",
    "RUSTC_WRAPPER",
    "http_proxy",
    "HOME",
];

// promise process.variables
#[tokio::test]
async fn escape_no_variable_of_a_plugin_chooses_what_its_program_runs() {
    let mut failures = Failures::default();
    let bench = |programs: &str| {
        Bench::new("reach", &["fs-read=.", "fs-write=.", &format!("process={programs}"), "http=*", "state=write"])
    };
    let (walls, free) = (bench("env"), bench("*"));
    for name in CHOOSING {
        let arguments = json!({"argv": ["/usr/bin/env"], "environment": [[name, "/nowhere/evil"]]});
        let narrow = json!({"argv": ["env"], "environment": [[name, "/nowhere/evil"]]});
        let answer = walls.text("run", narrow).await;
        failures.check(
            name,
            answer.starts_with("error: ") && answer.contains(&format!("the variable {name} cannot be set")),
            &answer,
        );
        let answer = free.text("run", arguments).await;
        let is_set = answer.contains(&format!("{name}=/nowhere/evil"));
        failures.check(&format!("the control of {name}"), is_set, &answer);
    }
    failures.report(CHOOSING.len());
}

const VALUE: &str = "s3cret-of-a-person";

/// Makes an answer of what a server got.
type Echo = fn(&str) -> Answer;

/// How a server sends back what it got.
const ECHOES: &[(&str, Echo)] = &[
    ("in the body", |seen| Answer::ok(format!("<{seen}>"))),
    ("twice", |seen| Answer::ok(format!("{seen}{seen}"))),
    ("byte by byte", |seen| Answer::pieces(seen.bytes().map(|byte| vec![byte]))),
    ("in two pieces", |seen| Answer::pieces([seen[..9].into(), seen[9..].into()])),
    ("in pieces of three bytes", |seen| Answer::pieces(seen.as_bytes().chunks(3).map(<[u8]>::to_vec))),
    ("at the end of a long body", |seen| Answer::ok(format!("{}{seen}", "x".repeat(70_000)))),
    ("in a field", |seen| Answer::ok("x").header("x-seen", seen)),
    ("in several fields", |seen| Answer::ok("x").header("x-a", seen).header("x-b", &format!("a{seen}b"))),
    ("in an entity tag", |seen| Answer::ok("x").header("etag", &format!("\"{seen}\""))),
    ("in an error", |seen| Answer::status(500, seen)),
    ("in a denial", |seen| Answer::status(401, seen).header("www-authenticate", seen)),
    ("in a cookie", |seen| Answer::ok("x").header("set-cookie", seen)),
    ("in a redirect beside the grant", |seen| {
        Answer::redirect(302, &format!("http://127.0.0.2:9/{}", seen.trim_start_matches("Bearer ")))
    }),
    ("in an invalid redirect", |seen| {
        Answer::redirect(302, &format!("http://{}@[/", seen.trim_start_matches("Bearer ")))
    }),
    ("in a redirect to a file", |seen| {
        Answer::redirect(302, &format!("file:///{}", seen.trim_start_matches("Bearer ")))
    }),
    ("in a body that breaks off", |seen| Answer::ok(seen).torn()),
];

// promise secret.redacted
#[tokio::test]
async fn escape_no_echo_of_a_server_gives_a_plugin_its_secret() {
    let mut failures = Failures::default();
    let server = Server::start(|request: &Request| {
        let row = request.path.trim_start_matches('/').parse::<usize>().expect("a row");
        (ECHOES[row].1)(request.header("authorization").unwrap_or("nothing-at-all"))
    })
    .await;
    let place = format!("127.0.0.1:{}", server.port());
    let http = format!("http={place}");
    let bench = Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", &http, "state=write"]);
    let servers = Grants::none().with(Scope::parse_absolute(Capability::Http, &place).expect("a scope"));
    for (row, (name, _)) in ECHOES.iter().enumerate() {
        let fetch = |with: &[&str]| json!({"path": server.url(&format!("/{row}")), "argv": with});
        let mut invocation = bench.invocation("fetch", fetch(&["token"]));
        let placement = Placement::new("authorization", "Bearer {}").expect("a place");
        let mut secrets = Secrets::default();
        secrets.give("token", PlacedSecret::new(VALUE, placement, servers.clone()).expect("a secret"));
        assert!(!format!("{secrets:?}").contains(VALUE));
        invocation.secrets = Arc::new(secrets);
        let told = match bench.invoke(invocation).await {
            Ok(output) => text(&output),
            Err(error) => format!("error: {error} {error:?}"),
        };
        failures.check(name, !told.contains("s3cret") && !told.contains("of-a-person"), &told);
        // The server had it, and what it sends back is what it got.
        let sent = server.requests().last().and_then(|request| request.header("authorization").map(str::to_owned));
        failures.check(
            &format!("the control of {name}"),
            sent.as_deref() == Some(&format!("Bearer {VALUE}")),
            "not sent",
        );
    }
    failures.report(ECHOES.len());
}

/// What a service answers with the key in it, for a model.
const FAILURES: &[(u16, &str)] = &[
    (400, "{\"error\":{\"code\":400,\"message\":\"API key not valid: KEY\",\"status\":\"INVALID_ARGUMENT\"}}"),
    (401, "the key KEY is unknown"),
    (403, "{\"error\":{\"message\":\"KEY may not\"}}"),
    (404, "no model for KEY"),
    (200, "data: {\"error\":{\"message\":\"KEY\"}}\n\n"),
    (200, "KEY"),
];

// promise model.key
#[tokio::test(flavor = "multi_thread")]
async fn escape_no_answer_of_a_service_brings_a_key_to_the_screen_or_into_a_log() {
    const KEY: &str = "AIzaSy-marked-key-of-the-user";
    let mut failures = Failures::default();
    for (status, body) in FAILURES {
        let server = Server::start(move |request| {
            let seen = request.header("x-goog-api-key").unwrap_or("no key was sent").to_owned();
            Answer::status(*status, &body.replace("KEY", &seen)).header("content-type", "text/event-stream")
        })
        .await;
        let name = format!("{status} {body}");
        let host = Host::new(["run", "--model", "gemini/gemini-2.5-pro", "--output-format", "stream-json", "Hello"])
            .env("GEMINI_API_KEY", KEY)
            .env("GOOGLE_GEMINI_BASE_URL", server.url(""))
            .configured("[retry]\nattempts = 2\nfirst_pause_seconds = 0.02\nreply_pause_seconds = 0.02\n");
        let ended = tokio::task::block_in_place(|| host.run());
        let logs: String = host.logs().iter().map(|log| std::fs::read_to_string(log).expect("read")).collect();
        for (place, text) in [("output", &ended.stdout), ("errors", &ended.stderr), ("the log", &logs)] {
            failures.check(&format!("{name}: {place}"), !text.contains(KEY), text);
        }
        let was_sent = server.requests().iter().any(|request| request.header("x-goog-api-key") == Some(KEY));
        failures.check(&format!("the control of {name}"), was_sent && ended.code != Some(0), &format!("{ended:?}"));
    }
    failures.report(FAILURES.len());
}
