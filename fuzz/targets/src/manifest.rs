//! Manifests of plugins, written and shipped.

use std::path::Path;

use host_capability::CapabilitySet;
use host_manifest::{Changes, Manifest, Source, SourceManifest, explain};
use host_plugin::admission::Imports;

use crate::shown;

/// Texts between lines of `---` are manifests: those that begin with `{` as they are shipped, the others `plugin.toml`.
/// What was read can be written and read again, and what is shown of it is safe.
pub fn manifest(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut shipped = Vec::new();
    for text in text.split("\n---\n").take(2) {
        if text.starts_with('{') {
            match Manifest::parse(text, Source::Bundle) {
                Ok(manifest) => shipped.push(manifest),
                Err(error) => shown::prose(&error.to_string()),
            }
        } else {
            match SourceManifest::parse(text, &Source::Bundle) {
                Ok(source) => assert!(host_manifest::check_name(&source.name).is_ok()),
                Err(error) => shown::prose(&error.to_string()),
            }
        }
    }
    for manifest in &shipped {
        let json = manifest.to_json();
        assert_eq!(Manifest::parse(&json, Source::Bundle).as_ref().ok(), Some(manifest), "{json}");
        let imports = Imports { names: Vec::new(), capabilities: CapabilitySet::default(), wasi: false, empty: false };
        shown::prose(&explain(manifest, &imports));
        // A scope of a newer host may be none to this one.
        let Ok(declared) = manifest.declared(Path::new("/w")) else { continue };
        for (capability, asked) in &manifest.capabilities {
            assert!(manifest.asks_for(capability, &asked.scope), "{capability}={} of {json}", asked.scope);
        }
        assert!(manifest.optional().iter().all(|capability| declared.has(capability)));
        assert_eq!(Changes::between(manifest, manifest).iter().count(), 0, "{json}");
    }
    if let [old, new] = shipped.as_slice() {
        let changes = Changes::between(old, new);
        changes.iter().for_each(|change| shown::prose(&change.what));
        assert!(changes.iter().next().is_some() || same_access(old, new), "{} and {}", old.to_json(), new.to_json());
        let _ = changes.verdict(&old.version, &new.version);
    }
}

fn same_access(old: &Manifest, new: &Manifest) -> bool {
    let access = |manifest: &Manifest| manifest.declared(Path::new("/w")).ok();
    access(new).zip(access(old)).is_some_and(|(new, old)| new.le(&old))
}
