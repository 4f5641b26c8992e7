//! Denials in the contract's types.

use std::path::Path;

use host_capability::Denied;
use host_text::Wording;

use super::cap_types::Denial;

/// Creates the denial for a symbolic link that leads out of the granted root.
pub(crate) fn escape(capability: &str, path: &Path) -> Denial {
    let wanted = path.display().to_string();
    let help = format!(
        "a symbolic link on the way to `{wanted}` leads out of the granted folder; name the place that it leads to, \
         with a grant for it"
    );
    Denial { capability: capability.to_owned(), wanted, help }
}

/// Converts a denial to the contract's type.
pub(crate) fn denial(refused: &Denied, wording: Wording) -> Denial {
    let help = refused.explain(wording);
    Denial { capability: refused.capability.name().to_owned(), wanted: refused.wanted.clone(), help }
}
