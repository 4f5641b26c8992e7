//! Each built-in tool asks for exactly what it needs, and what lies in `plugins/dist` is what its files say it is.

use std::collections::BTreeSet;
use std::path::PathBuf;

use host_devkit::Provenance;
use host_plugin::Digest;
use host_tests::{built_in, built_in_manifest, repository};

/// Each built-in tool with the smallest list of capabilities that it can do its work with.
const SMALLEST: [(&str, &[&str]); 16] = [
    ("apply_patch", &["fs-read", "fs-write"]),
    ("discovered", &["process"]),
    ("edit", &["fs-read", "fs-write"]),
    ("glob", &["fs-read"]),
    ("grep", &["fs-read"]),
    ("ls", &["fs-read"]),
    ("mcp", &["mcp"]),
    ("memory", &["state"]),
    ("read_file", &["fs-read"]),
    ("read_many_files", &["fs-read"]),
    ("run_code", &["tools"]),
    ("shell", &["process"]),
    ("todo", &[]),
    ("web_fetch", &["http"]),
    ("web_search", &["http"]),
    ("write_file", &["fs-read", "fs-write"]),
];

/// What every plugin imports: its line to the host, and the types of its tools.
const FREE: [&str; 2] = ["host:tool/context@0.1.0", "host:tool/types@0.1.0"];

/// The types that the interfaces of capabilities are made of.
const TYPES: &str = "host:cap/types@0.1.0";

fn dist(name: &str) -> PathBuf {
    repository().join("plugins/dist").join(name)
}

// promise plugin.built-in: A built-in tool requests only the capabilities that it uses.
#[test]
fn each_component_imports_its_capabilities_and_nothing_else() {
    for (name, capabilities) in SMALLEST {
        let plugin = built_in(name);
        let imports = plugin.imports().expect("it is a plugin");
        let listed: BTreeSet<&str> = imports.names.iter().map(String::as_str).collect();
        println!("{name}: {}", imports.names.join(", "));
        let needed: Vec<String> = capabilities.iter().map(|name| format!("host:cap/{name}@0.1.0")).collect();
        let types = (!capabilities.is_empty()).then_some(TYPES);
        let own = match name {
            "shell" => Some("host:tool/background@0.1.0"),
            "apply_patch" => Some("host:tool/file-changes@0.1.0"),
            _ => None,
        };
        let smallest: BTreeSet<&str> = needed.iter().map(String::as_str).chain(FREE).chain(types).chain(own).collect();
        assert_eq!(listed, smallest, "{name}");
        assert_eq!(imports.names.len(), listed.len(), "{name} imports something twice");
        assert!(!imports.wasi, "{name}");
        let found: Vec<_> = imports.capabilities.iter().map(|capability| capability.name()).collect();
        assert_eq!(BTreeSet::from_iter(found), BTreeSet::from_iter(capabilities.iter().copied()), "{name}");
    }
}

// promise plugin.built-in
#[test]
fn each_manifest_declares_exactly_what_its_component_imports() {
    for (name, capabilities) in SMALLEST {
        let manifest = built_in_manifest(name);
        let declared: Vec<_> = manifest.capabilities.keys().map(String::as_str).collect();
        assert_eq!(declared, capabilities, "{name}");
        let Some((tool, more)) = manifest.tools.split_first() else { panic!("{name} has no tool") };
        // What looks after background commands needs nothing: it reaches only those of its plugin.
        let more: Vec<_> = more.iter().map(|tool| (tool.spec.name.as_str(), tool.capabilities.len())).collect();
        assert_eq!(more, if name == "shell" { vec![("process", 0)] } else { Vec::new() });
        assert_eq!((manifest.name.as_str(), tool.spec.name.as_str()), (name, name));
        assert_eq!(tool.capabilities, capabilities, "{name}");
        // What only reads by its own word asks for nothing that changes anything.
        let changes = capabilities.iter().any(|capability| !["fs-read", "http"].contains(capability));
        assert_eq!(tool.spec.annotations.read_only, !changes, "{name}");
    }
}

#[test]
fn the_provenance_names_each_component_with_its_size_and_digest() {
    let text = std::fs::read_to_string(dist("provenance.json")).expect("it is there");
    let provenance: Provenance = serde_json::from_str(&text).expect("it is right");
    assert_eq!(provenance.to_json(), text, "it is written as the host writes it");
    let names: Vec<_> = provenance.plugins.keys().map(String::as_str).collect();
    assert_eq!(names, SMALLEST.map(|(name, _)| name));
    for (name, entry) in &provenance.plugins {
        let component = std::fs::read(dist(&format!("{name}.wasm"))).expect("it is there");
        assert_eq!((entry.size, entry.sha256.as_str()), (component.len(), Digest::of(&component).as_str()), "{name}");
    }

    let files = std::fs::read_dir(dist("")).expect("it is there").map(|entry| entry.expect("read").file_name());
    let expected = SMALLEST.iter().flat_map(|(name, _)| [format!("{name}.json"), format!("{name}.wasm")]);
    let expected: BTreeSet<_> = expected.chain(["provenance.json".to_owned()]).map(Into::into).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), expected, "nothing else lies there");
}
