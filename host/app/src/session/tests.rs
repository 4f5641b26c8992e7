use std::collections::BTreeMap;
use std::path::Path;

use host_capability::Capability;
use host_settings::environment::{Environment, Terminals};
use host_settings::project::Project;
use host_settings::request::{AccessRequest, Attended, FolderRequest};
use host_tool::ApprovalMode;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::app::{Opening, Tooling};

/// A session with a scripted model in a repository of its own; the folders live as long as they are held.
async fn session(replies: &str) -> (Session, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let (home, repository) = (folder.path().join("home"), folder.path().join("repository"));
    std::fs::create_dir_all(repository.join(".git")).expect("made");
    std::fs::create_dir_all(&home).expect("made");
    let script = home.join("script.jsonl");
    std::fs::write(&script, replies).expect("written");
    let environment = Environment::new(BTreeMap::new(), Some(home), Terminals::default());
    let place = FolderRequest { folder: Some(repository), any_folder: false };
    let folders = environment.folders().expect("there is a home");
    let root = std::fs::canonicalize(place.folder.as_deref().unwrap_or(Path::new("."))).expect("it is there");
    let project = Project::find(&root, &folders).expect("it brings nothing");
    let stop = CancellationToken::new();
    let access = AccessRequest::default();
    let tooling = Tooling::default();
    let opening = Opening { place: &place, access: &access, project, environment: &environment, tooling: &tooling };
    let app = App::open(opening, &|_| {}, &stop).await.expect("it opens");
    let run = RunRequest { model: Some(format!("scripted:{}", script.display())), ..RunRequest::default() };
    let request = SessionRequest { run, has_prompt: true, attended: Attended::Yes, ..SessionRequest::default() };
    (Session::start(app, request).await.expect("it starts"), folder)
}

/// The environment that the model is told and the grants of each plugin, which a mode decides.
fn decided(session: &Session) -> (ApprovalMode, String, Vec<String>, Option<String>) {
    let grants =
        session.app.plugins.iter().map(|plugin| format!("{:?}", session.grants().granted_to(plugin))).collect();
    let told = session.surroundings.iter().flat_map(|surroundings| surroundings.texts());
    let environment = told.map(|text| text.text).next();
    (session.mode(), session.conversation.gate.mode().to_string(), grants, environment)
}

#[tokio::test]
async fn session_change_of_mode_that_fails_changes_nothing() {
    let (mut session, _folder) = session("").await;
    let before = decided(&session);
    // Two plugins with the same tools cannot be put together.
    let double = session.app.plugins.first().expect("there are built-in plugins").clone();
    session.app.plugins.push(double);
    let failure = session.set_mode(ApprovalMode::Plan).expect_err("the tools cannot be put together");
    assert!(failure.message.contains("has two tools"), "{failure:?}");
    session.app.plugins.pop();
    assert_eq!(decided(&session), before);
    // And the next change starts from what is there.
    session.set_mode(ApprovalMode::Plan).expect("it can be changed");
    let (mode, gate, _, environment) = decided(&session);
    assert_eq!((mode, gate.as_str()), (ApprovalMode::Plan, "plan"));
    assert_ne!(environment, before.3);
}

#[tokio::test]
async fn session_access_is_replaced_whole_and_a_call_under_way_keeps_what_it_took() {
    let (mut session, folder) = session("").await;
    let added = folder.path().join("added");
    std::fs::create_dir(&added).expect("made");
    let added = std::fs::canonicalize(added).expect("it is there");
    let taken = session.app.runtime.access();
    assert_eq!(session.add_folder(&added.to_string_lossy()).expect("it is a folder"), added);
    let now = session.app.runtime.access();
    assert_eq!(
        (now.added.as_slice(), session.grants().added()),
        ([added.clone()].as_slice(), [added.clone()].as_slice())
    );
    assert!(now.programs.writable.contains(&added) && !taken.programs.writable.contains(&added));
    assert!(taken.added.is_empty(), "{taken:?}");
    // Another conversation begins without what was allowed in the last one.
    let readable = std::fs::canonicalize(folder.path()).expect("it is there").join("home/notes");
    assert!(now.reads.allow(&readable), "the user can be asked about it");
    session.clear().expect("a log can be made");
    let renewed = session.app.runtime.access();
    assert!(renewed.reads.allowed().is_empty() && session.grants().reads().allowed().is_empty());
    assert_eq!(renewed.added, [added]);
}

// promise conversation.review
#[tokio::test]
async fn session_review_only_narrows_what_tools_may_touch_and_its_end_restores_it() {
    let (mut session, _folder) = session("").await;
    let modes = [ApprovalMode::Plan, ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo];
    for mode in modes {
        session.set_mode(mode).expect("it can be changed");
        let before = decided(&session);
        let wide: Vec<_> = session.app.plugins.iter().map(|plugin| session.grants().granted_to(plugin)).collect();
        let held = session.begin_review().expect("it can be narrowed");
        assert!(session.mode() <= ApprovalMode::Default && session.mode() <= mode);
        for (plugin, wide) in session.app.plugins.iter().zip(wide) {
            let (granted, ceiling) = (session.grants().granted_to(plugin), session.grants().ceiling_of(plugin));
            let changes = |grants: &host_capability::Grants, capability| grants.has(capability);
            for capability in [Capability::FsWrite, Capability::Http] {
                assert!(!changes(&granted, capability) && !changes(&ceiling, capability), "{mode} {granted}");
            }
            assert!(!granted.has(Capability::Process), "{mode}: programs that do more than read are asked about");
            assert!(granted.le(&wide), "{mode}: a review grants nothing: {granted} is not within {wide}");
        }
        session.end_review(held).expect("it was so before");
        assert_eq!(decided(&session), before, "{mode}");
    }
}

#[tokio::test]
async fn session_observers_all_receive_every_event() {
    #[derive(Default)]
    struct Count(std::sync::atomic::AtomicUsize);
    impl host_agent::Observer for Count {
        fn event(&self, _: &host_agent::Event<'_>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let (mut session, _folder) = session("{\"chunks\": [{\"text\": \"Done.\"}]}\n").await;
    let counts = [Arc::new(Count::default()), Arc::new(Count::default())];
    counts.iter().for_each(|count| session.observers().add(Arc::clone(count) as Arc<_>));
    let cancel = CancellationToken::new();
    let prompt = session.attach("go", &cancel).await.expect("nothing is attached");
    let result = session.prompt(prompt, &cancel).await;
    assert_eq!(result.result.as_deref(), Some("Done."));
    let [one, other] = counts.map(|count| count.0.load(std::sync::atomic::Ordering::Relaxed));
    assert!(one > 0 && one == other, "{one} and {other} events");
}
