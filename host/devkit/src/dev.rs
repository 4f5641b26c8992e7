//! The inner loop of an author: builds a plugin, runs its cases, and again whenever its sources change.
//!
//! Promises: what lies in the target folder was built whole and passed its cases; a round that fails leaves it as it
//! was, and watching continues. A change during a round is one more round after it. Nothing that a round writes starts
//! another: rounds start where the content of a source differs from when the last one started.
//!
//! Deliberately not here: what counts as a source (`sources`), noticing changes (`watch`), and showing the events.

mod sources;
mod watch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host_manifest::Manifest;
use host_plugin::{Runtime, RuntimeOptions};
use tokio_util::sync::CancellationToken;

use self::sources::{Snapshot, Sources};
use self::watch::Watch;
use crate::build::Tools;
use crate::built::{self, BuildOutput, BuiltPlugin, PluginError};
use crate::cases::{self, CaseError, CaseOptions, CaseResult};

pub use sources::{Changed, TooManySources};
pub use watch::WatchError;

/// The input of a session.
#[derive(Clone, Debug)]
pub struct DevOptions {
    /// The package or workspace.
    pub folder: PathBuf,
    /// Target folder for the components and their manifests; `None` is `dist` in the folder.
    pub target: Option<PathBuf>,
    /// The programs that build Rust.
    pub tools: Tools,
    /// The cases to run.
    pub cases: CaseOptions,
}

/// Something that happened, in the order in which it did.
#[derive(Debug)]
pub enum DevEvent<'a> {
    /// Watching started.
    Watching {
        /// The folder.
        folder: &'a Path,
        /// Number of watched files.
        files: usize,
    },
    /// A round started.
    Round {
        /// Changes since the previous round.
        changed: &'a Changed,
        /// The folder.
        folder: &'a Path,
    },
    /// The plugins were built.
    Built {
        /// The plugins.
        plugins: &'a [BuiltPlugin],
        /// The manifests of the last build that succeeded.
        before: &'a [Manifest],
        /// Duration of the build.
        took: Duration,
    },
    /// The sources do not build.
    NotBuilt {
        /// Why.
        error: &'a DevError,
        /// Whether the target has an earlier build.
        before: bool,
    },
    /// A case ended.
    Case(&'a CaseResult),
    /// All cases ended.
    Cases {
        /// Their results.
        results: &'a [CaseResult],
        /// The filter of their names.
        filter: Option<&'a str>,
    },
    /// The round was good, and its plugins were written.
    Good(&'a [BuiltPlugin]),
    /// A case failed, and nothing was written.
    NotKept {
        /// Whether the target has an earlier build.
        before: bool,
    },
    /// Something else failed.
    Failed(&'a DevError),
}

/// Why a plugin cannot be watched, or a round failed.
#[derive(Debug, thiserror::Error)]
pub enum DevError {
    /// A folder cannot be used.
    #[error("cannot use the folder `{}`: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The folder has no plugin.
    #[error("there is no plugin in `{}`", .0.display())]
    NoPlugin(PathBuf),
    /// The target has the sources in it.
    #[error("`{}` contains the sources: writing there would start a build again and again", .0.display())]
    TargetHasSources(PathBuf),
    /// There are too many sources.
    #[error(transparent)]
    Sources(#[from] TooManySources),
    /// The system does not report changes.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// The plugin was not built or written.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The cases were not run.
    #[error(transparent)]
    Cases(#[from] CaseError),
}

impl DevError {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::NoPlugin(_) => {
                "name a folder with a plugin.toml, or a cargo workspace with such folders; `host plugin new` makes a \
                 plugin"
            }
            Self::TargetHasSources(_) => "name a folder outside of the sources with --out DIR",
            Self::Sources(error) => error.help(),
            Self::Watch(error) => error.help(),
            Self::Plugin(error) => return error.help(),
            Self::Folder { .. } | Self::Cases(_) => return None,
        };
        Some(help.to_owned())
    }
}

/// A package or workspace that is watched, and what is known from one round to the next.
pub struct DevSession {
    runtime: Runtime,
    folder: PathBuf,
    target: PathBuf,
    tools: Tools,
    cases: CaseOptions,
    sources: Sources,
    /// The last build; `None` while the sources do not build.
    output: Option<BuildOutput>,
    /// The manifests of the last build that succeeded.
    manifests: Vec<Manifest>,
    /// The files in the target that were written here.
    written: BTreeSet<PathBuf>,
}

/// Gets each event. It must not wait.
pub type OnDevEvent<'a> = &'a (dyn Fn(DevEvent<'_>) + Send + Sync);

impl DevSession {
    /// Prepares a folder to be watched, and makes the target.
    ///
    /// # Errors
    ///
    /// When the folder has no plugin, or one of the two cannot be used.
    pub fn open(options: DevOptions) -> Result<Self, DevError> {
        let DevOptions { folder: wanted, target, tools, cases } = options;
        let unusable = |path: &Path, error| DevError::Folder { path: path.to_owned(), error };
        let folder = std::fs::canonicalize(&wanted).map_err(|error| unusable(&wanted, error))?;
        if !["plugin.toml", "Cargo.toml"].iter().any(|name| folder.join(name).is_file()) {
            return Err(DevError::NoPlugin(wanted));
        }
        let usual = || if wanted == Path::new(".") { PathBuf::from("dist") } else { wanted.join("dist") };
        let target = target.unwrap_or_else(usual);
        std::fs::create_dir_all(&target).map_err(|error| unusable(&target, error))?;
        let real = std::fs::canonicalize(&target).map_err(|error| unusable(&target, error))?;
        if folder.starts_with(&real) {
            return Err(DevError::TargetHasSources(target));
        }
        let (cache, compile) = (cases.cache.clone(), cases.compile.clone());
        let runtime = Runtime::new(RuntimeOptions { cache, compile, ..RuntimeOptions::default() });
        let sources = Sources::new(folder.clone(), real);
        let (output, manifests, written) = (None, Vec::new(), BTreeSet::new());
        Ok(Self { runtime, folder, target, tools, cases, sources, output, manifests, written })
    }

    /// Returns the target folder, as the author wrote it.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Runs a round, and another after each change, until it is stopped.
    ///
    /// # Errors
    ///
    /// When the sources cannot be watched. A round that fails is an event.
    pub async fn run(mut self, report: OnDevEvent<'_>, stop: &CancellationToken) -> Result<(), DevError> {
        let mut watch = Watch::new()?;
        let mut seen = self.look(&mut watch)?;
        report(DevEvent::Watching { folder: &self.folder, files: seen.files() });
        self.round(&Changed::default(), report, stop).await;
        while !stop.is_cancelled() {
            match self.look(&mut watch) {
                Ok(now) => {
                    let changed = now.since(&seen);
                    seen = now;
                    if !changed.is_nothing() {
                        self.round(&changed, report, stop).await;
                        continue;
                    }
                }
                Err(error) => report(DevEvent::Failed(&error)),
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = watch.settled() => {}
            }
        }
        Ok(())
    }

    /// Returns the current sources, and watches them for changes.
    fn look(&self, watch: &mut Watch) -> Result<Snapshot, DevError> {
        loop {
            let snapshot = self.sources.look()?;
            // Something may have come into a new folder before it was watched.
            if !watch.only(snapshot.folders())? {
                return Ok(snapshot);
            }
        }
    }

    /// Builds what has to be built, runs the cases, keeps what is good, and reports all of it.
    async fn round(&mut self, changed: &Changed, report: OnDevEvent<'_>, stop: &CancellationToken) {
        report(DevEvent::Round { changed, folder: &self.folder });
        let output = match self.output.take() {
            Some(output) if changed.is_cases_alone() => output,
            Some(_) | None => {
                let begun = Instant::now();
                // A build is not cut short: what it runs gets the Ctrl-C of the terminal by itself.
                match built::build_plugins(&self.folder, self.tools.clone(), &self.runtime).await {
                    Ok(output) => {
                        let (plugins, took) = (output.plugins.as_slice(), begun.elapsed());
                        report(DevEvent::Built { plugins, before: &self.manifests, took });
                        self.manifests = plugins.iter().map(|plugin| plugin.manifest.clone()).collect();
                        self.sources.also(output.elsewhere.clone());
                        output
                    }
                    Err(_) if stop.is_cancelled() => return,
                    Err(error) => {
                        let (error, before) = (DevError::from(error), !self.written.is_empty());
                        return report(DevEvent::NotBuilt { error: &error, before });
                    }
                }
            }
        };
        let good = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            good = self.try_cases(&output.plugins, report) => good,
        };
        match if good { self.keep(&output) } else { Ok(()) } {
            Ok(()) if good => report(DevEvent::Good(&output.plugins)),
            Ok(()) => report(DevEvent::NotKept { before: !self.written.is_empty() }),
            Err(error) => report(DevEvent::Failed(&error)),
        }
        self.output = Some(output);
    }

    /// Runs the cases and returns whether all pass.
    async fn try_cases(&self, plugins: &[BuiltPlugin], report: OnDevEvent<'_>) -> bool {
        let ended = |case: &CaseResult, _: Option<&CaseResult>| report(DevEvent::Case(case));
        match cases::run_cases(plugins, &self.cases, ended).await {
            Ok(results) => {
                report(DevEvent::Cases { results: &results, filter: self.cases.filter.as_deref() });
                results.iter().all(CaseResult::passed)
            }
            Err(error) => {
                report(DevEvent::Failed(&error.into()));
                false
            }
        }
    }

    /// Writes what was built, and removes files of plugins that no longer exist.
    fn keep(&mut self, output: &BuildOutput) -> Result<(), DevError> {
        output.write(&self.target)?;
        let written = output.names();
        for name in self.written.difference(&written) {
            // Somebody else may have taken it away.
            std::fs::remove_file(self.target.join(name)).ok();
        }
        self.written = written;
        Ok(())
    }
}
