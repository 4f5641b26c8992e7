//! Collects the results of the calls for the report.

use host_message::{ResponseBody, ToolSpec};

use super::output::{Folder, Hit, Matches, Tree};
use super::past::Past;
use super::project::{self, Manifest, Readme};
use super::prompt::Task;
use super::{COMPLETE_TASK, MAX_READS};

/// The files that the listings contain.
pub(super) struct KnownFiles {
    pub(super) root: Option<Folder>,
    pub(super) tree: Option<Tree>,
}

/// The content of the report.
pub(super) struct Findings {
    pub(super) survey: bool,
    pub(super) known: KnownFiles,
    /// Each manifest that was read, with its path.
    pub(super) manifests: Vec<(String, Manifest)>,
    pub(super) readme: Option<(String, Readme)>,
    pub(super) searches: Vec<Search>,
    /// The named paths that were examined, with the result.
    pub(super) looked_at: Vec<(String, String)>,
    /// The calls that failed, as `tool` `what`, and why.
    pub(super) failures: Vec<(String, String)>,
    /// The tools that were needed but are missing.
    pub(super) missing: Vec<&'static str>,
    /// The calls that were made, in order, so that a reader can follow them.
    pub(super) trace: Vec<String>,
}

/// The result of searching for a word.
#[derive(Debug, PartialEq)]
pub(super) struct Search {
    pub(super) word: String,
    pub(super) total: usize,
    /// Whether there are more than `total`.
    pub(super) more: bool,
    pub(super) files: usize,
    pub(super) hits: Vec<Hit>,
    /// The files with the most matches, if the number in each file is known.
    pub(super) top: Vec<(String, usize)>,
}

impl KnownFiles {
    pub(super) fn new(past: &Past<'_>) -> Self {
        let root = past.outputs("ls", "path").find(|(path, _, _)| *path == ".");
        let tree = past.outputs("glob", "pattern").find(|(pattern, _, _)| *pattern == "**/*");
        Self {
            root: root.and_then(|(_, _, text)| Folder::read(text)),
            tree: tree.and_then(|(_, _, text)| Tree::read(text)),
        }
    }

    /// Returns every known file, those at the top first.
    fn files(&self) -> impl Iterator<Item = &str> {
        let root = self.root.iter().flat_map(|folder| &folder.files);
        root.chain(self.tree.iter().flat_map(|tree| &tree.paths)).map(String::as_str)
    }

    /// Returns the files worth reading: the README and the manifests for a survey, and the named files.
    pub(super) fn reads(&self, task: &Task) -> Vec<String> {
        let mut reads: Vec<String> = Vec::new();
        if task.survey {
            reads.extend(self.shallowest(|path| project::readme_rank(path).is_some(), 1));
            reads.extend(self.shallowest(project::is_readable, MAX_READS));
        }
        for path in &task.paths {
            reads.extend(self.resolve(path));
        }
        let mut seen = std::collections::HashSet::new();
        reads.retain(|path| seen.insert(path.clone()));
        reads
    }

    /// Returns the named folders.
    pub(super) fn lists(&self, task: &Task) -> Vec<String> {
        task.paths.iter().filter(|path| self.is_folder(path)).cloned().collect()
    }

    /// Returns the matching files of the highest level: a manifest deep in the tree is not about the whole project.
    fn shallowest(&self, fits: impl Fn(&str) -> bool, most: usize) -> Vec<String> {
        let rank = |path: &str| (path.matches('/').count(), project::readme_rank(path), path.to_owned());
        let mut ranked: Vec<_> = self.files().filter(|path| fits(path)).map(rank).collect();
        ranked.sort_unstable();
        ranked.dedup();
        let depth = ranked.first().map(|(depth, _, _)| *depth);
        ranked.into_iter().filter(|(at, _, _)| Some(*at) == depth).map(|(_, _, path)| path).take(most).collect()
    }

    /// Returns the files that a named path can mean. A path that is not listed is tried all the same: it may be ignored
    /// or outside the folder, and the tool knows why it cannot be read.
    fn resolve(&self, named: &str) -> Vec<String> {
        if self.is_folder(named) {
            return Vec::new();
        }
        let beneath = |path: &&str| path.strip_suffix(named).is_some_and(|before| before.ends_with('/'));
        let found: Vec<String> = self.files().filter(beneath).take(MAX_READS).map(str::to_owned).collect();
        match found.is_empty() || self.files().any(|path| path == named) {
            true => vec![named.to_owned()],
            false => found,
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        self.root.iter().flat_map(|folder| &folder.folders).any(|folder| folder == path)
            || self.files().any(|file| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }
}

impl Findings {
    pub(super) fn gather(task: &Task, past: &Past<'_>, tools: &[ToolSpec]) -> Self {
        let known = KnownFiles::new(past);
        let reads = known.reads(task);
        let read = |path: &str| {
            past.outputs("read_file", "path").find(|(read, _, _)| *read == path).map(|(_, _, text)| unnumbered(text))
        };
        // A prompt may name a file without its folders.
        let is_named =
            |path: &str| task.paths.iter().any(|named| path == named || path.ends_with(&format!("/{named}")));
        let manifests = reads.iter().filter(|path| project::is_readable(path) && !is_named(path));
        let readme = reads.iter().filter(|path| project::readme_rank(path).is_some());
        let listed = known.lists(task).into_iter().filter_map(|path| {
            let (_, _, text) = past.outputs("ls", "path").find(|(listed, _, _)| *listed == path)?;
            Some((path, text.to_owned()))
        });
        let named = reads.iter().filter(|path| is_named(path));
        let looked_at: Vec<_> = named.filter_map(|path| Some((path.clone(), read(path)?))).chain(listed).collect();
        Self {
            survey: task.survey,
            manifests: manifests.filter_map(|path| Some((path.clone(), Manifest::read(path, &read(path)?)))).collect(),
            readme: readme.filter_map(|path| Some((path.clone(), Readme::read(&read(path)?)))).next(),
            searches: task.words.iter().filter_map(|word| Search::find(word, past)).collect(),
            looked_at,
            failures: failures(past),
            missing: missing(task, tools),
            trace: past
                .results
                .iter()
                .map(|(call, _)| described(call))
                .filter(|call| !call.starts_with(COMPLETE_TASK))
                .collect(),
            known,
        }
    }
}

/// The text of a file without the numbers that `read_file` puts in front of its lines.
fn unnumbered(text: &str) -> String {
    let bare = |line: &'_ str| match line.split_once('\t') {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(bare).collect()
}

impl Search {
    fn find(word: &str, past: &Past<'_>) -> Option<Self> {
        let (mut counted, mut shown) = (None, None);
        for (pattern, call, text) in past.outputs("grep", "pattern") {
            if pattern == word || pattern == super::escape(word) {
                let counts = call.arguments.get("output").is_some_and(|mode| mode == "count");
                *(if counts { &mut counted } else { &mut shown }) = Matches::read(text);
            }
        }
        let hits = shown.as_mut().map(|matches| std::mem::take(&mut matches.hits)).unwrap_or_default();
        // The count covers the whole tree; the listed matches may have stopped early.
        let Matches { total, stopped, files, mut counts, .. } = counted.or(shown)?;
        if counts.len() < files {
            counts.clear();
        }
        counts.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
        Some(Self { word: word.to_owned(), total, more: stopped, files, hits, top: counts })
    }
}

fn failures(past: &Past<'_>) -> Vec<(String, String)> {
    let failed = past.results.iter().filter_map(|(call, body)| {
        let is_clear = match (body, call.name.as_str()) {
            (ResponseBody::Error(why), _) => return Some((described(call), why.clone())),
            (ResponseBody::Output(text), "ls") => Folder::read(text).is_some(),
            (ResponseBody::Output(text), "glob") => Tree::read(text).is_some(),
            (ResponseBody::Output(text), "grep") => Matches::read(text).is_some(),
            (ResponseBody::Output(_), _) => true,
        };
        (!is_clear).then(|| (described(call), "this planner does not understand its answer".to_owned()))
    });
    failed.collect()
}

fn missing(task: &Task, tools: &[ToolSpec]) -> Vec<&'static str> {
    let looks = task.survey || !task.paths.is_empty();
    let needed = [("ls", looks), ("glob", looks), ("read_file", looks), ("grep", !task.words.is_empty())];
    let is_declared = |name: &str| tools.iter().any(|tool| tool.name.as_str() == name);
    needed.into_iter().filter(|(name, needed)| *needed && !is_declared(name)).map(|(name, _)| name).collect()
}

/// Describes a call in one line: its name and its subject.
fn described(call: &host_message::FunctionCall) -> String {
    let about = ["path", "pattern"].iter().find_map(|name| call.arguments.get(*name)?.as_str());
    match about {
        Some(about) => format!("{} {about}", call.name),
        None => call.name.to_string(),
    }
}
