//! `/hooks`: the hooks of the conversation.

use host_extensions::hooks::HookSet;
use host_terminal::wrapped;

use crate::command::hooks::listed;

/// The hooks, in so many columns.
pub(super) fn text(hooks: &HookSet, columns: usize) -> String {
    let all = hooks.list();
    if all.is_empty() {
        return wrapped("there are no hooks; docs/hooks.md says how to write one", columns, 0);
    }
    let lines = all.iter().flat_map(|hook| listed(hook).lines().map(str::to_owned).collect::<Vec<_>>());
    lines.map(|line| wrapped(&line, columns, 4) + "\n").collect()
}
