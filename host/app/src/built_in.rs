//! Compiling the plugins of the binary for a user's cache.
//!
//! Deliberately not here: who asks for it (a run, while its model answers), and what compiles (`host-plugin`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_extensions::plugins::built_in_plugins;
use host_plugin::{Plugin, Runtime, RuntimeOptions};
use host_settings::error::Failure;

/// The plugins whose tools models call most, in the order in which a new conversation needs them: it looks at files,
/// searches, changes something, and runs a program.
const MOST_USED: [&str; 7] = ["read_file", "ls", "grep", "glob", "edit", "shell", "write_file"];

/// Compiles those that were never compiled for the cache in this folder, unless another process does: the work of the
/// process that is started for it. It takes seconds.
///
/// # Errors
///
/// If a manifest is invalid.
pub fn compile_for(cache: PathBuf) -> Result<(), Failure> {
    let runtime = Runtime::new(RuntimeOptions { cache: Some(cache), ..RuntimeOptions::default() });
    let mut plugins: Vec<_> = built_in_plugins(Path::new("/"))?.into_iter().map(|installed| installed.plugin).collect();
    by_use(&mut plugins);
    runtime.compile_here(plugins.iter().map(Arc::as_ref));
    Ok(())
}

/// Sorts plugins into the order in which they are needed.
pub(crate) fn by_use(plugins: &mut [Arc<Plugin>]) {
    // Those that models call most, and of the others the small ones first: most are loaded before the first large one
    // would be.
    plugins.sort_by_key(|plugin| {
        let place = MOST_USED.iter().position(|name| plugin.name().as_str() == *name);
        (place.unwrap_or(MOST_USED.len()), plugin.size())
    });
}
