//! What this process holds: memory, threads, descriptors, and programs that it started.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

/// How long what ends behind a call may take to be gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first instance of a component that was compiled here, and not read from the cache, makes this copy of its
/// memory. It belongs to the component and stays with it.
const IMAGE: &str = "/memfd:wasm-memory-image";

/// One for each component in each of two engines; those of calls would be far more.
const MOST_IMAGES: usize = 2 * super::KINDS.len();

/// What this process holds, by number.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    threads: BTreeSet<u32>,
    /// How many of them lead to the same.
    descriptors: BTreeMap<String, usize>,
    programs: BTreeSet<u32>,
}

impl Footprint {
    pub(super) fn now() -> Self {
        Self { threads: numbers("/proc/self/task"), descriptors: descriptors(), programs: programs() }
    }

    /// Waits until nothing runs here that did not run then; after a while, what does. Descriptors may be left.
    pub(super) async fn quiet(&self) -> Option<String> {
        self.waited(false).await
    }

    /// Waits until nothing is here that was not there then; after a while, what is.
    pub(super) async fn settled(&self) -> Option<String> {
        self.waited(true).await
    }

    async fn waited(&self, counts_descriptors: bool) -> Option<String> {
        let begun = Instant::now();
        loop {
            let now = Self::now();
            let threads: BTreeSet<_> = now.threads.difference(&self.threads).map(|id| called(*id)).collect();
            let programs: BTreeSet<_> = now.programs.difference(&self.programs).map(|id| command(*id)).collect();
            let more = |(name, count): &(&String, &usize)| {
                let before = self.descriptors.get(*name).copied().unwrap_or(0);
                before < **count && !(name.starts_with(IMAGE) && **count <= MOST_IMAGES)
            };
            let descriptors: Vec<&String> =
                now.descriptors.iter().filter(more).map(|(name, _)| name).filter(|_| counts_descriptors).collect();
            if threads.is_empty() && programs.is_empty() && descriptors.is_empty() {
                return None;
            }
            if begun.elapsed() > PATIENCE {
                return Some(format!("threads {threads:?}, programs {programs:?}, descriptors {descriptors:?}"));
            }
            tokio::task::yield_now().await;
        }
    }
}

/// The memory that is resident, in bytes; the peak begins anew.
pub(super) fn resident() -> usize {
    fs::write("/proc/self/clear_refs", "5").expect("the peak can begin anew");
    status("VmRSS:")
}

/// The most that was resident since then, in bytes.
pub(super) fn peak() -> usize {
    status("VmHWM:")
}

fn status(name: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status").expect("a process has one");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("it is in it");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

fn numbers(folder: &str) -> BTreeSet<u32> {
    let entries = fs::read_dir(folder).expect("a process has it");
    // One that ends meanwhile is not an entry any more.
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// What the descriptors lead to, without the numbers of sockets and pipes.
fn descriptors() -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for number in numbers("/proc/self/fd") {
        // The one by which they are read is gone.
        let Ok(leads_to) = fs::read_link(format!("/proc/self/fd/{number}")) else { continue };
        let leads_to = leads_to.to_string_lossy();
        *found.entry(leads_to.split(":[").next().unwrap_or_default().to_owned()).or_insert(0) += 1;
    }
    found
}

/// What this process started, and what that started. A program whose parent ended is found by its folder: no program
/// but those of this test works in this test's folder for temporary files.
fn programs() -> BTreeSet<u32> {
    let own = std::process::id();
    let temporary = fs::canonicalize(std::env::temp_dir()).expect("it is there");
    let is_ours = |id: &u32| {
        let parent = fs::read_to_string(format!("/proc/{id}/stat")).ok().and_then(|stat| {
            let (_, behind_name) = stat.rsplit_once(") ")?;
            behind_name.split(' ').nth(1)?.parse::<u32>().ok()
        });
        let folder = fs::read_link(format!("/proc/{id}/cwd"));
        *id != own && (parent == Some(own) || folder.is_ok_and(|folder| folder.starts_with(&temporary)))
    };
    numbers("/proc").into_iter().filter(is_ours).collect()
}

fn called(thread: u32) -> String {
    fs::read_to_string(format!("/proc/self/task/{thread}/comm")).unwrap_or_default().trim().to_owned()
}

fn command(program: u32) -> String {
    fs::read_to_string(format!("/proc/{program}/cmdline")).unwrap_or_default().replace('\0', " ")
}
