//! A service that fails, in every way and in every wire format: the run ends as it should, within its limits and with
//! words that help; and what fails once in the middle of a task changes nothing about the task.

use host_tests::host::{Ended, Host};
use host_tests::server::{Answer, Server};
use serde_json::{Value, json};

use super::formats::{FORMATS, Format, Say, serve};

/// Few tries with short pauses.
const IMPATIENT: &str = "[retry]\nattempts = 3\nfirst_pause_seconds = 0.02\nreply_pause_seconds = 0.02\n";

/// How long a service may say nothing where it does: longer than a busy machine keeps an honest answer waiting.
const SILENCE_SECONDS: u64 = 3;

/// What goes wrong.
struct Fault {
    name: &'static str,
    answer: fn(&Format) -> Answer,
    /// How the process ends when it goes wrong each time, and how many requests that takes.
    code: i32,
    requests: usize,
    /// What a user is told.
    says: &'static str,
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "401",
        answer: |_| Answer::status(401, r#"{"error": {"message": "wrong key \u001b[2J"}}"#),
        code: 41,
        requests: 1,
        says: "wrong key",
    },
    Fault {
        name: "403",
        answer: |_| Answer::status(403, r#"{"error": {"message": "not yours"}}"#),
        code: 41,
        requests: 1,
        says: "not yours",
    },
    Fault {
        name: "404",
        answer: |_| Answer::status(404, r#"{"error": {"message": "no such model"}}"#),
        code: 52,
        requests: 1,
        says: "no such model",
    },
    Fault {
        name: "400",
        answer: |_| Answer::status(400, r#"{"error": {"message": "too long"}}"#),
        code: 59,
        requests: 1,
        says: "too long",
    },
    Fault {
        name: "409",
        answer: |_| Answer::status(409, r#"{"error": {"message": "in conflict"}}"#),
        code: 59,
        requests: 1,
        says: "help: another request conflicts with it",
    },
    Fault {
        name: "422",
        answer: |_| Answer::status(422, r#"{"detail": "no such option"}"#),
        code: 59,
        requests: 1,
        says: "help: if it is about an option or about tools",
    },
    Fault { name: "425", answer: |_| Answer::status(425, ""), code: 59, requests: 3, says: "425" },
    Fault { name: "499", answer: |_| Answer::status(499, ""), code: 59, requests: 3, says: "499" },
    Fault { name: "529", answer: |_| Answer::status(529, ""), code: 59, requests: 3, says: "529" },
    Fault { name: "302", answer: |_| Answer::redirect(302, "http://127.0.0.1:1/"), code: 52, requests: 1, says: "302" },
    Fault {
        name: "429",
        answer: |_| Answer::status(429, r#"{"error": {"message": "slow down"}}"#),
        code: 59,
        requests: 3,
        says: "slow down",
    },
    Fault {
        name: "429 with a delay",
        answer: |_| Answer::status(429, r#"{"error": {"message": "slow down"}}"#).header("retry-after", "1"),
        code: 59,
        requests: 3,
        says: "retrying in 1.0 s",
    },
    Fault {
        name: "429 with a delay that nobody waits for",
        answer: |_| {
            Answer::status(429, r#"{"error": {"message": "come back tomorrow"}}"#).header("retry-after", "86400")
        },
        code: 59,
        requests: 1,
        says: "come back tomorrow",
    },
    Fault { name: "500", answer: |_| Answer::status(500, "boom \u{1b}[2J"), code: 59, requests: 3, says: "boom" },
    Fault { name: "503", answer: |_| Answer::status(503, ""), code: 59, requests: 3, says: "503" },
    Fault {
        name: "an error without end",
        answer: |_| Answer::status(502, "<html>Bad Gateway").endless(),
        code: 59,
        requests: 3,
        says: "502",
    },
    Fault {
        name: "a connection that is cut in the middle",
        answer: |format| format.broken(HALF).torn(),
        code: 59,
        requests: 3,
        says: "half an ans",
    },
    Fault {
        name: "a reply that ends in the middle",
        answer: |format| format.broken(HALF),
        code: 59,
        requests: 3,
        says: "half an ans",
    },
    Fault {
        name: "JSON that is cut off",
        answer: |format| format.cut_off(&[Say::Text("x")]),
        code: 59,
        requests: 3,
        says: "error: ",
    },
    Fault {
        name: "nothing",
        answer: |format| format.stream(""),
        code: 59,
        requests: 3,
        says: "before the model was done",
    },
    Fault {
        name: "a reply that stops coming",
        answer: |format| format.broken(HALF).hanging(),
        code: 59,
        requests: 3,
        says: STOPPED,
    },
    Fault {
        name: "events that are none",
        answer: |format| format.stream("data: rubbish\n\nrubbish\n"),
        code: 59,
        requests: 3,
        says: "rubbish",
    },
    Fault {
        name: "a page of HTML",
        answer: |_| Answer::ok("<html>Log in</html>").header("content-type", "text/html"),
        code: 52,
        requests: 3,
        says: "text/html",
    },
    Fault {
        name: "a line without end",
        answer: |format| format.stream("x".repeat(1 << 20)).endless(),
        code: 59,
        requests: 3,
        says: "larger than",
    },
];

/// What is said of a reply that stops coming.
const STOPPED: &str = "sent nothing for 3 s";

/// Half an answer.
const HALF: &[Say] = &[Say::Text("half an ans")];

fn host(format: &Format, server: &Server) -> Host {
    configured(format, server, IMPATIENT)
}

/// As [`host`]; where the service will say nothing, with a wait that ends soon.
fn host_for(fault: &Fault, format: &Format, server: &Server) -> Host {
    if fault.says != STOPPED {
        return host(format, server);
    }
    let silence = format!("[providers.{}]\nsilence_seconds = {SILENCE_SECONDS}\n", format.provider());
    configured(format, server, &format!("{IMPATIENT}{silence}"))
}

fn configured(format: &Format, server: &Server, configuration: &str) -> Host {
    format.host(server, &["Look"], configuration).file("a.txt", "the content of a\n")
}

async fn run(host: Host) -> (Ended, Host) {
    // The server runs on this thread's runtime, so the process is waited for on another.
    tokio::task::spawn_blocking(move || (host.run(), host)).await.expect("it ends")
}

fn check_words(ended: &Ended, what: &str) {
    for bad in ["\u{1b}", "panicked", "sk-secret"] {
        assert!(!ended.stderr.contains(bad) && !ended.stdout.contains(bad), "{what}: {ended:?}");
    }
    assert!(ended.stderr.len() < 10_000, "{what}: {} bytes", ended.stderr.len());
}

/// Runs what tests compare for each format at once, since most of their time is waiting.
async fn for_each_format(check: impl AsyncFn(&'static Format)) {
    futures::future::join_all(FORMATS.iter().map(|format| check(format))).await;
}

#[tokio::test]
async fn a_service_that_keeps_failing_ends_the_run_with_words_and_a_code() {
    for_each_format(async |format| {
        for fault in FAULTS {
            let what = format!("{} with {}", fault.name, format.name());
            let answer = (fault.answer)(format);
            let server = serve(move |_| answer.clone()).await;
            let (ended, host) = run(host_for(fault, format, &server)).await;
            assert_eq!(ended.code, Some(fault.code), "{what}: {ended:?}");
            assert_eq!(ended.stdout, "", "{what}: no answer is printed as one");
            assert!(ended.stderr.contains("error: ") && ended.stderr.contains(fault.says), "{what}: {ended:?}");
            check_words(&ended, &what);
            // A token that is refused is fetched anew, once.
            let renewed = usize::from(fault.name == "401" && format.provider() == "vertex");
            assert_eq!(format.asked(&server).len(), fault.requests + renewed, "{what}: {ended:?}");
            assert!(host.session().len() > 1, "{what}: the session is there");
        }
    })
    .await;
}

/// The names in what a service is sent: of calls, of their results, of declared tools.
fn names(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| match value {
            Value::String(name) if key == "name" || key == "tool_name" => found.push(name.clone()),
            _ => names(value, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn faults_names_that_no_service_accepts_are_not_sent() {
    let long: &'static str = "n".repeat(5_000).leak();
    for_each_format(async |format| {
        for name in ["", "a\0b", "no such tool", long] {
            let what = format!("{name:.20?} with {}", format.name());
            let answers = [format.reply(&[Say::Call(name, json!({}))]), format.reply(&[Say::Text("Done.")])];
            let server = serve(move |at| answers[at.min(1)].clone()).await;
            let (ended, host) = run(host(format, &server)).await;
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{what}: {ended:?}");
            let mut sent = Vec::new();
            for request in format.asked(&server) {
                assert!(!request.body.contains("\\u0000"), "{what}: {}", request.body);
                names(&request.json(), &mut sent);
            }
            let is_valid = |name: &String| {
                let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                first && name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
            };
            assert_eq!(sent.iter().find(|name| !is_valid(name)), None, "{what}");
            // A call without a name cannot even be read in some formats, and is asked for again there.
            let log = host.session();
            if let Some(settled) = log.iter().find(|entry| entry["type"] == "call_settled") {
                let told = settled["parts"][0].to_string();
                assert!(told.contains("is not a valid name") && told.contains("`invalid_"), "{what}: {told}");
            } else {
                assert!(
                    log.iter().any(|entry| entry["type"] == "discarded") || ended.stderr.contains("again"),
                    "{what}"
                );
            }
        }
    })
    .await;
}

#[tokio::test]
async fn faults_request_that_is_too_long_for_a_service_reports_what_to_do() {
    let words = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    for_each_format(async |format| {
        for status in [400, 413] {
            let answer = Answer::status(status, &json!({"error": {"message": words}}).to_string());
            let server = serve(move |_| answer.clone()).await;
            let (ended, _) = run(host(format, &server)).await;
            assert_eq!(ended.code, Some(59), "{}: {ended:?}", format.name());
            let help = ended.stderr.lines().find(|line| line.starts_with("help: ")).unwrap_or_default();
            assert!(help.contains("`/compress`") && help.contains("larger window"), "{}: {ended:?}", format.name());
        }
    })
    .await;
}

#[tokio::test]
async fn a_fault_in_the_middle_of_a_task_leaves_no_trace_in_it() {
    for_each_format(async |format| {
        for fault in FAULTS.iter().filter(|fault| fault.requests > 1) {
            let what = format!("{} with {}", fault.name, format.name());
            let answers = [
                format.reply(&[Say::Call("read_file", json!({"path": "a.txt"}))]),
                (fault.answer)(format),
                format.reply(&[Say::Text("The whole answer.")]),
            ];
            let server = serve(move |at| answers.get(at).cloned().unwrap_or_else(|| Answer::status(500, ""))).await;
            let (ended, host) = run(host_for(fault, format, &server)).await;
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "The whole answer.\n"), "{what}: {ended:?}");
            assert!(ended.stderr.contains("; retrying in "), "{what}: a pause is explained: {ended:?}");
            check_words(&ended, &what);
            let requests = format.asked(&server);
            assert_eq!(requests.len(), 3, "{what}");
            assert_eq!(requests[1].json(), requests[2].json(), "{what}: the same is asked again");
            let log = host.session();
            let said: Vec<&Value> = log.iter().filter(|line| line["type"] == "content").collect();
            assert!(!json!(said).to_string().contains("half an ans"), "{what}: no text of a failed try is history");
        }
    })
    .await;
}

#[tokio::test]
async fn a_quota_that_stays_used_up_hands_over_to_the_fallback_with_a_notice() {
    let format = &FORMATS[0];
    let server = Server::start(|request| {
        if request.path.contains("gemini-2.5-flash") {
            FORMATS[0].reply(&[Say::Text("From the other one.")])
        } else {
            Answer::status(429, r#"{"error": {"message": "used up"}}"#)
        }
    })
    .await;
    let configuration =
        format!("{IMPATIENT}[models.\"gemini/gemini-2.5-pro\"]\nfallback = \"gemini/gemini-2.5-flash\"\n");
    let (ended, _) = run(format.host(&server, &["Look"], &configuration)).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "From the other one.\n"), "{ended:?}");
    assert!(ended.stderr.contains("`gemini/gemini-2.5-flash` answers from now on"), "{ended:?}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn faults_prompt_that_is_blocked_is_retried_once_and_then_reported() {
    let blocked = || Answer::events([json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    let server = Server::start(move |_| blocked()).await;
    let (ended, _) = run(host(&FORMATS[0], &server)).await;
    assert_eq!(ended.code, Some(59), "{ended:?}");
    assert!(ended.stderr.contains("SAFETY") && ended.stderr.contains("help: "), "{ended:?}");
    assert_eq!(server.requests().len(), 2);
}
