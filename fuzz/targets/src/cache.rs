//! Entries of the cache of compiled components, which are native code.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use host_message::OutputPart;
use host_plugin::{Runtime, RuntimeOptions};
use tempfile::TempDir;

use crate::answer::{invocation, plugin, waits};

/// Returns what the guest answers with: an outcome whose content is a list at 48 with one text, which is at 80.
fn memory() -> [u8; 84] {
    let mut memory = [0; 84];
    (memory[4], memory[8]) = (48, 1);
    (memory[52], memory[56]) = (80, 4);
    memory[80..].copy_from_slice(b"text");
    memory
}

struct Bench {
    waits: tokio::runtime::Runtime,
    folder: TempDir,
    runtime: Runtime,
    entry: PathBuf,
    written: Vec<u8>,
}

/// The bytes are a change of an entry: a place in it, and what is there instead, to its end or not. Whatever is in the
/// file, the component answers as it did, and an entry that was changed is written again.
pub fn cache(data: &[u8]) {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    let bench = BENCH.get_or_init(Bench::new);
    let changed = changed(&bench.written, data);
    fs::write(&bench.entry, &changed).expect("the entry");
    bench.check();
    let now = fs::read(&bench.entry).expect("the entry");
    assert!(now == bench.written, "an entry of {} bytes was neither removed nor written again", changed.len());
}

fn changed(written: &[u8], data: &[u8]) -> Vec<u8> {
    let Some(([kind, place @ ..], new)) = data.split_first_chunk::<4>() else { return data.to_vec() };
    let at = place.iter().fold(0, |at, byte| at << 8 | usize::from(*byte)) % (written.len() + 1);
    let (before, after) = written.split_at(at);
    let after = match kind % 4 {
        0 => &[],
        1 => after,
        2 => after.get(new.len()..).unwrap_or_default(),
        _ => return [new, written].concat(),
    };
    [before, new, after].concat()
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime =
            Runtime::new(RuntimeOptions { cache: Some(folder.path().join("cache")), ..RuntimeOptions::default() });
        let mut bench = Self { waits: waits(), folder, runtime, entry: PathBuf::new(), written: Vec::new() };
        bench.check();
        let entries = fs::read_dir(bench.folder.path().join("cache")).expect("the cache");
        let mut entries = entries.map(|entry| entry.expect("an entry").path());
        bench.entry = entries.find(|path| path.extension().is_some_and(|end| end == "aot")).expect("an entry");
        bench.written = fs::read(&bench.entry).expect("the entry");
        bench
    }

    fn check(&self) {
        // A plugin of its own keeps no compiled form of an earlier one.
        let output = self.waits.block_on(self.runtime.call(&plugin(), invocation(&memory()))).expect("it answers");
        assert_eq!(output.content, [OutputPart::Text("text".to_owned())]);
    }
}
