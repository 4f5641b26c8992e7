//! Plugins to pack, and archives that no honest program makes.

use std::collections::BTreeMap;

use host_bundle::{Bundle, Parts};
use host_manifest::{Manifest, Source};
use serde_json::{Value, json};

/// A component that imports these interfaces, exports a tool and does nothing.
pub(crate) fn component(imports: &[&str]) -> Vec<u8> {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    let mut section = |id: u8, body: Vec<u8>| {
        bytes.extend([id, u8::try_from(body.len()).expect("a short section")]);
        bytes.extend(body);
    };
    let name = |name: &str| {
        let mut bytes = vec![0, u8::try_from(name.len()).expect("a short name")];
        bytes.extend(name.as_bytes());
        bytes
    };
    // An instance type without members, and for each import an instance of it.
    section(7, vec![1, 0x42, 0]);
    for import in imports {
        section(10, [vec![1], name(import), vec![5, 0]].concat());
    }
    // An instance without members; its index follows those of the imports.
    section(5, vec![1, 1, 0]);
    let index = u8::try_from(imports.len()).expect("few");
    section(11, [vec![1], name("host:tool/tool@0.1.0"), vec![5, index, 0]].concat());
    bytes
}

/// Returns the manifest of the plugin `acme/fetch`.
pub(crate) fn manifest_json() -> Value {
    json!({
        "manifest": 1,
        "name": "acme/fetch",
        "version": "1.2.0",
        "license": "MIT",
        "description": "Fetches what you name.",
        "source": "https://example.com/acme/fetch",
        "contract": "0.1.0",
        "capabilities": {"http": {"scope": "*", "reason": "to fetch"}},
        "tools": [{
            "name": "fetch",
            "description": "Fetches an address.",
            "input_schema": {"type": "object", "properties": {"url": {"type": "string"}}},
            "output_schema": {"type": "object"},
            "capabilities": ["http"],
        }],
    })
}

pub(crate) fn manifest(json: &Value) -> Manifest {
    Manifest::parse(&json.to_string(), Source::Bundle).expect("it is right")
}

/// The parts of the plugin `acme/fetch`.
pub(crate) fn parts() -> Parts {
    Parts {
        manifest: manifest(&manifest_json()),
        component: component(&["host:cap/http@0.1.0"]),
        readme: Some(b"# fetch\n".to_vec()),
        license: Some(b"Do what you like.\n".to_vec()),
    }
}

pub(crate) fn bundle() -> Bundle {
    Bundle::pack(parts()).expect("it is packed")
}

/// One entry of an archive, as an attacker may write it.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: tar::EntryType,
    pub(crate) bytes: Vec<u8>,
    /// The size that the header claims.
    pub(crate) size: u64,
    pub(crate) link: &'static str,
}

impl Entry {
    pub(crate) fn file(name: &str, bytes: &[u8]) -> Self {
        let size = bytes.len() as u64;
        Self { name: name.to_owned(), kind: tar::EntryType::Regular, bytes: bytes.to_vec(), size, link: "" }
    }

    pub(crate) fn new(kind: tar::EntryType, name: &str) -> Self {
        Self { kind, link: "/etc/passwd", ..Self::file(name, b"") }
    }
}

/// The entries of a layout, in their order.
pub(crate) fn entries(layout: &BTreeMap<String, Vec<u8>>) -> Vec<Entry> {
    layout.iter().map(|(name, bytes)| Entry::file(name, bytes)).collect()
}

/// Packs these entries into an archive without the library's checks.
pub(crate) fn archive(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        let mut header = tar::Header::new_ustar();
        let raw = header.as_ustar_mut().expect("it is one");
        for (to, from) in raw.name.iter_mut().zip(entry.name.bytes()) {
            *to = from;
        }
        for (to, from) in raw.linkname.iter_mut().zip(entry.link.bytes()) {
            *to = from;
        }
        header.set_entry_type(entry.kind);
        header.set_size(entry.size);
        header.set_mode(0o644);
        header.set_cksum();
        bytes.extend(header.as_bytes());
        bytes.extend(&entry.bytes);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// Why an archive is refused.
pub(crate) fn refused(archive: &[u8]) -> String {
    match Bundle::read_archive(archive) {
        Ok(bundle) => panic!("{} was taken", bundle.statement()),
        Err(error) => error.to_string(),
    }
}
