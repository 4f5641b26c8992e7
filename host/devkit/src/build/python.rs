//! Python, through componentize-py: an interpreter with the plugin's modules, as a snapshot taken after their imports
//! ran, and those that their functions make. Its objects are immortal, see `immortal.rs`.
//!
//! The interpreter names most of WASI, whatever the plugin does. What is behind it is the inert part; its sockets have
//! nothing behind them.

mod immortal;
mod late;

use std::path::Path;
use std::process::Command;

use host_manifest::SourceManifest;

use super::contract::{Contract, WORLD};
use super::package::{self, BUILD};
use super::{BuildError, BuiltComponent, Language, Toolchain, Tools, read, write};

/// The command that gets the compiler; the package has the version.
const HOW: &str = "`python3 -m venv .venv && .venv/bin/pip install -r requirements.txt` in that folder";

/// Folder of the modules that go into the component.
const STAGE: &str = "build/python";

/// The module that the component is made of: it imports the plugin, and what the plugin would import when it is too
/// late.
const SNAPSHOT: &str = "host_snapshot";
/// What a new plugin requires: the compiler whose interpreter the host knows.
const REQUIREMENTS: &str = include_str!("../../../../sdk/python/template/requirements.txt");
/// The file that names what it would import.
const LATE: &str = "host_late.py";
/// See [`SNAPSHOT`].
const SNAPSHOT_SOURCE: &str = include_str!("python/host_snapshot.py");

pub(super) fn build(folder: &Path, manifest: SourceManifest, tools: &Tools) -> Result<BuiltComponent, BuildError> {
    let found = package::program(folder, &["componentize-py"], &["--version"], tools);
    let (compiler, version) =
        found.ok_or_else(|| BuildError::Missing { what: "componentize-py", folder: folder.to_owned(), how: HOW })?;
    if !folder.join("plugin.py").is_file() {
        return Err(BuildError::NoEntry {
            folder: folder.to_owned(),
            language: Language::Python,
            expected: "`plugin.py`",
        });
    }
    let wit = Path::new(BUILD).join("wit");
    let contract = Contract::read(folder, &manifest)?;
    contract.write(&folder.join(&wit))?;
    stage(folder)?;
    let component = Path::new(BUILD).join("plugin.wasm");
    let mut command = Command::new(compiler);
    command.arg("--quiet").arg("-d").arg(&wit).args(["-w", WORLD]);
    // By itself the name depends on which capabilities there are.
    command.args(["--import-interface-name", &format!("{}=tool_types", contract.types())]);
    command.args(["componentize", SNAPSHOT, "-p", STAGE, "-o"]).arg(&component);
    // The packages of a virtual environment, the compiler among them, would go in whole.
    command.env_remove("VIRTUAL_ENV").env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
    package::run(command, folder, tools)?;
    let toolchain = Toolchain {
        compiler: version,
        target: "wasm32-wasip2".to_owned(),
        componentizer: "componentize-py".to_owned(),
    };
    let mut component = read(&folder.join(component))?;
    immortal::make_immortal(&mut component).map_err(|why| BuildError::Componentize {
        plugin: manifest.name.clone(),
        why: format!("{why}; the compiler whose Python the host knows is {}", REQUIREMENTS.trim()),
    })?;
    let sources = package::sources(folder, &["py"], &["requirements.txt"])?;
    let folder = folder.to_owned();
    Ok(BuiltComponent { manifest, folder, component, sources, elsewhere: Vec::new(), toolchain })
}

/// Copies the modules of the package to a folder of their own: the compiler takes all that lies in a folder, and in the
/// package's own lie the virtual environment and what was built before.
fn stage(folder: &Path) -> Result<(), BuildError> {
    let stage = folder.join(STAGE);
    match std::fs::remove_dir_all(&stage) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(BuildError::Write { path: stage, error });
        }
        Ok(()) | Err(_) => {}
    }
    let files = package::files(folder, &["py"])?;
    let mut late = Vec::new();
    for file in &files {
        let bytes = read(&folder.join(file))?;
        late.push((file.as_path(), late::imports(file, &String::from_utf8_lossy(&bytes))));
        write(&stage.join(file), &bytes)?;
    }
    write(&stage.join(LATE), late::module(&late).as_bytes())?;
    write(&stage.join(SNAPSHOT).with_extension("py"), SNAPSHOT_SOURCE.as_bytes())
}
