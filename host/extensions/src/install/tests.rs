//! The question before a plugin is installed, asked and answered without a terminal.

use std::collections::BTreeMap;

use host_bundle::{Parts, Revoked, SecretKey, TrustStore, UpdateRefusal};
use host_manifest::Declared;
use host_plugin::RuntimeOptions;
use host_settings::environment::{Environment, Terminals};

use super::*;

/// A user and a publisher on one machine.
struct World {
    _root: tempfile::TempDir,
    folders: Folders,
    key: SecretKey,
    runtime: Runtime,
}

impl World {
    /// A user who trusts the publisher's key.
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let environment = Environment::new(BTreeMap::new(), Some(root.path().to_owned()), Terminals::default());
        let folders = environment.folders().expect("there is a home");
        let key = SecretKey::without_password().expect("a key");
        let world = Self { _root: root, folders, key, runtime: Runtime::new(RuntimeOptions::default()) };
        let pattern = "acme/*".parse().expect("a pattern");
        let trust =
            |trust: &mut host_bundle::Trust| trust.trust(world.key.public().clone(), vec![pattern], None, now());
        world.keys().change(trust).expect("trusted");
        world
    }

    fn keys(&self) -> TrustStore {
        TrustStore::at(self.folders.keys.clone())
    }

    /// Creates a plugin of the publisher that requests these scopes in addition to the one that its component imports.
    fn bundle(&self, version: &str, more: &[(&str, &str)]) -> Bundle {
        // The one component of the host whose tool no built-in plugin has.
        let lister = plugins::sources::lister(vec!["true".to_owned()]).expect("it is built in");
        let mut manifest = lister.manifest;
        manifest.name = "acme/lister".to_owned();
        manifest.version = version.parse().expect("a version");
        manifest.description = Some("Lists tools.".to_owned());
        for (name, scope) in more {
            let declared = Declared { scope: (*scope).to_owned(), reason: "to try it".to_owned(), optional: false };
            manifest.capabilities.insert((*name).to_owned(), declared);
        }
        let component = lister.plugin.component().expect("it is read").into_owned();
        let mut bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
        bundle.sign(&self.key).expect("signed");
        bundle
    }

    async fn plan(&self, bundle: Bundle, request: &InstallRequest) -> Result<InstallPlan, Failure> {
        let installer = Installer { request, folders: &self.folders, runtime: &self.runtime, now: now() };
        installer.plan(bundle, "test", &Target::for_user(&self.folders)?).await
    }

    /// The installation that waits for an answer.
    async fn asked(&self, bundle: Bundle, request: &InstallRequest) -> Installation {
        match self.plan(bundle, request).await {
            Ok(InstallPlan::Ready(installation)) => *installation,
            Ok(InstallPlan::AlreadyInstalled(version)) => panic!("{version} is installed"),
            Err(failure) => panic!("{failure:?}"),
        }
    }

    fn answer(&self, installation: Installation, answer: InstallAnswer) -> Option<InstallOutcome> {
        let mut target = Target::for_user(&self.folders).expect("a list");
        installation.install(answer, &mut target, &self.folders).expect("it can be written")
    }

    /// The plugins of the user's list, with what they may do without a question.
    fn installed(&self) -> Vec<(String, Agreed)> {
        let list = List::own(&self.folders).expect("a list");
        list.file.plugins.into_iter().map(|(name, locked)| (name, locked.grants)).collect()
    }
}

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("a time")
}

fn agreed(pairs: &[(&str, &str)]) -> Agreed {
    pairs.iter().map(|(name, scope)| ((*name).to_owned(), (*scope).to_owned())).collect()
}

#[tokio::test]
async fn install_accepted_grants_what_the_answer_allows() {
    let world = World::new();
    let installation =
        world.asked(world.bundle("1.0.0", &[("http", "GET a.example")]), &InstallRequest::default()).await;
    let question = installation.question();
    assert_eq!(question.capabilities, agreed(&[("http", "GET a.example"), ("process", "true $")]));
    assert_eq!(question.signers, Signers::Keys(vec![world.key.public().id()]));
    assert!(question.changes.is_none() && !question.is_answered);
    assert_eq!(world.installed(), [], "nothing is kept before the answer");

    let outcome = world.answer(installation, InstallAnswer::Install).expect("installed");
    assert_eq!((outcome.version.to_string().as_str(), &outcome.agreed), ("1.0.0", &Agreed::new()));
    assert_eq!(world.installed(), [("acme/lister".to_owned(), Agreed::new())]);

    let again = world.plan(world.bundle("1.0.0", &[("http", "GET a.example")]), &InstallRequest::default()).await;
    assert!(matches!(again, Ok(InstallPlan::AlreadyInstalled(_))), "the same bundle is not asked about again");

    let world = World::new();
    let installation =
        world.asked(world.bundle("1.0.0", &[("http", "GET a.example")]), &InstallRequest::default()).await;
    let outcome = world.answer(installation, InstallAnswer::InstallAndGrant).expect("installed");
    assert_eq!(outcome.agreed, agreed(&[("http", "GET a.example"), ("process", "true $")]));
    assert_eq!(world.installed(), [("acme/lister".to_owned(), outcome.agreed)]);
}

#[tokio::test]
async fn install_declined_keeps_nothing() {
    let world = World::new();
    let installation = world.asked(world.bundle("1.0.0", &[]), &InstallRequest::default()).await;
    assert_eq!(world.answer(installation, InstallAnswer::Decline), None);
    assert_eq!(world.installed(), []);
    assert!(!world.folders.plugins.exists(), "no bundle was kept");
}

#[tokio::test]
async fn install_request_answers_without_a_question() {
    let world = World::new();
    let grants = vec!["process=true $".to_owned()];
    for (request, expected) in [
        (InstallRequest { yes: true, ..InstallRequest::default() }, agreed(&[])),
        (InstallRequest { grants: grants.clone(), ..InstallRequest::default() }, agreed(&[("process", "true $")])),
    ] {
        let installation = world.asked(world.bundle("1.0.0", &[]), &request).await;
        assert!(installation.question().is_answered, "{request:?}");
        assert_eq!(world.answer(installation, InstallAnswer::Install).expect("installed").agreed, expected);
    }
    for (grant, says) in
        [("http", "does not ask for `http`"), ("process=false $", "does not ask for `process=false $`")]
    {
        let request = InstallRequest { grants: vec![grant.to_owned()], ..InstallRequest::default() };
        let failure = world.plan(world.bundle("2.0.0", &[]), &request).await.err().expect(says);
        assert!(failure.message.contains(says), "{failure:?}");
    }
}

#[tokio::test]
async fn install_from_a_revoked_or_unknown_signer_is_refused() {
    let world = World::new();
    let bundle = world.bundle("1.0.0", &[]);
    let id = world.key.public().id();
    world.keys().change(|trust| trust.revoke(Revoked::Key(id), "stolen", now())).expect("revoked");
    let any = InstallRequest { yes: true, allow_unsigned: true, ..InstallRequest::default() };
    let failure = world.plan(bundle, &any).await.err().expect("its key is revoked");
    assert!(
        failure.causes.iter().any(|cause| cause.to_string().contains("stolen")),
        "no flag allows that: {failure:?}"
    );
    assert_eq!((failure.kind, world.installed()), (ErrorKind::Untrusted, Vec::new()));

    let (world, stranger) = (World::new(), World::new());
    let request = InstallRequest::default();
    let failure = world.plan(stranger.bundle("1.0.0", &[]), &request).await.err().expect("nobody trusts its key");
    assert_eq!(failure.kind, ErrorKind::Untrusted);
    let request = InstallRequest { allow_unsigned: true, ..request };
    let installation = world.asked(stranger.bundle("1.0.0", &[]), &request).await;
    assert_eq!(installation.question().signers, Signers::Unsigned);
    assert_eq!(installation.question().not_counted.len(), 1);
}

#[tokio::test]
async fn install_update_asks_only_about_what_changed() {
    let world = World::new();
    let request = InstallRequest::default();
    let first = world.asked(world.bundle("1.0.0", &[]), &request).await;
    world.answer(first, InstallAnswer::InstallAndGrant).expect("installed");

    let same = world.asked(world.bundle("1.1.0", &[]), &request).await;
    assert!(same.question().is_answered && same.question().capabilities.is_empty(), "it asks for nothing new");
    let (version, changes) = same.question().changes.as_ref().expect("it replaces a version");
    assert_eq!((version.to_string().as_str(), changes.iter().count()), ("1.0.0", 0));

    let more = world.asked(world.bundle("1.2.0", &[("http", "a.example")]), &request).await;
    let question = more.question();
    assert!(!question.is_answered);
    assert_eq!(question.capabilities, agreed(&[("http", "a.example")]));
    assert!(question.changes.as_ref().is_some_and(|(_, changes)| changes.iter().count() > 0));
    let outcome = world.answer(more, InstallAnswer::Install).expect("installed");
    assert_eq!(outcome.agreed, agreed(&[("process", "true $")]), "what was agreed to before stays");

    let failure = world.plan(world.bundle("1.0.0", &[]), &request).await.err().expect("it is older");
    let (plugin, from, to) = ("acme/lister".to_owned(), Version::new(1, 2, 0), Version::new(1, 0, 0));
    assert_eq!(failure.message, UpdateRefusal::Downgrade { plugin, from, to }.to_string());
    let altered = world.bundle("1.2.0", &[("http", "b.example")]);
    let allow = Allow { downgrade: true, other_signers: true };
    let request = InstallRequest { allow, yes: true, ..InstallRequest::default() };
    assert!(world.plan(altered, &request).await.is_err(), "a version is published once");
}

// promise bundle.crowd
#[tokio::test]
async fn install_says_of_forged_signatures_how_many_there_are_and_what_to_do() {
    let world = World::new();
    let mut bundle = world.bundle("1.0.0", &[]);
    let [untrusted, signature, rest] = bundle.signatures()[0].text().splitn(3, '\n').collect::<Vec<_>>()[..] else {
        panic!("a signature has four lines")
    };
    let forged = format!("{untrusted}\n{}0000{}\n{rest}", &signature[..40], &signature[44..]);
    let forged = host_bundle::Signature::new(forged).expect("short");
    bundle = unsigned(&bundle);
    bundle.add_signature(forged).expect("added");
    bundle.set_other_signatures(904, 4_095);
    let Err(failure) = world.plan(bundle, &InstallRequest::default()).await else { panic!("nothing holds") };
    let causes = failure.notice().to_string();
    for part in ["it is forged or damaged", "4096 signatures were looked at, and none counts", "904 more signatures"] {
        assert!(causes.contains(part), "{causes}");
    }
    assert!(!causes.contains("get it again"), "{causes}");
    assert!(failure.help_text().as_deref().is_some_and(|help| help.contains("with --digest sha256:")), "{failure:?}");
}

// promise install.lookalikes
#[tokio::test]
async fn install_names_that_look_like_others_are_asked_about_unless_the_user_said_yes() {
    let world = World::new();
    let named = |name: &str| {
        let bundle = world.bundle("1.0.0", &[]);
        let (manifest, component) = (bundle.manifest().clone(), bundle.component().to_vec());
        let manifest = Manifest { name: name.to_owned(), ..manifest };
        Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed")
    };
    let unsigned = InstallRequest { allow_unsigned: true, ..InstallRequest::default() };
    let granted = InstallRequest { grants: vec!["process".to_owned()], ..unsigned.clone() };
    let agreed = InstallRequest { yes: true, ..unsigned };
    for (name, request, is_answered) in [("globs", &granted, true), ("g1ob", &granted, false), ("g1ob", &agreed, true)]
    {
        let installation = world.asked(named(name), request).await;
        assert_eq!(installation.question().is_answered, is_answered, "{name} {request:?}");
    }
}

fn unsigned(bundle: &Bundle) -> Bundle {
    let (manifest, component) = (bundle.manifest().clone(), bundle.component().to_vec());
    Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed")
}
