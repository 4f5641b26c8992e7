//! How many questions a day of work costs in each mode, if the user gives the widest lasting answer whenever one is
//! offered.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use host_app::app::{self, App, Opening, Tooling};
use host_app::session::{Session, SessionRequest};
use host_settings::environment::{Environment, Terminals};
use host_settings::project::question::{TrustAnswer, TrustQuestion};
use host_settings::request::{AccessRequest, Attended, FolderRequest, RunRequest};
use host_tests::cache;
use host_tests::host::Host;
use host_tool::{Answer, ApprovalMode, Lasting, Listener, Notice, Until};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{call, shell};

const DAY: &str = include_str!("day.txt");

/// Programs that are not to do anything here: the questions are about their words.
const STUBS: &[&str] = &[
    "cargo", "npm", "npx", "node", "gh", "git", "curl", "make", "python3", "perl", "ps", "sleep", "rg", "jq", "bc",
    "ldd", "nm", "strings", "file", "df", "du",
];

/// The calls, one in a reply.
fn replies() -> Vec<Value> {
    let lines = DAY.lines().filter(|line| !line.starts_with('#'));
    let of_line = |(at, line): (usize, &str)| {
        let (kind, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let call = match kind {
            "$" => shell(rest),
            "w" => call("write_file", json!({"path": rest, "content": format!("{at}\n")})),
            "r" => call("ls", json!({})),
            "f" => call("web_fetch", json!({"url": rest})),
            _ => panic!("{line}"),
        };
        json!({"chunks": [call]})
    };
    lines.enumerate().map(of_line).chain([json!({"chunks": [{"text": "Done."}]})]).collect()
}

/// Answers each question, a page is never fetched; returns how many there were when it is dropped with its future.
async fn answers(listener: &mut Listener, asked: &mut usize) {
    while let Some(notice) = listener.next().await {
        let Notice::Asked { id, question } = notice else { continue };
        *asked += 1;
        let offered = |wanted: Lasting| {
            question.always.iter().any(|always| (always.answer, always.until) == (wanted, Until::TakenBack))
        };
        let lasting = [Lasting::AlwaysTool, Lasting::Always].into_iter().find(|lasting| offered(*lasting));
        let answer = match lasting {
            _ if question.call.name.as_str() == "web_fetch" => Answer::Cancel { reason: None },
            Some(lasting) => Answer::Proceed { lasting, until: Until::TakenBack },
            None => Answer::ProceedOnce,
        };
        listener.answer(id, answer).expect("nobody else answers");
    }
}

async fn questions(mode: ApprovalMode) -> usize {
    let replies = replies();
    let host = Host::scripted(&replies, &[]).in_git();
    let stubs = host.home().join("bin");
    fs::create_dir(&stubs).expect("made");
    for name in STUBS {
        let path = stubs.join(name);
        fs::write(&path, "#!/bin/sh\nexit 0\n").expect("written");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it can be run");
    }
    let path = format!("{}:/usr/bin:/bin", stubs.display());
    let variables = [("PATH", path.into()), ("XDG_CACHE_HOME", cache().into())];
    let variables = BTreeMap::from(variables.map(|(name, value)| (name.into(), value)));
    let environment = Environment::new(variables, Some(host.home().to_owned()), Terminals::default());
    let folders = environment.folders().expect("there is a home");
    let place = FolderRequest { folder: Some(host.repository().to_owned()), any_folder: false };
    let project = app::project(&place, &folders).expect("it can be read");
    let project = match TrustQuestion::about(project) {
        Ok(question) => question.answer(TrustAnswer::Trust, &folders).expect("it is written down"),
        Err(project) => *project,
    };
    let access = AccessRequest { approval_mode: Some(mode), ..AccessRequest::default() };
    let script = host.home().join("script.jsonl");
    let run = RunRequest { model: Some(format!("scripted:{}", script.display())), ..RunRequest::default() };
    let request = SessionRequest { run, resume: None, has_prompt: true, attended: Attended::Yes };
    let cancel = CancellationToken::new();
    let tooling = Tooling::default();
    let opening = Opening { place: &place, access: &access, project, environment: &environment, tooling: &tooling };
    let app = App::open(opening, &|_| {}, &cancel).await.expect("it opens");
    let mut session = Session::start(app, request).await.expect("it starts");
    let mut listener = session.approvals().listen();
    let mut asked = 0;
    let prompt = session.attach("Work", &cancel).await.expect("nothing is attached");
    let result = tokio::select! {
        result = session.prompt(prompt, &cancel) => result,
        () = answers(&mut listener, &mut asked) => panic!("the session stopped asking"),
    };
    assert_eq!(result.result.as_deref(), Some("Done."), "{result:?}");
    asked
}

/// The figures stand in docs/approvals.md.
#[tokio::test(flavor = "multi_thread")]
async fn approval_modes_ask_ever_fewer_questions_on_a_day_of_work() {
    let calls = replies().len() - 1;
    assert!(calls >= 200, "{calls}");
    let mut counted = Vec::new();
    for mode in [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Auto] {
        counted.push(questions(mode).await);
    }
    let said = format!(
        "{calls} calls: {} questions in `default`, {} in `auto-edit`, {} in `auto`",
        counted[0], counted[1], counted[2]
    );
    let page = include_str!("../../../../docs/approvals.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&said), "docs/approvals.md does not say: {said}");
}
