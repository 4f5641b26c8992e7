//! Configuration, the user's and a project's.

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use host_plugin::Digest;
use host_settings::configuration::Configuration;
use host_settings::environment::{Environment, Folders, Terminals};
use host_settings::project::{Part, ProjectFile};
use tempfile::TempDir;

struct Bench {
    _home: TempDir,
    environment: Environment,
    folders: Folders,
}

/// The user's configuration, a line of `---`, a project's. What is read can be used, and a project leaves the
/// services of the user as they are, and raises neither a limit nor the mode.
pub fn configuration(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (own, project) = text.split_once("\n---\n").unwrap_or((&text, ""));
    static BENCH: OnceLock<Bench> = OnceLock::new();
    let bench = BENCH.get_or_init(Bench::new);
    fs::write(bench.folders.configuration.join("config.toml"), own).expect("a file");
    let read = |project| Configuration::read(&bench.environment, &bench.folders, project);
    let configuration = match read(None) {
        Ok(configuration) => configuration,
        Err(failure) => return assert!(!failure.message.is_empty() && failure.help.is_some()),
    };
    use_it(&configuration);
    let services = |configuration: &Configuration| format!("{:?}", configuration.providers);
    let (services_before, mode) = (services(&configuration), configuration.approval_mode().value());
    let (limits, cost) = (configuration.limits(), cost(&configuration));
    let bytes = project.as_bytes().to_vec();
    let file = ProjectFile {
        path: "/p/.host/config.toml".into(),
        part: Part::Configuration,
        digest: Digest::of(&bytes),
        bytes,
    };
    if let Ok(both) = read(Some(&file)) {
        use_it(&both);
        assert_eq!(services(&both), services_before, "{project}");
        let less = both.limits();
        assert!(less.time <= limits.time && less.process_time <= limits.process_time, "{project}");
        assert!(less.memory <= limits.memory && self::cost(&both) <= cost, "{project}");
        assert!(both.approval_mode().value() <= mode, "{project}");
    }
}

/// The most that a run may cost.
fn cost(configuration: &Configuration) -> f64 {
    configuration.tree_limits().cost.map_or(f64::INFINITY, |cost| cost.amount())
}

fn use_it(configuration: &Configuration) {
    let _ = (configuration.commands(), configuration.prices(), configuration.limits());
    for model in configuration.models.values() {
        let _ = model.settings();
    }
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let environment = Environment::new(BTreeMap::new(), Some(home.path().to_owned()), Terminals::default());
        let folders = environment.folders().expect("there is a home");
        fs::create_dir_all(&folders.configuration).expect("a folder");
        Self { _home: home, environment, folders }
    }
}
