//! The contract that a package carries in its folder `wit`, and the world that its plugin lives in.
//!
//! Promises: the world has the capabilities that `plugin.toml` declares and no other, so that a component cannot import
//! what its manifest does not mention, whatever its language puts into it.
//!
//! Deliberately not here: Rust, whose compiler drops what is not used, so that its binding has every interface. Go
//! drops it too; its world comes from here, with every capability.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use host_capability::Capability;
use host_manifest::SourceManifest;
use wit_bindgen_core::{Files, WorldGenerator};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId};

use super::{BuildError, read_text, write};

/// The name of the world, and so of the files that a binding generator makes for it.
pub(crate) const WORLD: &str = "contract";

/// The interfaces of `host:tool` for plugins with a capability: programs that one left running, and changes that a
/// preview names.
const BESIDES: [(&str, &str); 2] = [("process", "background"), ("fs-write", "file-changes")];

/// The package of hooks. What carries it and not `tool` is a hook, and no plugin with tools.
const HOOK: &str = "hook";

/// Files in one package of a contract. Protects the parser; the largest has six.
const MAX_FILES: usize = 64;

/// The world of one plugin.
pub(super) struct Contract {
    /// The packages of the contract: the folder's name, and each file with its text.
    packages: Vec<(&'static str, Vec<(PathBuf, String)>)>,
    /// The text of the package that holds the world.
    world: String,
    /// The interface with the types that all share, with its version.
    types: String,
    is_hook: bool,
    resolve: Resolve,
    id: WorldId,
}

impl Contract {
    /// Reads `wit/tool` and `wit/cap` of the package in `folder`, and makes the world of its manifest; for a hook
    /// `wit/hook`, whose world has no import.
    pub(super) fn read(folder: &Path, manifest: &SourceManifest) -> Result<Self, BuildError> {
        let capabilities: Vec<&str> = manifest.capabilities.keys().map(String::as_str).collect();
        Self::read_with(folder, &capabilities)
    }

    /// Reads the same for a world with every capability that the package's contract has.
    pub(super) fn read_whole(folder: &Path) -> Result<Self, BuildError> {
        let cap = folder.join("wit/cap");
        let there = |name: &&str| cap.join(format!("{name}.wit")).is_file();
        Self::read_with(folder, &Capability::ALL.map(Capability::name).into_iter().filter(there).collect::<Vec<_>>())
    }

    fn read_with(folder: &Path, capabilities: &[&str]) -> Result<Self, BuildError> {
        let wrong = |why: String| BuildError::Contract { folder: folder.join("wit"), why };
        let mut resolve = Resolve::default();
        let mut packages = Vec::new();
        let mut versions = Vec::new();
        // A package may carry a contract from before there were these interfaces.
        let mut besides = Vec::new();
        let carries = |name: &str| folder.join("wit").join(name).is_dir();
        let is_hook = carries(HOOK) && !carries("tool");
        let names: &[&'static str] = if is_hook { &[HOOK] } else { &["cap", "tool"] };
        for name in names.iter().copied() {
            let files = files(&folder.join("wit").join(name))?;
            let mut sources = wit_parser::SourceMap::new();
            for (path, text) in &files {
                sources.push_str(&path.to_string_lossy(), text.clone());
            }
            let group = sources.parse().map_err(|(sources, error)| wrong(error.render(&sources)))?;
            let id = resolve.push_group(group).map_err(|error| wrong(error.render(&resolve.source_map)))?;
            let there = &resolve.packages[id].interfaces;
            besides.extend(BESIDES.into_iter().filter(|(_, interface)| there.contains_key(*interface)));
            versions.push(resolve.packages[id].name.version.as_ref().map(|v| format!("@{v}")).unwrap_or_default());
            packages.push((name, files));
        }
        let (world, types) = match versions.as_slice() {
            [cap, tool] => (world(capabilities, cap, tool, &besides), format!("host:tool/types{tool}")),
            versions => {
                let version = versions.first().map(String::as_str).unwrap_or_default();
                let world =
                    format!("package host:build;\n\nworld {WORLD} {{\n    export host:hook/handler{version};\n}}\n");
                (world, format!("host:hook/types{version}"))
            }
        };
        let package = resolve.push_source("world.wit", &world).map_err(|error| wrong(format!("{error:#}")))?;
        let id = resolve.select_world(&[package], Some(WORLD)).map_err(|error| wrong(format!("{error:#}")))?;
        Ok(Self { packages, world, types, is_hook, resolve, id })
    }

    /// Writes it as a folder that binding generators read: the world, and what it needs under `deps`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), BuildError> {
        write(&folder.join("world.wit"), self.world.as_bytes())?;
        for (name, files) in &self.packages {
            for (path, text) in files {
                let file = path.file_name().unwrap_or(path.as_os_str());
                write(&folder.join("deps").join(name).join(file), text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The name of the interface with the types of `host:tool`, or of `host:hook`, with its version.
    pub(super) fn types(&self) -> &str {
        &self.types
    }

    /// Returns whether it is the contract of a hook, and not of a plugin with tools.
    pub(super) fn is_hook(&self) -> bool {
        self.is_hook
    }

    /// Writes the binding for C into a folder: `contract.h`, `contract.c`, and an object whose one section is the
    /// world; linked into the module, it describes the module's imports to the step that makes a component.
    pub(super) fn write_c(&self, folder: &Path) -> Result<(), BuildError> {
        for (name, bytes) in self.generate(wit_bindgen_c::Opts::default().build().as_mut(), folder)?.iter() {
            write(&folder.join(name), bytes)?;
        }
        Ok(())
    }

    /// Generates a binding; `folder` is for the error.
    pub(super) fn generate(&self, generator: &mut dyn WorldGenerator, folder: &Path) -> Result<Files, BuildError> {
        let mut files = Files::default();
        let generated = generator.generate(&mut self.resolve.clone(), self.id, &mut files);
        generated.map_err(|error| BuildError::Contract { folder: folder.to_owned(), why: format!("{error:#}") })?;
        Ok(files)
    }

    /// Adds the world to a module whose compiler does not do so.
    pub(super) fn embed(&self, plugin: &str, mut module: Vec<u8>) -> Result<Vec<u8>, BuildError> {
        let embedded = embed_component_metadata(&mut module, &self.resolve, self.id, StringEncoding::UTF8);
        let failed = |error| BuildError::Componentize { plugin: plugin.to_owned(), why: format!("{error:#}") };
        embedded.map_err(failed).map(|()| module)
    }
}

/// The text of the package with the world of the contract of this host.
pub(crate) fn whole_world(capabilities: &[&str], cap: &str, tool: &str) -> String {
    world(capabilities, cap, tool, &BESIDES)
}

/// The text of the package with the world, of a contract that has these interfaces besides.
fn world(capabilities: &[&str], cap: &str, tool: &str, besides: &[(&str, &str)]) -> String {
    let mut text = format!("package host:build;\n\nworld {WORLD} {{\n    import host:tool/context{tool};\n");
    for capability in capabilities {
        // A string takes everything.
        let _ = writeln!(text, "    import host:cap/{capability}{cap};");
        for (_, interface) in besides.iter().filter(|(of, _)| of == capability) {
            let _ = writeln!(text, "    import host:tool/{interface}{tool};");
        }
    }
    let _ = writeln!(text, "    export host:tool/tool{tool};\n}}");
    text
}

/// The files of one package of the contract, by name.
fn files(folder: &Path) -> Result<Vec<(PathBuf, String)>, BuildError> {
    let missing = || BuildError::Contract {
        folder: folder.to_owned(),
        why: "it is missing; `host plugin new` puts the contract there".to_owned(),
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|_| missing())? {
        let path = entry.map_err(|error| BuildError::Read { path: folder.to_owned(), error })?.path();
        if path.extension().is_some_and(|end| end == "wit") {
            if files.len() == MAX_FILES {
                let why = format!("it has more than {MAX_FILES} files");
                return Err(BuildError::Contract { folder: folder.to_owned(), why });
            }
            files.push((path.clone(), read_text(&path)?));
        }
    }
    if files.is_empty() {
        return Err(missing());
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_manifest::Source;

    /// A package with the contract of this repository.
    fn package() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        for name in ["cap", "tool"] {
            for (path, text) in files(&wit.join(name)).expect("it is there") {
                let file = folder.path().join("wit").join(name).join(path.file_name().expect("it is a file"));
                write(&file, text.as_bytes()).expect("written");
            }
        }
        folder
    }

    fn manifest(capabilities: &[&str]) -> SourceManifest {
        let asks = capabilities.iter().map(|name| {
            let scope = if *name == "state" { "write" } else { "*" };
            format!("[capabilities.{name}]\nscope = \"{scope}\"\nreason = \"r\"\n")
        });
        let text = format!("name = \"w\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n{}", asks.collect::<String>());
        SourceManifest::parse(&text, &Source::File(PathBuf::from("plugin.toml"))).expect("it is right")
    }

    #[test]
    fn the_world_has_what_is_declared_and_no_more() {
        let package = package();
        for capabilities in
            [&[][..], &["fs-read"], &["fs-read", "fs-write", "http", "mcp", "process", "state", "tools"]]
        {
            let contract = Contract::read(package.path(), &manifest(capabilities)).expect("it is right");
            let world = &contract.resolve.worlds[contract.id];
            let named = |key| contract.resolve.name_world_key(key);
            let mut imports: Vec<String> = world.imports.keys().map(named).collect();
            imports.retain(|name| !name.ends_with("/types@0.1.0"));
            imports.sort();
            let mut expected: Vec<String> = capabilities.iter().map(|name| format!("host:cap/{name}@0.1.0")).collect();
            expected.extend(capabilities.contains(&"process").then(|| "host:tool/background@0.1.0".to_owned()));
            expected.push("host:tool/context@0.1.0".to_owned());
            expected.extend(capabilities.contains(&"fs-write").then(|| "host:tool/file-changes@0.1.0".to_owned()));
            assert_eq!(imports, expected);
            let exports: Vec<String> = world.exports.keys().map(named).collect();
            assert_eq!(exports, ["host:tool/tool@0.1.0"]);
        }
    }

    #[test]
    fn the_world_of_a_contract_from_before_an_interface_is_without_it() {
        let package = package();
        let tool = package.path().join("wit/tool/tool.wit");
        let text = std::fs::read_to_string(&tool).expect("there");
        let (before, rest) = text.split_once("interface file-changes {").expect("there");
        let (_, after) = rest.split_once("\n}\n").expect("it ends");
        write(&tool, format!("{before}interface another {{}}\n{after}").as_bytes()).expect("written");
        let contract = Contract::read(package.path(), &manifest(&["fs-write", "process"])).expect("it is right");
        assert!(contract.world.contains("host:tool/background@"), "{}", contract.world);
        assert!(!contract.world.contains("file-changes"), "{}", contract.world);
    }

    #[test]
    fn the_world_of_a_hook_imports_nothing() {
        let package = tempfile::tempdir().expect("a folder");
        let text = include_str!("../../../../wit/hook/hook.wit");
        write(&package.path().join("wit/hook/hook.wit"), text.as_bytes()).expect("written");
        let contract = Contract::read(package.path(), &manifest(&["fs-read"])).expect("it is right");
        let world = &contract.resolve.worlds[contract.id];
        let named = |key| contract.resolve.name_world_key(key);
        // Types alone, which hold no function.
        assert_eq!(world.imports.keys().map(named).collect::<Vec<_>>(), ["host:hook/types@0.1.0"]);
        assert_eq!(world.exports.keys().map(named).collect::<Vec<_>>(), ["host:hook/handler@0.1.0"]);
    }

    #[test]
    fn a_contract_without_end_is_refused() {
        let package = package();
        for i in 0..=MAX_FILES {
            write(&package.path().join(format!("wit/cap/more{i}.wit")), b"").expect("written");
        }
        let Err(error) = Contract::read(package.path(), &manifest(&[])) else { panic!("it has too many files") };
        assert!(error.to_string().contains(&MAX_FILES.to_string()), "{error}");
    }
}
