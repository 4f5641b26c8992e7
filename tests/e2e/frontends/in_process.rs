//! A frontend without a terminal: the application library, driven by plain values.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use host_agent::{Event, EventKind, Observer};
use host_app::app::{self, App, Opening, Tooling};
use host_app::session::resume::Resume;
use host_app::session::{Session, SessionRequest};
use host_extensions::install::{self, InstallAnswer, InstallPlan, InstallRequest, Installer, Target};
use host_plugin::Confirmation;
use host_settings::environment::{Environment, Folders, Terminals};
use host_settings::project::question::{TrustAnswer, TrustQuestion};
use host_settings::request::{AccessRequest, Attended, FolderRequest, RunRequest};
use host_tests::host::Host;
use host_tests::{cache, runtime as plugin_runtime};
use host_tool::{Answer, ApprovalMode, Listener, Notice};
use jiff::Timestamp;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{Frontend, Reply};

pub(super) struct InProcess {
    runtime: Runtime,
    session: Session,
    listener: Listener,
    begun: Arc<Begun>,
}

/// Notices that a program has printed something.
#[derive(Default)]
struct Begun(Notify);

impl Observer for Begun {
    fn event(&self, event: &Event<'_>) {
        if let EventKind::ToolCallOutput { .. } = event.kind {
            self.0.notify_one();
        }
    }
}

/// The environment of the application, and where it keeps its files.
fn surroundings(host: &Host) -> (Environment, Folders) {
    let variables = [("PATH", std::env::var_os("PATH").unwrap_or_default()), ("XDG_CACHE_HOME", cache().into())];
    let variables = BTreeMap::from(variables.map(|(name, value)| (name.into(), value)));
    let environment = Environment::new(variables, Some(host.home().to_owned()), Terminals::default());
    let folders = environment.folders().expect("there is a home");
    (environment, folders)
}

/// Answers the questions that come, in order, and each that comes after them with a yes.
async fn answer(listener: &mut Listener, replies: &[Reply]) {
    let mut replies = replies.iter();
    while let Some(notice) = listener.next().await {
        let Notice::Asked { id, question } = notice else { continue };
        let answer = match replies.next().unwrap_or(&Reply::Yes) {
            Reply::Yes => Answer::ProceedOnce,
            Reply::No => Answer::Cancel { reason: None },
            Reply::Change => {
                let Confirmation::Edit { proposed, .. } = &question.confirmation else {
                    panic!("only an edit is changed here, not {question:?}")
                };
                Answer::Modify { text: proposed.replace("the model's", "the user's") }
            }
        };
        listener.answer(id, answer).expect("nobody else answers");
    }
}

impl Frontend for InProcess {
    fn start(host: &Host, script: &Path, resumes: bool) -> Self {
        let runtime = Runtime::new().expect("threads");
        let (environment, folders) = surroundings(host);
        let place = FolderRequest { folder: Some(host.repository().to_owned()), any_folder: false };
        let project = app::project(&place, &folders).expect("it can be read");
        let project = match TrustQuestion::about(project) {
            Ok(question) => {
                assert!(!resumes, "it was trusted before");
                assert!(question.changes().is_none() && !question.runs_programs(), "{question:?}");
                question.answer(TrustAnswer::Trust, &folders).expect("it is written down")
            }
            Err(project) => *project,
        };
        let access = AccessRequest { approval_mode: Some(ApprovalMode::Default), ..AccessRequest::default() };
        let run = RunRequest { model: Some(format!("scripted:{}", script.display())), ..RunRequest::default() };
        let resume = resumes.then_some(Resume::Last);
        let request = SessionRequest { run, resume, has_prompt: true, attended: Attended::Yes };
        let session = runtime.block_on(async {
            let stop = CancellationToken::new();
            let (tooling, environment) = (Tooling::default(), &environment);
            let opening = Opening { place: &place, access: &access, project, environment, tooling: &tooling };
            let app = App::open(opening, &|_| {}, &stop).await.expect("it opens");
            Session::start(app, request).await.expect("it starts")
        });
        assert_eq!(session.is_resumed(), resumes);
        let begun = Arc::new(Begun::default());
        session.observers().add(Arc::clone(&begun) as Arc<_>);
        let listener = session.approvals().listen();
        Self { runtime, session, listener, begun }
    }

    fn install(host: &Host, bundle: &Path, yes: bool) {
        let (_, folders) = surroundings(host);
        let request = InstallRequest::default();
        let installer =
            Installer { request: &request, folders: &folders, runtime: plugin_runtime(), now: Timestamp::now() };
        let mut target = Target::for_user(&folders).expect("a list");
        let bundle = install::read_bundle(bundle).expect("a bundle");
        let plan = Runtime::new().expect("threads").block_on(installer.plan(bundle, "counts.tar", &target));
        let InstallPlan::Ready(installation) = plan.expect("it may be installed") else { panic!("it is installed") };
        assert!(!installation.question().is_answered, "reading files is new");
        let answer = if yes { InstallAnswer::Install } else { InstallAnswer::Decline };
        let outcome = installation.install(answer, &mut target, &folders).expect("it can be written");
        assert_eq!(outcome.is_some(), yes, "{outcome:?}");
    }

    fn prompt(&mut self, text: &str, replies: &[Reply], end: &str) {
        let Self { runtime, session, listener, .. } = self;
        let result = runtime.block_on(async {
            let cancel = CancellationToken::new();
            let prompt = session.attach(text, &cancel).await.expect("nothing is attached");
            tokio::select! {
                result = session.prompt(prompt, &cancel) => result,
                () = answer(listener, replies) => panic!("the session stopped asking"),
            }
        });
        assert_eq!(result.result.as_deref(), Some(end), "{result:?}");
    }

    fn cancel(&mut self, text: &str) {
        let Self { runtime, session, listener, begun } = self;
        let before = session.history().contents().len();
        let result = runtime.block_on(async {
            let cancel = CancellationToken::new();
            let prompt = session.attach(text, &cancel).await.expect("nothing is attached");
            let cancels = async {
                begun.0.notified().await;
                cancel.cancel();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                result = session.prompt(prompt, &cancel) => result,
                () = answer(listener, &[]) => panic!("the session stopped asking"),
                () = cancels => panic!("it never ends"),
            }
        });
        assert!(result.result.is_none(), "{result:?}");
        assert_eq!(session.history().contents().len(), before + 3, "prompt, call and its outcome are kept");
    }

    fn leave(self) {}
}
