//! The host side of `host:tool/file-changes`: the changes to files that a preview names, all of which the user is asked
//! about at once.
//!
//! Promises: nothing is changed here; a call whose preview named changes makes these and no others (`preview_guard`).

use crate::answer::FileChange;
use crate::bindings::file_changes as wit;
use crate::bindings::tool_types::FileDifference;
use crate::store::StoreData;

impl wit::Host for StoreData {
    async fn write(&mut self, difference: FileDifference) -> wasmtime::Result<()> {
        let FileDifference { path, unified, proposed } = difference;
        self.named.add(FileChange { path, unified, proposed: Some(proposed) });
        Ok(())
    }

    async fn remove(&mut self, path: String) -> wasmtime::Result<()> {
        // The host makes the difference: what is removed is what is there.
        self.named.add(FileChange { path, unified: String::new(), proposed: None });
        Ok(())
    }
}
