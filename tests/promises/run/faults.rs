//! A service that fails, in every way and in every wire format: the run ends as it should, within its limits and with
//! words that help; and what fails once in the middle of a task changes nothing about the task.

use std::sync::atomic::{AtomicUsize, Ordering};

use host_tests::host::{Ended, Host};
use host_tests::server::{Answer, Server};
use serde_json::{Value, json};

/// Short pauses, and a short wait for a service that says nothing.
fn impatient(provider: &str) -> String {
    format!(
        "[retry]\nfirst_pause_seconds = 0.02\nreply_pause_seconds = 0.02\n[providers.{provider}]\nsilence_seconds = 1\n"
    )
}

/// One wire format: how the host is told to speak it, and what its replies look like.
struct Format {
    provider: &'static str,
    model: &'static str,
    key: Option<&'static str>,
    address: (&'static str, &'static str),
    /// The events of a reply with this text, and those of one with this call.
    text: fn(&str) -> Vec<String>,
    call: fn(&str, &Value) -> Vec<String>,
}

const FORMATS: &[Format] = &[
    Format {
        provider: "gemini",
        model: "gemini/gemini-2.5-pro",
        key: Some("GEMINI_API_KEY"),
        address: ("GOOGLE_GEMINI_BASE_URL", ""),
        text: |text| vec![gemini(&json!([{"text": text}]), false), gemini(&json!([]), true)],
        call: |name, arguments| vec![gemini(&json!([{"functionCall": {"name": name, "args": arguments}}]), true)],
    },
    Format {
        provider: "openai",
        model: "openai/gpt-5",
        key: Some("OPENAI_API_KEY"),
        address: ("OPENAI_BASE_URL", "/v1"),
        text: |text| {
            vec![openai(&json!({"content": text}), None), openai(&json!({}), Some("stop")), "[DONE]".to_owned()]
        },
        call: |name, arguments| {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!([{"index": 0, "id": "call_1", "type": "function", "function": function}]);
            let delta = json!({"tool_calls": call});
            vec![openai(&delta, None), openai(&json!({}), Some("tool_calls")), "[DONE]".to_owned()]
        },
    },
];

fn gemini(parts: &Value, ends: bool) -> String {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if ends {
        candidate["finishReason"] = json!("STOP");
    }
    json!({"candidates": [candidate]}).to_string()
}

fn openai(delta: &Value, finish: Option<&str>) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).to_string()
}

/// What goes wrong.
struct Fault {
    name: &'static str,
    answer: fn(&Format) -> Answer,
    /// How the process ends when it goes wrong each time, and how many requests that takes.
    code: i32,
    requests: usize,
    /// What a person is told.
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
        code: 42,
        requests: 1,
        says: "too long",
    },
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
        says: "again in 1.0 s",
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
        answer: |format| Answer::events(halves(format)).torn(),
        code: 59,
        requests: 3,
        says: "half an ans",
    },
    Fault {
        name: "a reply that ends in the middle",
        answer: |format| Answer::events(halves(format)),
        code: 59,
        requests: 3,
        says: "half an ans",
    },
    Fault {
        name: "JSON that is cut off",
        answer: |format| {
            let event = (format.text)("x").remove(0);
            Answer::stream(format!("data: {}", &event[..event.len() - 3]))
        },
        code: 59,
        requests: 3,
        says: "error: ",
    },
    Fault { name: "nothing", answer: |_| Answer::stream(""), code: 59, requests: 3, says: "before the model was done" },
    Fault {
        name: "a reply that stops coming",
        answer: |format| Answer::events(halves(format)).hanging(),
        code: 59,
        requests: 3,
        says: "sent nothing for 1 s",
    },
    Fault {
        name: "events that are none",
        answer: |_| Answer::events(["rubbish", "{\"candidates\": 7}"]),
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
        answer: |_| Answer::stream("x".repeat(1 << 20)).endless(),
        code: 59,
        requests: 3,
        says: "larger than",
    },
];

/// The events of half an answer.
fn halves(format: &Format) -> Vec<String> {
    (format.text)("half an ans").into_iter().take(1).collect()
}

impl Format {
    fn host(&self, server: &Server) -> Host {
        let host = Host::new(["run", "--model", self.model, "Look"])
            .env(self.address.0, server.url(self.address.1))
            .configured(&impatient(self.provider))
            .file("a.txt", "the content of a\n");
        match self.key {
            Some(key) => host.env(key, "sk-secret-1234"),
            None => host,
        }
    }
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

#[tokio::test]
async fn a_service_that_keeps_failing_ends_the_run_with_words_and_a_code() {
    for format in FORMATS {
        for fault in FAULTS {
            let what = format!("{} with {}", fault.name, format.provider);
            let answer = (fault.answer)(format);
            let server = Server::start(move |_| answer.clone()).await;
            let (ended, host) = run(format.host(&server)).await;
            assert_eq!(ended.code, Some(fault.code), "{what}: {ended:?}");
            assert_eq!(ended.stdout, "", "{what}: no answer is printed as one");
            assert!(ended.stderr.contains("error: ") && ended.stderr.contains(fault.says), "{what}: {ended:?}");
            check_words(&ended, &what);
            assert_eq!(server.requests().len(), fault.requests, "{what}: {ended:?}");
            assert!(host.session().len() > 1, "{what}: the session is there");
        }
    }
}

#[tokio::test]
async fn a_fault_in_the_middle_of_a_task_leaves_no_trace_in_it() {
    for format in FORMATS {
        for fault in FAULTS.iter().filter(|fault| fault.requests > 1) {
            let what = format!("{} with {}", fault.name, format.provider);
            let answers = [
                Answer::events((format.call)("read_file", &json!({"path": "a.txt"}))),
                (fault.answer)(format),
                Answer::events((format.text)("The whole answer.")),
            ];
            let next = AtomicUsize::new(0);
            let server = Server::start(move |_| {
                answers.get(next.fetch_add(1, Ordering::SeqCst)).cloned().unwrap_or_else(|| Answer::status(500, ""))
            })
            .await;
            let (ended, host) = run(format.host(&server)).await;
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "The whole answer.\n"), "{what}: {ended:?}");
            assert!(ended.stderr.contains("asked for again in "), "{what}: a pause is explained: {ended:?}");
            check_words(&ended, &what);
            let requests = server.requests();
            assert_eq!(requests.len(), 3, "{what}");
            assert_eq!(requests[1].json(), requests[2].json(), "{what}: the same is asked again");
            let log = host.session();
            let said: Vec<&Value> = log.iter().filter(|line| line["type"] == "content").collect();
            assert!(!json!(said).to_string().contains("half an ans"), "{what}: no text of a failed try is history");
        }
    }
}

#[tokio::test]
async fn a_quota_that_stays_used_up_hands_over_to_the_fallback_with_a_notice() {
    let format = &FORMATS[0];
    let server = Server::start(|request| {
        if request.path.contains("gemini-2.5-flash") {
            Answer::events((FORMATS[0].text)("From the other one."))
        } else {
            Answer::status(429, r#"{"error": {"message": "used up"}}"#)
        }
    })
    .await;
    let configuration = format!(
        "{}[models.\"gemini/gemini-2.5-pro\"]\nfallback = \"gemini/gemini-2.5-flash\"\n",
        impatient(format.provider)
    );
    let (ended, _) = run(format.host(&server).configured(&configuration)).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "From the other one.\n"), "{ended:?}");
    assert!(ended.stderr.contains("`gemini/gemini-2.5-flash` answers from here on"), "{ended:?}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_prompt_that_is_blocked_is_asked_once_more_and_then_told() {
    let blocked = || Answer::events([json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    let server = Server::start(move |_| blocked()).await;
    let (ended, _) = run(FORMATS[0].host(&server)).await;
    assert_eq!(ended.code, Some(59), "{ended:?}");
    assert!(ended.stderr.contains("SAFETY") && ended.stderr.contains("help: "), "{ended:?}");
    assert_eq!(server.requests().len(), 2);
}
