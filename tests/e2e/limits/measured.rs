//! What this process holds: memory, threads, descriptors, and programs that it started.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

/// How long what ends behind a call may take to be gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// What this process holds, by number.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    threads: BTreeSet<u32>,
    descriptors: usize,
    programs: BTreeSet<u32>,
}

impl Footprint {
    pub(super) fn now() -> Self {
        Self { threads: numbers("/proc/self/task"), descriptors: numbers("/proc/self/fd").len(), programs: programs() }
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
            let descriptors = if counts_descriptors { now.descriptors.saturating_sub(self.descriptors) } else { 0 };
            if threads.is_empty() && programs.is_empty() && descriptors == 0 {
                return None;
            }
            if begun.elapsed() > PATIENCE {
                return Some(format!("threads {threads:?}, programs {programs:?}, {descriptors} descriptors"));
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
    // One that ends meanwhile is no entry any more.
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// What this process started, and what that started. A program whose parent ended is found by its folder: no program but
/// those of this test works in this test's folder for temporary files.
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
