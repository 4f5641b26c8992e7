//! The imports that a component requests, read before any of it is compiled.
//!
//! Promises: a component is admitted only if each of its imports is known to the host, declared in its manifest and
//! granted. An error names the interface and what would change the result. Nothing here runs or compiles the component;
//! the parser reads its outermost section headers and nothing else.
//!
//! Deliberately not here: whether a single path or address is covered. The grants are checked for that at each use.

use std::io::{self, Read as _};

use host_capability::{ANY_SERVER, Capability, CapabilitySet, Denied, Grants, PluginName, Scope};
use semver::Version;
use wasmparser::{Chunk, ComponentExternalKind, ComponentTypeRef, Encoding, Parser, Payload};

use crate::limits::MAX_COMPONENT;

/// The version of `host:tool` and `host:cap` that this host supports.
pub const CONTRACT: Version = Version::new(0, 1, 0);

/// The version of WASI whose inert part runtimes of languages may import. Any `0.2.x` is compatible.
const WASI: Version = Version::new(0, 2, 0);

/// The interfaces of WASI that are linked for languages whose runtime imports them whatever the tool does. They reach
/// nothing: clocks and randomness, an empty environment, streams that end in the log, and no folder.
pub(crate) const INERT_WASI: &[&str] = &[
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

/// The interfaces of WASI that the runtime of a language imports and that are not implemented here: each of their
/// functions is a trap, which ends the call that uses it. The C library of Python imports all of these.
pub(crate) const EMPTY_WASI: &[&str] = &[
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];

/// A component with nothing in it: that of a plugin which brings only files. It has no tool, and nothing calls it.
pub const EMPTY_COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// What WebAssembly starts with.
const MAGIC: &[u8] = b"\0asm";

/// How much of a component is read at once, in bytes. The outer part of most is smaller.
const PIECE: u64 = 4 << 10;

/// How many imports and exports are read. Protects the reader from an endless list.
const MAX_NAMES: usize = 1_000;

/// The imports of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imports {
    /// The names of all its imports as they are written in the component, in order.
    pub names: Vec<String>,
    /// The capabilities among them.
    pub capabilities: CapabilitySet,
    /// Whether it imports the inert part of WASI.
    pub wasi: bool,
    /// Whether it imports parts of WASI that are not implemented, so that using one is a trap.
    pub empty: bool,
}

impl Imports {
    /// Returns the contract of a component that was made for a newer one than this host's. It may still link: a newer
    /// contract with the same number includes everything that an older one has.
    pub(crate) fn newer_contract(&self) -> Option<Version> {
        let ours = self.names.iter().filter(|name| name.starts_with("host:"));
        let versions = ours.filter_map(|name| Version::parse(name.rsplit_once('@')?.1).ok());
        versions.max().filter(|version| *version > CONTRACT)
    }
}

/// Why a component is not admitted.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// The file is not a component.
    #[error("`{plugin}` is not a component: {why}")]
    NotAComponent {
        /// The plugin.
        plugin: PluginName,
        /// What the file is instead.
        why: String,
    },
    /// The file is too large to be read.
    #[error("`{plugin}` has {size} bytes, over the limit of {MAX_COMPONENT}")]
    TooLarge {
        /// The plugin.
        plugin: PluginName,
        /// Its size in bytes.
        size: u64,
    },
    /// It imports an interface that this host does not have.
    #[error("`{plugin}` imports `{interface}`, which this host does not have: {why}")]
    Unknown {
        /// The plugin.
        plugin: PluginName,
        /// The import as it is written in the component.
        interface: String,
        /// What the host has instead.
        why: String,
    },
    /// It imports an interface that its manifest does not declare.
    #[error(
        "`{plugin}` imports `{interface}` and its manifest does not declare it; add `[capabilities.{capability}]` \
         with a scope and a reason to its plugin.toml"
    )]
    Undeclared {
        /// The plugin.
        plugin: PluginName,
        /// The import as it is written in the component.
        interface: String,
        /// The capability of the import.
        capability: Capability,
    },
    /// It imports an interface that was not granted.
    #[error(transparent)]
    Ungranted(#[from] Denied),
    /// It does not export the interface that the host calls.
    #[error("`{plugin}` does not export `{wanted}@{CONTRACT}`: {why}")]
    NoExport {
        /// The plugin.
        plugin: PluginName,
        /// The interface.
        wanted: &'static str,
        /// What it exports instead.
        why: String,
    },
}

/// Reads the imports of a component.
///
/// # Errors
///
/// If the bytes are not a component, are too many, import an unknown interface, or export no tool.
pub fn imports(plugin: &PluginName, bytes: &[u8]) -> Result<Imports, AdmissionError> {
    imports_within(plugin, bytes.len() as u64, held(bytes))
}

/// The same of a component of `size` bytes, of which `read_at` reads some from a position on. It reads only the outer
/// parts.
pub(crate) fn imports_within(
    plugin: &PluginName,
    size: u64,
    read_at: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> Result<Imports, AdmissionError> {
    let (imports, exports) = outer(plugin, size, read_at)?;
    if size == EMPTY_COMPONENT.len() as u64 {
        return Ok(Imports { names: Vec::new(), capabilities: CapabilitySet::default(), wasi: false, empty: false });
    }
    exporting("host:tool/tool", plugin, imports, &exports)
}

/// Reads the imports of a component that is a hook. It may import nothing but what reaches nothing.
///
/// # Errors
///
/// As [`imports`]; if it imports a capability, or does not export what a hook exports.
pub fn imports_of_hook(plugin: &PluginName, bytes: &[u8]) -> Result<Imports, AdmissionError> {
    let (imports, exports) = outer(plugin, bytes.len() as u64, held(bytes))?;
    let found = exporting("host:hook/handler", plugin, imports, &exports)?;
    match found.names.iter().find(|name| capability(name).is_some()) {
        Some(interface) => Err(AdmissionError::Unknown {
            plugin: plugin.clone(),
            interface: interface.clone(),
            why: "a hook gets no capability".to_owned(),
        }),
        None => Ok(found),
    }
}

/// Returns the imports of a component that has to export this interface.
fn exporting(
    wanted: &'static str,
    plugin: &PluginName,
    names: Vec<(String, bool)>,
    exports: &[String],
) -> Result<Imports, AdmissionError> {
    let mut found = Imports {
        names: Vec::with_capacity(names.len()),
        capabilities: CapabilitySet::default(),
        wasi: false,
        empty: false,
    };
    for (name, is_instance) in names {
        let unknown = |why: String| AdmissionError::Unknown { plugin: plugin.clone(), interface: name.clone(), why };
        // A bare function or a module has no interface name, so no grant could be about it.
        if !is_instance {
            return Err(unknown("a plugin imports whole interfaces, and this is not one".to_owned()));
        }
        // An error for the first unknown import: a plugin with one of them could not run, whatever else it has.
        match classify(&name).map_err(unknown)? {
            Import::Free => {}
            Import::Wasi => found.wasi = true,
            Import::Empty => found.empty = true,
            Import::Capability(capability) => found.capabilities.insert(capability),
        }
        found.names.push(name);
    }

    // The imports were looked at before, so that the error of a plugin for another host names what it asks for.
    let speaks =
        exports.iter().any(|name| split(name).is_some_and(|(path, v)| path == wanted && compatible(&v, &CONTRACT)));
    if !speaks {
        let why = match exports.iter().find(|name| name.starts_with(wanted)) {
            Some(other) => format!("it exports `{other}`, made for another version of the host"),
            None if exports.is_empty() => "it exports nothing".to_owned(),
            None => format!("it exports `{}`", exports.join("`, `")),
        };
        return Err(AdmissionError::NoExport { plugin: plugin.clone(), wanted, why });
    }
    Ok(found)
}

/// Checks that each capability that a component imports was declared and granted, and returns those that it gets.
///
/// `declared` is what the manifest requests, `optional` the part that the plugin works without, `effective` what
/// remains after the user's grant, the session's policy and the parent's grants.
///
/// # Errors
///
/// Names the first interface that was not declared, or that was declared but neither granted nor optional.
pub fn admit(
    plugin: &PluginName,
    imports: &Imports,
    declared: &Grants,
    optional: CapabilitySet,
    effective: &Grants,
) -> Result<CapabilitySet, AdmissionError> {
    let mut admitted = CapabilitySet::default();
    for capability in imports.capabilities.iter() {
        let Some(scope) = declared.scope(capability) else {
            let interface =
                imports.names.iter().find(|name| name.contains(capability.name())).cloned().unwrap_or_default();
            return Err(AdmissionError::Undeclared { plugin: plugin.clone(), interface, capability });
        };
        if effective.has(capability) {
            admitted.insert(capability);
        } else if !optional.contains(capability) {
            return Err(Denied::ungranted(plugin, capability, &suggested(scope)).into());
        }
    }
    Ok(admitted)
}

/// Returns the grant to suggest to a user: what the plugin requests, or the usual part of it if it requests everything.
pub(crate) fn suggested(asked: &Scope) -> String {
    // What its programs may use besides is the user's to add.
    let text = asked.without_resources().to_string();
    match asked {
        Scope::FsRead(_) | Scope::FsWrite(_) if text == "/" || text == "*" => ".".to_owned(),
        // The port is written out: a grant without one is for 443 alone, which `*` does not show.
        Scope::Http(_) if text.contains("*:*") => ANY_SERVER.to_owned(),
        Scope::FsRead(_)
        | Scope::FsWrite(_)
        | Scope::Process(_)
        | Scope::Http(_)
        | Scope::State(_)
        | Scope::Mcp(_)
        | Scope::Tools(_) => text,
    }
}

/// Returns the capability of an import, if it belongs to one.
pub(crate) fn capability(name: &str) -> Option<Capability> {
    match classify(name) {
        Ok(Import::Capability(capability)) => Some(capability),
        Ok(Import::Free | Import::Wasi | Import::Empty) | Err(_) => None,
    }
}

/// Whether the functions of an import are replaced by traps: always for an interface without an implementation, and for
/// a capability that `granted`, if given, lacks.
pub(crate) fn is_missing(name: &str, granted: Option<CapabilitySet>) -> bool {
    match classify(name) {
        Ok(Import::Empty) => true,
        Ok(Import::Capability(capability)) => granted.is_some_and(|granted| !granted.contains(capability)),
        Ok(Import::Free | Import::Wasi) | Err(_) => false,
    }
}

enum Import {
    Free,
    Wasi,
    Empty,
    Capability(Capability),
}

fn classify(name: &str) -> Result<Import, String> {
    let Some((path, version)) = split(name) else {
        return Err("a plugin imports interfaces by package, name and version".to_owned());
    };
    let (known, ours) = match path.split_once('/') {
        // These are free: they only speak to the call itself, or are types.
        Some(("host:tool", "context" | "types" | "background" | "file-changes"))
        | Some(("host:cap" | "host:hook", "types")) => (Import::Free, &CONTRACT),
        Some(("host:cap", capability)) => match capability.parse::<Capability>() {
            Ok(capability) => (Import::Capability(capability), &CONTRACT),
            Err(error) => return Err(error.to_string()),
        },
        _ if INERT_WASI.contains(&path) => (Import::Wasi, &WASI),
        _ if EMPTY_WASI.contains(&path) => (Import::Empty, &WASI),
        // Not admitted and left to fail later: it would look as if files and sockets were there.
        _ if path.starts_with("wasi:") => {
            return Err(
                "of WASI it has only clocks, random numbers, streams and an empty environment; files, programs \
                        and the network are the interfaces of `host:cap`"
                    .to_owned(),
            );
        }
        _ => return Err("it has the interfaces of `host:tool` and `host:cap`".to_owned()),
    };
    // A newer minor version may have functions that this host lacks; within one major number older ones stay.
    if compatible(&version, ours) {
        Ok(known)
    } else {
        Err(format!("it has version {ours}, and {version} is not compatible with it; build the plugin against {ours}"))
    }
}

fn split(name: &str) -> Option<(&str, Version)> {
    let (path, version) = name.split_once('@')?;
    Some((path, Version::parse(version).ok()?))
}

/// Whether version `ours` satisfies an import of version `wanted`, by the component model's rule: the leftmost number
/// that is not zero is the same; a prerelease matches only itself.
fn compatible(wanted: &Version, ours: &Version) -> bool {
    if !wanted.pre.is_empty() || !ours.pre.is_empty() {
        return wanted == ours;
    }
    match (wanted.major, wanted.minor) {
        (0, 0) => (ours.major, ours.minor, ours.patch) == (0, 0, wanted.patch),
        (0, minor) => (ours.major, ours.minor) == (0, minor),
        (major, _) => ours.major == major,
    }
}

/// The imports of a component, with whether each is an instance, and its exported instances.
type Names = (Vec<(String, bool)>, Vec<String>);

/// Reads from bytes in memory.
fn held(bytes: &[u8]) -> impl FnMut(u64, &mut [u8]) -> io::Result<usize> {
    |at, into| usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default().read(into)
}

/// Reads the names of a component's outermost part.
fn outer(
    plugin: &PluginName,
    size: u64,
    mut read_at: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> Result<Names, AdmissionError> {
    if size > MAX_COMPONENT as u64 {
        return Err(AdmissionError::TooLarge { plugin: plugin.clone(), size });
    }
    let not_a_component = |why: String| AdmissionError::NotAComponent { plugin: plugin.clone(), why };
    let mut magic = [0; MAGIC.len()];
    let read = read_at(0, &mut magic).map_err(|error| not_a_component(error.to_string()))?;
    if magic.get(..read) != Some(MAGIC) {
        return Err(not_a_component("it does not start like WebAssembly".to_owned()));
    }
    outer_names(size, read_at).map_err(not_a_component)
}

/// Reads the names of the outermost component. What is nested in it is skipped: the compiler reads that.
fn outer_names(size: u64, mut read_at: impl FnMut(u64, &mut [u8]) -> io::Result<usize>) -> Result<Names, String> {
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    // Only the outermost sections are read: a component of 19 MB takes as long to list its imports as a small one.
    let mut parser = Parser::new(0);
    // A piece of the component, from this position on.
    let (mut piece, mut at) = (Vec::new(), 0u64);
    loop {
        let end = at.saturating_add(piece.len() as u64);
        // The parser gets a piece at a time and says how much it lacks, so the component is never in memory as a whole.
        let (consumed, nested) = match parser.parse(&piece, end >= size).map_err(|error| error.to_string())? {
            Chunk::NeedMoreData(hint) => {
                read_more(&mut piece, end, hint.max(PIECE).min(size.saturating_sub(end)), &mut read_at)?;
                continue;
            }
            Chunk::Parsed { consumed, payload } => match payload {
                Payload::Version { encoding: Encoding::Module, .. } => {
                    let makers = "the tool of its language makes a component of it";
                    return Err(format!("it is a core module; {makers}"));
                }
                // Skipped as a whole: what a nested component imports is given to it by the outer one, and never by the
                // host.
                Payload::ModuleSection { unchecked_range: nested, .. }
                | Payload::ComponentSection { unchecked_range: nested, .. } => (consumed, nested.len()),
                Payload::ComponentImportSection(section) => {
                    for import in section {
                        let import = import.map_err(|error| error.to_string())?;
                        imports.push((import.name.name.to_owned(), matches!(import.ty, ComponentTypeRef::Instance(_))));
                        // A section of a few megabytes can have millions of imports.
                        if imports.len() > MAX_NAMES {
                            return Err(format!("it has over {MAX_NAMES} imports"));
                        }
                    }
                    (consumed, 0)
                }
                Payload::ComponentExportSection(section) => {
                    for export in section {
                        let export = export.map_err(|error| error.to_string())?;
                        // Those beyond are dropped without an error: exports give a plugin nothing.
                        if export.kind == ComponentExternalKind::Instance && exports.len() < MAX_NAMES {
                            exports.push(export.name.name.to_owned());
                        }
                    }
                    (consumed, 0)
                }
                Payload::End(_) => return Ok((imports, exports)),
                _ => (consumed, 0),
            },
        };
        let done = consumed as u64 + nested as u64;
        at = at.saturating_add(done);
        // The next piece would be asked for beyond the end, and read as nothing.
        if at > size {
            return Err("a part of it breaks off before its end".to_owned());
        }
        piece.drain(..usize::try_from(done).map_or(piece.len(), |done| done.min(piece.len())));
    }
}

/// Adds to a piece what follows it in the component, from this position on.
fn read_more(
    piece: &mut Vec<u8>,
    end: u64,
    missing: u64,
    read_at: &mut impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> Result<(), String> {
    let held = piece.len();
    piece.resize(held + usize::try_from(missing).unwrap_or_default(), 0);
    let read = read_at(end, piece.get_mut(held..).unwrap_or_default()).map_err(|error| error.to_string())?;
    // A file that became shorter since its size was asked would be waited for without end.
    if read == 0 {
        return Err("it breaks off before its end".to_owned());
    }
    piece.truncate(held + read);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise plugin.imports
    #[test]
    fn versions_match_as_the_component_model_matches_them() {
        for (wanted, ours, fits) in [
            ("0.1.0", "0.1.0", true),
            ("0.1.7", "0.1.0", true),
            ("0.2.0", "0.1.0", false),
            ("0.0.1", "0.0.2", false),
            ("1.4.0", "1.0.0", true),
            ("2.0.0", "1.0.0", false),
            ("0.1.0-rc1", "0.1.0", false),
            ("0.2.8", "0.2.0", true),
        ] {
            let parse = |text| Version::parse(text).expect("written here");
            assert_eq!(compatible(&parse(wanted), &parse(ours)), fits, "{wanted} by {ours}");
        }
    }

    // promise plugin.imports
    #[test]
    fn admission_reports_what_a_file_is_that_is_not_a_component() {
        let plugin = PluginName::new("x");
        for (bytes, says) in [
            (&b""[..], "does not start like WebAssembly"),
            (b"#!/bin/sh", "does not start like WebAssembly"),
            (b"\0asm\x01\0\0\0", "core module"),
            (b"\0asm\x0d\0\x01", "unexpected end"),
        ] {
            let error = imports(&plugin, bytes).expect_err("none of these is a plugin").to_string();
            assert!(error.contains(says), "{error}");
        }
        // One with nothing in it belongs to a plugin that brings only files, and is not a hook.
        assert!(imports(&plugin, EMPTY_COMPONENT).expect("it imports nothing").names.is_empty());
        let error = imports_of_hook(&plugin, EMPTY_COMPONENT).expect_err("it is no hook").to_string();
        assert!(error.contains("does not export `host:hook/handler@0.1.0`"), "{error}");
    }
}
