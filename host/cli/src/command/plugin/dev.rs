//! `host plugin dev`: builds a plugin, runs its cases, and does so again whenever its sources change.
//!
//! Promises: what lies in the folder that it writes to was built whole and passed its cases; a round that fails leaves it
//! as it was and is told, and watching goes on. A change during a round is one more round after it. Nothing that a round
//! writes begins another: rounds begin where the content of a source is another than when the last one began.
//!
//! Deliberately not here: what counts as a source (`sources`), hearing of changes (`watch`), the words (`report`).

mod report;
mod sources;
mod watch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use host_app::environment::Environment;
use host_app::error::Failure;
use host_manifest::Manifest;
use host_plugin::Runtime;
use tokio_util::sync::CancellationToken;

use self::report::Report;
use self::sources::{Changed, Snapshot, Sources};
use self::watch::{Watch, WatchError};
use super::build::{self, Made, Ready};
use super::test::{self, Ended};
use crate::arguments::dev::PluginDev;
use crate::exit::Code;
use crate::printer::{self, Out, Style};

pub(super) async fn run(dev: PluginDev, environment: &Environment, stop: CancellationToken) -> Result<Code, Failure> {
    // A reader that goes away ends it as Ctrl-C does.
    let out = Out::new(stop.clone());
    let mut session = Session::of(dev, environment, out)?;
    let mut watch = Watch::new().map_err(|error| unwatched(&error))?;
    let mut seen = session.look(&mut watch)?;
    session.report.begins(&session.folder, seen.files());
    session.round(&Changed::default(), &stop).await;
    while !stop.is_cancelled() {
        match session.look(&mut watch) {
            Ok(now) => {
                let changed = now.since(&seen);
                seen = now;
                if !changed.is_nothing() {
                    session.round(&changed, &stop).await;
                    continue;
                }
            }
            Err(failure) => session.report.failed(&failure),
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = watch.settled() => {}
        }
    }
    Ok(Code::Done)
}

fn unwatched(error: &WatchError) -> Failure {
    Failure::of(Code::Configuration, error).help(error.help())
}

/// What is known from one round to the next.
struct Session<'a> {
    environment: &'a Environment,
    runtime: Runtime,
    folder: PathBuf,
    target: PathBuf,
    filter: Option<String>,
    report: Report,
    sources: Sources,
    /// What the last build made; none while the sources do not build.
    made: Option<Made>,
    /// The manifests that the last build that succeeded made.
    manifests: Vec<Manifest>,
    /// What stands in the folder that is written to, as far as it was written here.
    written: BTreeSet<PathBuf>,
}

impl<'a> Session<'a> {
    fn of(dev: PluginDev, environment: &'a Environment, out: Out) -> Result<Self, Failure> {
        let PluginDev { folder: wanted, out: target, filter } = dev;
        let unusable = |path: &Path, error: std::io::Error| Failure::input(format!("`{}`: {error}", path.display()));
        let folder = std::fs::canonicalize(&wanted).map_err(|error| unusable(&wanted, error))?;
        if !["plugin.toml", "Cargo.toml"].iter().any(|name| folder.join(name).is_file()) {
            return Err(Failure::input(format!("there is no plugin in `{}`", wanted.display()))
                .help("name a folder with a plugin.toml, or a cargo workspace of such; `host plugin new` begins one"));
        }
        let usual = || if wanted == Path::new(".") { PathBuf::from("dist") } else { wanted.join("dist") };
        let target = target.unwrap_or_else(usual);
        std::fs::create_dir_all(&target).map_err(|error| unusable(&target, error))?;
        let real = std::fs::canonicalize(&target).map_err(|error| unusable(&target, error))?;
        if folder.starts_with(&real) {
            return Err(Failure::input(format!("`{}` has the sources in it, which are watched", target.display()))
                .help("name a folder of its own with --out DIR"));
        }
        let sources = Sources::new(folder.clone(), real);
        let report = Report::new(out, printer::stdout_style(environment), printer::style(environment), target.clone());
        let runtime = build::runtime(environment);
        let (made, manifests, written) = (None, Vec::new(), BTreeSet::new());
        Ok(Self { environment, runtime, folder, target, filter, report, sources, made, manifests, written })
    }

    /// What the sources are now; from here on each change of them is heard.
    fn look(&self, watch: &mut Watch) -> Result<Snapshot, Failure> {
        loop {
            let snapshot = self.sources.look().map_err(|error| Failure::of(Code::Input, &error).help(error.help()))?;
            // Something may have come into a new folder before it was watched.
            if !watch.only(snapshot.folders()).map_err(|error| unwatched(&error))? {
                return Ok(snapshot);
            }
        }
    }

    /// Builds what has to be built, runs the cases, keeps what is good, and tells all of it.
    async fn round(&mut self, changed: &Changed, stop: &CancellationToken) {
        self.report.round(changed, &self.folder);
        let made = match self.made.take() {
            Some(made) if changed.is_cases_alone() => made,
            Some(_) | None => {
                let begun = Instant::now();
                // A build is not cut short: what it runs hears of a Ctrl-C in the terminal by itself.
                let made = build::make(&self.folder, self.environment, &self.runtime).await;
                match made {
                    Ok(made) => {
                        self.report.built(&made.plugins, &self.manifests, begun.elapsed());
                        self.manifests = made.plugins.iter().map(|plugin| plugin.manifest.clone()).collect();
                        self.sources.also(made.elsewhere.clone());
                        made
                    }
                    Err(_) if stop.is_cancelled() => return,
                    Err(failure) => return self.report.not_built(&failure, !self.written.is_empty()),
                }
            }
        };
        let good = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            good = self.cases(&made.plugins) => good,
        };
        match if good { self.keep(&made) } else { Ok(()) } {
            Ok(()) if good => self.report.good(&made.plugins),
            Ok(()) => self.report.not_kept(!self.written.is_empty()),
            Err(failure) => self.report.failed(&failure),
        }
        self.made = Some(made);
    }

    /// Whether all cases are as they are expected; what is wrong is told.
    async fn cases(&self, plugins: &[Ready]) -> bool {
        let failing = |case: &Ended, _: Option<&Ended>| self.report.case(case);
        match test::cases(plugins, self.filter.as_deref(), self.environment, failing).await {
            Ok(ended) => {
                self.report.cases(&ended, self.filter.as_deref());
                ended.iter().all(Ended::passed)
            }
            Err(failure) => {
                self.report.failed(&failure);
                false
            }
        }
    }

    /// Writes what was built. What was written before under a name that no plugin has any more goes.
    fn keep(&mut self, made: &Made) -> Result<(), Failure> {
        made.write(&self.target)?;
        let written = made.names();
        for name in self.written.difference(&written) {
            // Somebody else may have taken it away.
            std::fs::remove_file(self.target.join(name)).ok();
        }
        self.written = written;
        Ok(())
    }
}
