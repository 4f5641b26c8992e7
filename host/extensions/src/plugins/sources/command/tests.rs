use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use host_plugin::{Runtime, RuntimeOptions, Workspace};
use host_settings::configuration::Configuration;
use host_settings::environment::{Environment, Terminals};
use host_settings::project::ProjectFiles;

use super::*;

/// A user whose configuration names a shell script that lists tools.
struct Bench {
    folder: tempfile::TempDir,
    configuration: Configuration,
    announced: Mutex<Vec<String>>,
}

impl Bench {
    fn new(script: &str) -> Self {
        let script = serde_json::to_string(script).expect("it is text");
        let text = format!("[tools]\ndiscovery_command = [\"sh\", \"-c\", {script}]\ncall_command = [\"echo\"]\n");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).expect("written");
        let variables = BTreeMap::from([("HOST_CONFIG".into(), file.into())]);
        let environment = Environment::new(variables, Some(folder.path().to_owned()), Terminals::default());
        let folders = environment.folders().expect("there is a home");
        let configuration = Configuration::read(&environment, &folders, None).expect("it is right");
        Self { folder, configuration, announced: Mutex::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        std::fs::canonicalize(self.folder.path()).expect("it is there").join(name)
    }

    async fn find(&self, cancel: &CancellationToken) -> Result<LoadedPlugin, Failure> {
        let at = |name: &str| self.path(name);
        let environment = Environment::new(BTreeMap::new(), Some(at("home")), Terminals::default());
        let folders = environment.folders().expect("there is a home");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let options = RuntimeOptions { environment: vec![("PATH".into(), path)], ..RuntimeOptions::default() };
        let context = SourceContext {
            configuration: &self.configuration,
            project: &ProjectFiles::default(),
            folders: &folders,
            workspace: &Arc::new(Workspace::new(at(""))),
            runtime: &Runtime::new(options),
            progress: &|words| self.announced.lock().expect("nothing panics").push(words.to_owned()),
        };
        let commands = self.configuration.commands().expect("they are configured");
        find(commands, &context, &[], cancel).await.plugin
    }

    /// The id of the process that wrote it into a file, once it did.
    async fn begun(&self) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            match std::fs::read_to_string(self.path("pid")) {
                Ok(pid) if pid.ends_with('\n') => return pid.trim().to_owned(),
                _ => assert!(Instant::now() < until, "it does not begin"),
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Waits until the process no longer exists.
async fn gone(pid: &str) {
    let until = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < until, "{pid} survived");
        tokio::task::yield_now().await;
    }
}

// promise command-tools.ends: Neither command outlives its time limit or a cancellation.
#[tokio::test]
async fn discovery_that_never_ends_is_announced_and_ended_at_its_time_limit() {
    let bench = Bench::new("echo $$ > pid; exec sleep 1011");
    let stop = CancellationToken::new();
    let paused = async {
        let pid = bench.begun().await;
        // Now time passes whenever nothing else can.
        tokio::time::pause();
        pid
    };
    let (found, pid) = tokio::join!(bench.find(&stop), paused);
    let failure = found.map(drop).expect_err("it takes too long");
    assert_eq!(failure.kind, ErrorKind::Configuration);
    assert!(
        failure.message.contains("sleep 1011") && failure.message.ends_with("took longer than 30 s"),
        "{failure:?}"
    );
    let announced = bench.announced.lock().expect("nothing panics").clone();
    assert!(announced.len() == 1 && announced[0].starts_with("waiting for `echo $$"), "{announced:?}");
    gone(&pid).await;
}

// promise command-tools.ends
#[tokio::test]
async fn discovery_ends_when_cancelled() {
    let bench = Bench::new("echo $$ > pid; exec sleep 1012");
    let stop = CancellationToken::new();
    let cancelled = async {
        let pid = bench.begun().await;
        stop.cancel();
        pid
    };
    let (found, pid) = tokio::join!(bench.find(&stop), cancelled);
    assert_eq!(found.map(drop).expect_err("it is cancelled").kind, ErrorKind::Cancelled);
    gone(&pid).await;
}

#[tokio::test]
async fn discovery_finds_the_present_list_each_time() {
    let bench = Bench::new("cat list");
    let stop = CancellationToken::new();
    for names in [&["a"][..], &["a", "b"], &[]] {
        let list: Vec<_> = names.iter().map(|name| serde_json::json!({ "name": name })).collect();
        std::fs::write(bench.path("list"), serde_json::json!(list).to_string()).expect("written");
        let found = bench.find(&stop).await.expect("it is a list");
        let found: Vec<_> = found.manifest.tools.iter().map(|tool| tool.spec.name.as_str()).collect();
        assert_eq!(found, names);
    }
    assert!(bench.announced.lock().expect("nothing panics").is_empty());
}
