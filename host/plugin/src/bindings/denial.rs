//! A refusal in the contract's words.

use std::path::Path;

use host_capability::Denied;

use super::cap_types::Denial;

/// A symbolic link leads out of the root that was granted.
pub(crate) fn escape(capability: &str, path: &Path) -> Denial {
    let wanted = path.display().to_string();
    let help = format!(
        "a symbolic link on the way to `{wanted}` leads out of the granted folder; name the place that it leads to, \
         with a grant for it"
    );
    Denial { capability: capability.to_owned(), wanted, help }
}

/// A refusal in the contract's words.
pub(crate) fn denial(refused: &Denied) -> Denial {
    Denial { capability: refused.capability.name().to_owned(), wanted: refused.wanted.clone(), help: refused.explain() }
}
