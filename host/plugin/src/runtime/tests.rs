//! Tests linking: with components made here from the contract itself, each importing one interface.
//!
//! No toolchain makes them: for linking, a module is enough that imports and exports what a world declares and whose
//! functions trap.

use std::path::{Path, PathBuf};

use host_capability::{PluginName, Scope};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve};

use super::*;
use crate::component::ComponentBytes;

fn wit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

/// Makes a plugin with these imports.
fn component(imports: &[&str]) -> Vec<u8> {
    component_of(&wit(), imports)
}

/// Makes a plugin with these imports of the contract in a folder.
fn component_of(wit: &Path, imports: &[&str]) -> Vec<u8> {
    let mut resolve = Resolve::default();
    for folder in ["tool", "cap"] {
        resolve.push_dir(wit.join(folder)).expect("the contract is good WIT");
    }
    let lines: String = imports.iter().map(|name| format!("import {name};\n")).collect();
    let (_, tool) = resolve.packages.iter().find(|(_, package)| package.name.name == "tool").expect("it is there");
    let version = tool.name.version.clone().expect("it has one");
    let world = format!("package test:generated;\nworld probe {{\n{lines}export host:tool/tool@{version};\n}}\n");
    let package = resolve.push_str("probe.wit", &world).expect("the world is good WIT");
    let world = resolve.select_world(&[package], Some("probe")).expect("it is there");
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Legacy(LiftLowerAbi::Sync));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("it fits");
    ComponentEncoder::default().module(&module).and_then(|encoder| encoder.validate(true).encode()).expect("it is one")
}

/// Returns the names of the interfaces of `host:cap`, from its files: a new one is tested here too.
fn interfaces() -> Vec<String> {
    interfaces_of(&wit())
}

fn interfaces_of(wit: &Path) -> Vec<String> {
    let mut resolve = Resolve::default();
    resolve.push_dir(wit.join("cap")).expect("the contract is good WIT");
    let named = resolve.interfaces.iter().filter(|(_, interface)| !interface.functions.is_empty());
    let mut names: Vec<String> = named.filter_map(|(_, interface)| interface.name.clone()).collect();
    names.sort();
    names
}

/// Returns every set of capabilities.
fn sets() -> impl Iterator<Item = CapabilitySet> {
    (0_u32..1 << Capability::ALL.len()).map(|bits| {
        let of_bits = Capability::ALL.into_iter().enumerate().filter(|(place, _)| bits & (1 << place) != 0);
        of_bits.fold(CapabilitySet::default(), |mut set, (_, capability)| {
            set.insert(capability);
            set
        })
    })
}

fn widest(capability: Capability) -> Scope {
    Scope::parse(capability, "*", Path::new("/")).expect("everything is a scope of each")
}

#[test]
fn each_capability_is_an_interface_and_each_interface_a_capability() {
    let mut names: Vec<&str> = Capability::ALL.iter().map(|capability| capability.name()).collect();
    names.sort_unstable();
    assert_eq!(interfaces(), names);
}

// promise plugin.imports
#[test]
fn no_interface_is_linked_under_any_set_of_grants_that_lacks_it() {
    let runtime = Runtime::new(RuntimeOptions::default());
    let (engine, ..) = runtime.engine().expect("it starts");
    for name in interfaces() {
        let capability = name.parse::<Capability>().expect("each is one");
        let bytes = component(&[&format!("host:cap/{name}@0.1.0")]);
        let component = Component::new(engine, &bytes).expect("it compiles");
        for set in sets() {
            for wasi in [false, true] {
                let linker = runtime.linker(set, wasi).expect("it is made");
                let linked = linker.instantiate_pre(&component);
                assert_eq!(linked.is_ok(), set.contains(capability), "{name} with {set:?}");
                if let Err(error) = linked {
                    let error = format!("{error:#}");
                    assert!(error.contains(&format!("host:cap/{name}")), "{name}: {error}");
                }
            }
        }
    }
}

#[test]
fn runtime_component_that_imports_everything_links_only_with_everything() {
    let runtime = Runtime::new(RuntimeOptions::default());
    let (engine, ..) = runtime.engine().expect("it starts");
    let names: Vec<String> = interfaces().iter().map(|name| format!("host:cap/{name}@0.1.0")).collect();
    let bytes = component(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let component = Component::new(engine, &bytes).expect("it compiles");
    for set in sets() {
        let linker = runtime.linker(set, false).expect("it is made");
        let whole = Capability::ALL.into_iter().all(|capability| set.contains(capability));
        assert_eq!(linker.instantiate_pre(&component).is_ok(), whole, "{set:?}");
    }
}

// promise plugin.imports
#[tokio::test]
async fn a_call_is_refused_under_every_set_of_grants_that_lacks_an_import() {
    let runtime = Runtime::new(RuntimeOptions::default());
    for name in interfaces() {
        let capability = name.parse::<Capability>().expect("each is one");
        let declared = Grants::none().with(widest(capability));
        let bytes = component(&[&format!("host:cap/{name}@0.1.0")]);
        let plugin = Plugin::new(PluginName::new("probe"), bytes, declared);
        for set in sets() {
            let (id, tool) = (CallId::new("1"), ToolName::new("probe"));
            let grants = Arc::new(set.iter().map(widest).collect());
            let invocation = Invocation::new(id, tool, "{}".to_owned(), grants, Arc::new(Workspace::nowhere()));
            let error = runtime.call(&plugin, invocation).await.expect_err("it traps where it runs");
            match error {
                CallError::Crashed { .. } => assert!(set.contains(capability), "{name} ran with {set:?}"),
                CallError::Admission(admission::AdmissionError::Ungranted(denied)) => {
                    assert!(!set.contains(capability) && denied.capability == capability, "{name}: {denied}");
                }
                other => panic!("{name} with {set:?}: {other}"),
            }
        }
    }
}

/// Links a component with everything available, and looks up a plugin's exports.
fn linked(bytes: Vec<u8>) -> Result<(), CallError> {
    let runtime = Runtime::new(RuntimeOptions::default());
    let (engine, ..) = runtime.engine().expect("it starts");
    let plugin =
        Plugin::new(PluginName::new("probe"), bytes.clone(), Capability::ALL.map(widest).into_iter().collect());
    let component = Component::new(engine, &bytes).expect("it compiles");
    let granted = Capability::ALL.into_iter().fold(CapabilitySet::default(), |mut set, capability| {
        set.insert(capability);
        set
    });
    let linked = Linked { granted, missing: Missing::Refuse };
    runtime.link(&plugin, &component, plugin.imports()?, linked).map(drop)
}

// promise contract.compatible
#[test]
fn compat_component_that_uses_all_of_an_earlier_contract_links() {
    let fixtures = wit().join("../tests/compat");
    let mut seen = 0;
    for contract in std::fs::read_dir(fixtures).expect("the fixtures").flatten() {
        let wit = contract.path().join("wit");
        if !wit.is_dir() {
            continue;
        }
        let capabilities = interfaces_of(&wit);
        let mut names: Vec<String> = capabilities.iter().map(|name| format!("host:cap/{name}@0.1.0")).collect();
        names.push("host:tool/context@0.1.0".to_owned());
        let tool = std::fs::read_to_string(wit.join("tool/tool.wit")).expect("it is there");
        let besides = ["background", "file-changes"].into_iter();
        let there = besides.filter(|name| tool.contains(&format!("interface {name} {{")));
        names.extend(there.map(|name| format!("host:tool/{name}@0.1.0")));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        linked(component_of(&wit, &names)).unwrap_or_else(|error| panic!("{}: {error}", wit.display()));
        seen += 1;
    }
    assert!(seen > 0, "no contract in tests/compat");
}

// promise contract.compatible
#[test]
fn runtime_component_for_a_later_contract_reports_that_the_host_is_too_old() {
    let later = tempfile::tempdir().expect("a folder");
    let copy = |added: &str| {
        for folder in ["tool", "cap"] {
            std::fs::create_dir_all(later.path().join(folder)).expect("made");
            for file in std::fs::read_dir(wit().join(folder)).expect("read").flatten() {
                let text = std::fs::read_to_string(file.path()).expect("read").replace("@0.1.0", "@0.1.9");
                let text = text.replace("interface state {", &format!("interface state {{\n{added}\n"));
                std::fs::write(later.path().join(folder).join(file.file_name()), text).expect("written");
            }
        }
        linked(component_of(later.path(), &["host:cap/state@0.1.9"]))
    };
    copy("").expect("it needs nothing that is not here");
    let error = copy("forget: func();").expect_err("it does").to_string();
    assert!(
        error.contains("made for a newer host: its contract is 0.1.9") && error.contains("update the host"),
        "{error}"
    );
}

#[test]
fn components_of_the_binary_are_compiled_ahead_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = || Runtime::new(RuntimeOptions { cache: Some(folder.path().into()), ..RuntimeOptions::default() });
    let part: &'static [u8] = component(&[]).leak();
    let plugin = |component: ComponentBytes| Plugin::new(PluginName::new("p"), component, Grants::none());

    let of_others = plugin(component(&["host:cap/types@0.1.0"]).into());
    let of_the_binary = plugin(part.into());
    // Its thread keeps the lowest priority.
    std::thread::scope(|scope| scope.spawn(|| runtime().compile_ahead([&of_others, &of_the_binary])).join())
        .expect("ended");
    assert_eq!([of_others.compiled.initialized(), of_the_binary.compiled.initialized()], [false, true]);

    // A later process only loads it; what is not there it does not compile.
    let (later, without_cache) = (plugin(part.into()), plugin(part.into()));
    runtime().warm(&later);
    Runtime::new(RuntimeOptions::default()).compile_ahead([&without_cache]);
    assert_eq!([later.compiled.initialized(), without_cache.compiled.initialized()], [true, false]);
}
