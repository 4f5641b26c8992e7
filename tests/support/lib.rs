//! What the tests share: one runtime with one cache, the guests that misbehave (built once), and a folder to work in.

pub mod debian;
pub mod host;
pub mod languages;
#[cfg(target_os = "linux")]
pub mod mounted;
pub mod picture;
pub mod pty;
pub mod registry;
pub mod server;
pub mod snapshot;
pub mod text_module;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use host_capability::{Capability, Grants, PluginName, Scope};
use host_devkit::{Programs, Tools};
use host_manifest::{Manifest, Source};
use host_message::{CallId, Output, OutputPart, ToolName};
use host_plugin::{CallError, CallListener, Invocation, Limits, Plugin, Runtime, RuntimeOptions, Workspace};

/// The root of this repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package lies in the repository").to_owned()
}

/// Adds the target of plugins where rustup manages the toolchain and lacks it.
pub fn add_target() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // Where there is no rustup the build says what is missing.
        Command::new("rustup").args(["target", "add", host_devkit::TARGET]).status().ok();
    });
}

/// The programs that build plugins.
pub fn tools() -> Tools {
    Tools {
        cargo: std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")),
        rustc: std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")),
        cargo_home: std::env::var_os("CARGO_HOME").map(PathBuf::from),
        zig_cache: None,
        go_cache: None,
        programs: Programs::default(),
    }
}

/// A guest of `tests/guests`, built once for all tests.
pub fn guest(name: &str) -> &'static Arc<Plugin> {
    static GUESTS: OnceLock<BTreeMap<String, Arc<Plugin>>> = OnceLock::new();
    let guests = GUESTS.get_or_init(|| {
        add_target();
        let built = host_devkit::build(&repository().join("tests/guests"), &tools()).expect("the guests build");
        built
            .into_iter()
            .map(|built| {
                let declared = built.manifest.capabilities.iter().fold(Grants::none(), |grants, (name, declared)| {
                    let capability = name.parse::<Capability>().expect("a capability");
                    grants.with(Scope::parse(capability, &declared.scope, Path::new("/")).expect("a scope"))
                });
                let name = built.manifest.name.clone();
                (name, Arc::new(Plugin::new(PluginName::new(&built.manifest.name), built.component, declared)))
            })
            .collect()
    });
    guests.get(name).unwrap_or_else(|| panic!("there is no guest `{name}`"))
}

/// The manifest of a built-in tool, as it is shipped.
pub fn built_in_manifest(name: &str) -> Manifest {
    let path = repository().join("plugins/dist").join(name).with_extension("json");
    let json = std::fs::read_to_string(&path).expect("each built-in tool has a manifest");
    Manifest::parse(&json, Source::File(path)).expect("and it is right")
}

/// A built-in tool as it is shipped, loaded once for all tests.
pub fn built_in(name: &str) -> Arc<Plugin> {
    static LOADED: Mutex<BTreeMap<String, Arc<Plugin>>> = Mutex::new(BTreeMap::new());
    // A tool that does not load fails its own test alone.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(loaded.entry(name.to_owned()).or_insert_with(|| {
        let manifest = built_in_manifest(name);
        let component = std::fs::read(repository().join("plugins/dist").join(name).with_extension("wasm"));
        let declared = manifest.declared(Path::new("/")).expect("its scopes make sense");
        Arc::new(Plugin::new(manifest.plugin_name(), component.expect("its component is there"), declared))
    }))
}

/// A folder that lives as long as the tests of this process, and is the same for all of them.
pub fn cache() -> PathBuf {
    repository().join("target/test-cache")
}

/// The time that a call of a test has.
pub const CALL_TIME: Duration = Duration::from_secs(12);

/// The runtime that all tests share.
pub fn runtime() -> &'static Arc<Runtime> {
    static RUNTIME: OnceLock<Arc<Runtime>> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Arc::new(Runtime::new(RuntimeOptions {
            cache: Some(cache()),
            state: Some(tempfile::tempdir().expect("a folder").keep()),
            environment: environment(),
            limits: Limits { time: CALL_TIME, ..Limits::default() },
            ..RuntimeOptions::default()
        }))
    })
}

fn environment() -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    [("PATH", path), ("LC_HARMLESS", "shown".into()), ("MY_API_KEY", "hidden".into())]
        .map(|(name, value)| (OsString::from(name), value))
        .to_vec()
}

/// A folder to work in, with a plugin that has grants there.
pub struct Bench {
    plugin: Arc<Plugin>,
    workspace: Arc<Workspace>,
    grants: Arc<Grants>,
    folder: tempfile::TempDir,
}

impl Bench {
    /// An empty workspace for a guest with these grants, each `CAPABILITY=SCOPE`.
    pub fn new(guest_name: &str, grants: &[&str]) -> Self {
        Self::with(Arc::clone(guest(guest_name)), grants)
    }

    /// The same for a built-in tool.
    pub fn built_in(name: &str, grants: &[&str]) -> Self {
        Self::with(built_in(name), grants)
    }

    /// The same for any plugin.
    pub fn with(plugin: Arc<Plugin>, grants: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(folder.path()).expect("it is there").join("workspace");
        std::fs::create_dir(&root).expect("made");
        let grants = Arc::new(parse_grants(grants, &root));
        Self { plugin, workspace: Arc::new(Workspace::new(root)), grants, folder }
    }

    /// The workspace.
    pub fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// The folder that the workspace lies in, which no grant of `.` covers.
    pub fn outside(&self) -> PathBuf {
        std::fs::canonicalize(self.folder.path()).expect("it is there")
    }

    /// Writes a file of the workspace.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("it is in the workspace")).expect("made");
        std::fs::write(path, content).expect("written");
        self
    }

    /// What a file of the workspace holds.
    pub fn content(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).expect("it is there")
    }

    /// An invocation of a tool.
    pub fn invocation(&self, tool: &str, arguments: serde_json::Value) -> Invocation {
        let (id, tool) = (CallId::new("test"), ToolName::new(tool));
        let (grants, workspace) = (Arc::clone(&self.grants), Arc::clone(&self.workspace));
        Invocation::new(id, tool, arguments.to_string(), grants, workspace)
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &str, arguments: serde_json::Value) -> Result<Output, CallError> {
        self.invoke(self.invocation(tool, arguments)).await
    }

    /// Makes a call.
    pub async fn invoke(&self, invocation: Invocation) -> Result<Output, CallError> {
        runtime().call(&self.plugin, invocation).await
    }

    /// Asks what a call would do.
    pub async fn preview(
        &self,
        tool: &str,
        arguments: serde_json::Value,
    ) -> Result<Option<host_plugin::Confirmation>, CallError> {
        runtime().preview(&self.plugin, self.invocation(tool, arguments)).await
    }

    /// Asks what a call would do, made as told.
    pub async fn invoke_preview(&self, invocation: Invocation) -> Result<Option<host_plugin::Confirmation>, CallError> {
        runtime().preview(&self.plugin, invocation).await
    }

    /// Asks for the arguments of a call that a person changed.
    pub async fn revise(
        &self,
        tool: &str,
        arguments: serde_json::Value,
        text: &str,
    ) -> Result<serde_json::Map<String, serde_json::Value>, CallError> {
        runtime().revise(&self.plugin, self.invocation(tool, arguments), text).await
    }

    /// Calls a tool; its text, or `error: ` and the error's.
    pub async fn text(&self, tool: &str, arguments: serde_json::Value) -> String {
        match self.call(tool, arguments).await {
            Ok(output) => text(&output),
            Err(error) => format!("error: {error}"),
        }
    }
}

/// Grants, each written `CAPABILITY=SCOPE`.
pub fn parse_grants(grants: &[&str], workspace: &Path) -> Grants {
    grants.iter().fold(Grants::none(), |all, grant| {
        let (capability, scope) = grant.split_once('=').expect("CAPABILITY=SCOPE");
        let capability = capability.parse::<Capability>().expect("a capability");
        all.with(Scope::parse(capability, scope, workspace).expect("a scope"))
    })
}

/// The text of an output.
pub fn text(output: &Output) -> String {
    output.content.iter().map(|part| if let OutputPart::Text(text) = part { text.as_str() } else { "" }).collect()
}

/// Waits for something that another task or program does, and fails the test when it does not come.
pub async fn eventually(happened: impl Fn() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("it happens within half a minute");
}

/// Keeps live output, and lets a test wait for the first of it.
#[derive(Debug, Default)]
pub struct Heard {
    text: std::sync::Mutex<String>,
    first: tokio::sync::Notify,
}

impl Heard {
    /// Waits until something was heard.
    pub async fn something(&self) {
        self.first.notified().await;
    }

    /// What was heard until now.
    pub fn text(&self) -> String {
        self.text.lock().expect("no listener panics").clone()
    }
}

impl CallListener for Heard {
    fn output(&self, text: &str) {
        self.text.lock().expect("no listener panics").push_str(text);
        self.first.notify_one();
    }

    fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}
}
