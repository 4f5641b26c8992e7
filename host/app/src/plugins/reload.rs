//! The plugins anew, when their files are others than when they were gathered last.
//!
//! Promises: looking costs a few calls to the system while nothing changed; a plugin that is no good any more stays as it
//! was when it was good; of a project whose files are not those that were trusted nothing is taken, and what was taken
//! before stays. Deliberately not here: when that is looked at, and giving the tools to an agent.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use host_manifest::{Changes, Manifest};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::configuration::Commands;
use crate::environment::Folders;
use crate::error::Failure;
use crate::plugins::discovered::{self, Gathering};
use crate::plugins::store::USER_LOCKFILE;
use crate::plugins::{self, Found, Gathered, LoadedPlugin, Place};
use crate::project::{Brought, FOLDER, Project, Standing};

/// Entries of folders that a look at the files covers. Protects the person who waits for their prompt to be sent; what
/// lies beyond is taken by `/reload`.
const MAX_LOOKED_AT: usize = 10_000;

/// How often they are read again, when they change while they are read.
const TRIES: usize = 3;

/// Differences of one plugin that are told.
const TOLD: usize = 4;

/// The folders of a project's `.host/` in which a file that is another makes it another project.
const PARTS: [&str; 4] = ["agents", "plugins", "policies", "tools"];

/// When the plugins are gathered anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Where a file is another than before.
    Changed,
    /// Whatever the files look like.
    Asked,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Renewed {
    /// All plugins, where one of them is another than before.
    pub plugins: Option<Vec<LoadedPlugin>>,
    /// What the person should know, a line each.
    pub told: Vec<String>,
}

/// What the plugins were gathered from.
#[derive(Debug)]
pub struct Watched {
    named: Vec<PathBuf>,
    /// Programs that tell of tools, by their paths.
    programs: Vec<PathBuf>,
    files: Files,
    /// What was said of plugins that are left out.
    notes: Vec<String>,
}

/// The files that plugins are gathered from, as far as the system tells of them without reading them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Files(BTreeMap<PathBuf, Mark>);

/// By this a file is known to be another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    device: u64,
    inode: u64,
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Watched {
    pub(crate) fn new(named: &[PathBuf], commands: Option<Commands>, project: &Project, folders: &Folders) -> Self {
        let words = commands.into_iter().flat_map(|commands| [commands.discovery, commands.call]);
        // One that is looked up in `PATH`, or is the project's, is found elsewhere.
        let programs = words.filter_map(|words| words.into_iter().next().map(PathBuf::from));
        let programs: Vec<PathBuf> = programs.filter(|program| program.is_absolute()).collect();
        let files = Files::of(named, &programs, &project.root, folders);
        Self { named: named.to_vec(), programs, files, notes: Vec::new() }
    }

    pub(crate) fn told(self, notes: &[String]) -> Self {
        Self { notes: notes.to_vec(), ..self }
    }
}

impl App {
    /// Gathers the plugins anew. They are handed over and not taken up: what they are for may have no use for them.
    pub async fn renewed(&mut self, when: When) -> Renewed {
        let now = self.files();
        if when == When::Changed && now == self.watched.files {
            return Renewed::default();
        }
        let mut renewed = Renewed::default();
        renewed.told.extend(self.project_again());
        for attempt in 1..=TRIES {
            self.watched.files = self.files();
            let brought = self.project.brought();
            let root = self.workspace.root();
            let gathered = plugins::gather(&self.watched.named, &brought, &self.folders, root, &self.settings);
            // A component and its manifest are two files, and may have been read on both sides of a change.
            if attempt < TRIES && self.files() != self.watched.files {
                continue;
            }
            match gathered {
                Ok(mut gathered) => {
                    gathered.found.extend(self.discovered_again(&gathered, &brought).await);
                    self.compared(gathered, &mut renewed);
                }
                Err(failure) => renewed.told.push(stays(&failure)),
            }
            break;
        }
        renewed
    }

    /// The tools that a command tells of, as it tells of them now.
    async fn discovered_again(&self, gathered: &Gathered, brought: &Brought) -> Option<Found> {
        let others: Vec<LoadedPlugin> =
            gathered.found.iter().filter_map(|found| found.plugin.as_ref().ok().cloned()).collect();
        let gathering = Gathering {
            configuration: &self.configuration,
            programs: &brought.programs,
            agents: &brought.agents,
            plugins: &others,
            folders: &self.folders,
            runtime: &self.runtime,
            workspace: &self.workspace,
            tell: &|_| {},
        };
        // Its own time limit ends it.
        let plugin = discovered::gather(gathering, &CancellationToken::new()).await.transpose()?;
        Some(Found { place: Place::Discovered, plugin })
    }

    fn files(&self) -> Files {
        Files::of(&self.watched.named, &self.watched.programs, &self.project.root, &self.folders)
    }

    /// The project as it is now, where it may be used; what there is to say where it may not be any more.
    fn project_again(&mut self) -> Option<String> {
        let now = match Project::of(self.workspace.root(), &self.folders) {
            Ok(now) => now,
            Err(failure) => return Some(in_a_line(&failure)),
        };
        let was_trusted = matches!(self.project.standing, Standing::Trusted(_));
        if was_trusted && matches!(now.standing, Standing::Changed { .. } | Standing::Unusable(_)) {
            let reason = now.reason()?;
            return Some(format!(
                "{reason}; what it brought when it was trusted stays in use. `host trust` shows what is there now, and \
                 after `host trust add` its plugins are taken anew"
            ));
        }
        // Who takes the trust back wants nothing of it used.
        let note = now.note().filter(|_| was_trusted);
        self.project = now;
        note
    }

    /// What is different, with what is no good as it was before.
    fn compared(&mut self, gathered: Gathered, renewed: &mut Renewed) {
        let Gathered { found, notes } = gathered;
        renewed.told.extend(notes.iter().filter(|note| !self.watched.notes.contains(note)).cloned());
        self.watched.notes = notes;
        let mut plugins: Vec<LoadedPlugin> = Vec::new();
        let mut is_another = false;
        for Found { place, plugin } in found {
            match plugin {
                Ok(plugin) => match self.plugins.iter().find(|before| before.place == place) {
                    // The one that was linked before.
                    Some(before) if is_same(before, &plugin) => plugins.push(before.clone()),
                    before => {
                        is_another = true;
                        renewed.told.push(told(before, &plugin));
                        plugins.push(plugin);
                    }
                },
                Err(failure) => {
                    let kept: Vec<&LoadedPlugin> = self.plugins.iter().filter(|before| is_at(before, &place)).collect();
                    let names: Vec<String> = kept.iter().map(|kept| format!("`{}`", kept.manifest.name)).collect();
                    let what = if names.is_empty() { place.to_string() } else { names.join(", ") };
                    let stays = if names.is_empty() { "is not used" } else { "stays as it was" };
                    renewed.told.push(format!("{what} {stays}: {}", in_a_line(&failure)));
                    plugins.extend(kept.into_iter().cloned());
                }
            }
        }
        for gone in self.plugins.iter().filter(|before| plugins.iter().all(|now| now.place != before.place)) {
            is_another = true;
            renewed.told.push(format!("`{}` is gone, and its tools with it", gone.manifest.name));
        }
        if is_another {
            match plugins::distinct(plugins) {
                Ok(plugins) => renewed.plugins = Some(plugins),
                Err(failure) => {
                    // What was said is not so.
                    renewed.told = vec![stays(&failure)];
                }
            }
        }
    }
}

/// Whether a plugin came from a place, or from a folder that cannot be looked into any more.
fn is_at(plugin: &LoadedPlugin, place: &Place) -> bool {
    match (&plugin.place, place) {
        (Place::File(file), Place::File(other)) => file.starts_with(other),
        (one, other) => one == other,
    }
}

fn is_same(before: &LoadedPlugin, now: &LoadedPlugin) -> bool {
    before.plugin.digest() == now.plugin.digest()
        && before.manifest == now.manifest
        && before.agreed == now.agreed
        && before.commands == now.commands
}

/// What is different, in a line.
fn told(before: Option<&LoadedPlugin>, now: &LoadedPlugin) -> String {
    let (name, version) = (&now.manifest.name, &now.manifest.version);
    let Some(before) = before else {
        let tools: Vec<String> = now.manifest.tools.iter().map(|tool| format!("`{}`", tool.spec.name)).collect();
        return format!("`{name}` {version} is new, with {}", tools.join(", "));
    };
    let changes = match now.place {
        // It asks for one command a tool: what is said of the tools says that.
        Place::Discovered => {
            let capabilities = now.manifest.capabilities.clone();
            Changes::between(&Manifest { capabilities, ..before.manifest.clone() }, &now.manifest)
        }
        Place::BuiltIn(_) | Place::Store(_) | Place::File(_) => Changes::between(&before.manifest, &now.manifest),
    };
    let mut words: Vec<&str> = changes.iter().take(TOLD).map(|change| change.what.as_str()).collect();
    let more = changes.iter().count().saturating_sub(TOLD);
    let more_words = format!("{more} more changes");
    if more > 0 {
        words.push(&more_words);
    }
    if words.is_empty() {
        words.push("its tools and what it asks for are as they were");
    }
    format!("`{name}` {version} was reloaded: {}", words.join("; "))
}

/// Why nothing was taken up, in a line.
pub fn stays(failure: &Failure) -> String {
    format!("the plugins stay as they were: {}", in_a_line(failure))
}

/// A failure in a line.
fn in_a_line(failure: &Failure) -> String {
    let causes = failure.causes.iter().map(String::as_str);
    [failure.message.as_str()].into_iter().chain(causes).collect::<Vec<_>>().join(": ").replace('\n', " ")
}

impl Files {
    fn of(named: &[PathBuf], programs: &[PathBuf], project: &Path, folders: &Folders) -> Self {
        let mut files = Self::default();
        for program in programs {
            files.add(program, followed);
        }
        for path in named {
            files.add(path, followed);
            files.add(&path.with_extension("json"), followed);
            files.add_all(path, followed, is_of_plugin);
        }
        let own = project.join(FOLDER);
        files.add_all(&own, not_followed, |_| true);
        for part in PARTS.map(|part| own.join(part)) {
            // A link in a project is not followed, wherever it stands.
            if not_followed(&part).is_ok_and(|about| about.is_dir()) {
                files.add_all(&part, not_followed, |_| true);
            }
        }
        for file in [&folders.trust, &folders.keys, &folders.configuration.join(USER_LOCKFILE)] {
            files.add(file, followed);
        }
        files.add_all(&folders.plugins, followed, |_| true);
        files
    }

    fn add(&mut self, path: &Path, look: Look) {
        // What cannot be looked at is told by whoever reads it.
        if let Ok(about) = look(path)
            && self.0.len() < MAX_LOOKED_AT
        {
            self.0.insert(path.to_owned(), Mark::of(&about));
        }
    }

    /// Adds what lies in a folder, where it is one.
    fn add_all(&mut self, folder: &Path, look: Look, counts: fn(&Path) -> bool) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.take(MAX_LOOKED_AT).flatten() {
            let path = entry.path();
            if counts(&path) {
                self.add(&path, look);
            }
        }
    }
}

/// How a file is looked at.
type Look = fn(&Path) -> std::io::Result<Metadata>;

fn followed(path: &Path) -> std::io::Result<Metadata> {
    std::fs::metadata(path)
}

fn not_followed(path: &Path) -> std::io::Result<Metadata> {
    std::fs::symlink_metadata(path)
}

fn is_of_plugin(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "wasm" || end == "json")
}

impl Mark {
    fn of(about: &Metadata) -> Self {
        Self {
            device: about.dev(),
            inode: about.ino(),
            size: about.size(),
            written: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(home: &Path) -> Folders {
        let at = |name: &str| home.join(name);
        Folders {
            configuration: at("configuration"),
            cache: at("cache"),
            state: at("state"),
            sessions: at("sessions"),
            trust: at("trust.json"),
            keys: at("keys.toml"),
            plugins: at("plugins"),
            downloads: at("downloads"),
            programs: at("programs"),
        }
    }

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    #[test]
    fn whatever_plugins_are_gathered_from_is_looked_at() {
        let home = tempfile::tempdir().expect("a folder");
        let (project, dist, one) =
            (home.path().join("project"), home.path().join("dist"), home.path().join("one.wasm"));
        let folders = folders(home.path());
        let named = [dist.clone(), one.clone()];
        let program = home.path().join("bin/tools");
        let mut before = Files::default();
        for (file, counts) in [
            (dist.join("a.wasm"), true),
            (dist.join("a.json"), true),
            (dist.join("notes.txt"), false),
            (one.clone(), true),
            (one.with_extension("json"), true),
            (project.join(".host/plugins/b.wasm"), true),
            (project.join(".host/plugins.lock"), true),
            (project.join(".host/agents/b.md"), true),
            (project.join(".host/tools/b.sh"), true),
            (project.join("src/main.rs"), false),
            (folders.trust.clone(), true),
            (folders.keys.clone(), true),
            (folders.configuration.join(USER_LOCKFILE), true),
            (folders.configuration.join("config.toml"), false),
            (folders.plugins.join("1.tar"), true),
            (folders.sessions.join("1.jsonl"), false),
            (program.clone(), true),
        ] {
            write(&file, "one");
            // The first file of a folder makes the folder.
            let now = Files::of(&named, std::slice::from_ref(&program), &project, &folders);
            assert_eq!(now.0.contains_key(&file), counts, "{}", file.display());
            assert_eq!(
                Files::of(&named, std::slice::from_ref(&program), &project, &folders),
                now,
                "looking is no change"
            );
            before = now;
            if counts {
                // Another file under the same name, of the same size.
                let other = file.with_extension("new");
                write(&other, "two");
                std::fs::rename(&other, &file).expect("moved");
                let now = Files::of(&named, std::slice::from_ref(&program), &project, &folders);
                assert_ne!(now, before, "{}", file.display());
                before = now;
            }
        }
        std::fs::remove_file(dist.join("a.wasm")).expect("removed");
        assert_ne!(Files::of(&named, std::slice::from_ref(&program), &project, &folders), before);
    }

    #[test]
    fn a_folder_without_end_is_looked_at_to_a_limit() {
        let home = tempfile::tempdir().expect("a folder");
        for i in 0..=MAX_LOOKED_AT {
            std::fs::File::create(home.path().join(format!("{i}.wasm"))).expect("made");
        }
        let files = Files::of(&[home.path().to_owned()], &[], Path::new("/nowhere"), &folders(Path::new("/nowhere")));
        assert_eq!(files.0.len(), MAX_LOOKED_AT);
    }

    #[test]
    fn a_failure_is_told_in_a_line() {
        let failure = Failure::input("it is\nno good").cause("of this").help("not told");
        assert_eq!(stays(&failure), "the plugins stay as they were: it is no good: of this");
    }
}
