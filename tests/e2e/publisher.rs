//! A publisher of plugins, for tests of installing. Deliberately not here: registries, which `host_tests` has.

use std::path::PathBuf;

use host_bundle::{Bundle, KeyPair, Parts, SecretKey, SecretKeyFile};
use host_manifest::{Manifest, Source, SourceManifest};
use host_plugin::admission::CONTRACT;
use host_tests::host::{Ended, Host};
use host_tests::{guest, runtime};

/// A publisher with a key.
pub(crate) struct Publisher {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl Publisher {
    /// A publisher who makes plugins below this name.
    pub(crate) fn new(name: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let pair = KeyPair::generate("correct horse").expect("made");
        pair.write(&folder.path().join("key")).expect("written");
        std::fs::write(folder.path().join("key.pub"), pair.public().to_file()).expect("written");
        std::fs::write(folder.path().join("password"), "correct horse\n").expect("written");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(folder.path().join("password"), private).expect("set");
        Self { folder, name }
    }

    /// The file of the public key.
    pub(crate) fn public(&self) -> PathBuf {
        self.folder.path().join("key.pub")
    }

    /// The file of the secret key.
    pub(crate) fn secret(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// The file with the secret key's password.
    pub(crate) fn password(&self) -> PathBuf {
        self.folder.path().join("password")
    }

    /// The secret key.
    pub(crate) fn open(&self) -> SecretKey {
        SecretKeyFile::read(&self.secret()).expect("read").open("correct horse").expect("opened")
    }

    /// The public key, as a line.
    pub(crate) fn key(&self) -> String {
        let text = std::fs::read_to_string(self.public()).expect("it is there");
        text.parse::<host_bundle::PublicKey>().expect("a key").to_string()
    }

    /// The key's id.
    pub(crate) fn id(&self) -> String {
        let text = std::fs::read_to_string(self.public()).expect("it is there");
        text.parse::<host_bundle::PublicKey>().expect("a key").id().to_string()
    }

    /// The guest `counts` as a plugin of theirs that asks for these capabilities, whether or not it uses them.
    pub(crate) async fn bundle(&self, version: &str, capabilities: &[(&str, &str)]) -> Bundle {
        self.bundle_that(version, capabilities, "").await
    }

    /// The same with more of this in its plugin.toml.
    pub(crate) async fn bundle_that(&self, version: &str, capabilities: &[(&str, &str)], more: &str) -> Bundle {
        let table = |(name, scope): &(&str, &str)| {
            format!("[capabilities.{name}]\nscope = \"{scope}\"\nreason = \"to try it\"\n")
        };
        let text = format!(
            "name = \"{}/counts\"\nversion = \"{version}\"\nlicense = \"MIT\"\ndescription = \"Counts the lines of a file.\"\n{}{more}",
            self.name,
            capabilities.iter().map(table).collect::<String>()
        );
        let source = SourceManifest::parse(&text, &Source::File(PathBuf::from("plugin.toml"))).expect("it is right");
        let plugin = guest("counts");
        let tools = runtime().describe(plugin).await.expect("it describes itself");
        let manifest = Manifest::new(source, CONTRACT, tools).expect("it is right");
        let component = plugin.component().expect("it is read").into_owned();
        Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed")
    }

    pub(crate) fn sign(&self, bundle: &mut Bundle) {
        bundle.sign(&self.open()).expect("signed");
    }

    pub(crate) async fn signed(&self, version: &str, capabilities: &[(&str, &str)]) -> Bundle {
        let mut bundle = self.bundle(version, capabilities).await;
        self.sign(&mut bundle);
        bundle
    }
}

/// What it needs.
pub(crate) const READS: &[(&str, &str)] = &[("fs-read", "*")];

/// Writes a bundle into the folder of a host.
pub(crate) fn file(host: &Host, name: &str, bundle: &Bundle) -> String {
    let path = host.repository().join(name);
    std::fs::write(&path, bundle.to_archive()).expect("written");
    path.display().to_string()
}

/// Has the user of a host trust a publisher.
pub(crate) fn trust(host: &Host, publisher: &Publisher) {
    let key = publisher.public().display().to_string();
    done(host.run_of(&["keys", "trust", &key, "--for", &format!("{}/*", publisher.name)]));
}

/// Requires that a command worked; what it printed.
#[track_caller]
pub(crate) fn done(ended: Ended) -> Ended {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

/// Runs a command beside a server of this process.
pub(crate) async fn run_of(host: &Host, arguments: &[&str]) -> Ended {
    let command = host.command_of(arguments);
    std::thread::scope(|scope| scope.spawn(|| host.end(command)).join().expect("it ran"))
}
