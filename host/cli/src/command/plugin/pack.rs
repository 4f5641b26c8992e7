//! `host plugin pack`: from a plugin's sources, or from what was built of them, to a bundle.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use host_bundle::{Bundle, PackError, Parts};
use host_devkit::{LICENSE_FILES, license_gap};
use host_files::{Mode, NewFile};
use host_manifest::{Manifest, Source};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use tokio_util::sync::CancellationToken;

use super::build::{failed, runtime, tools};
use crate::arguments::bundles::Pack;
use crate::exit::Code;
use crate::printer::Out;

/// The usual names of a README.
const READMES: &[&str] = &["README.md", "README"];
/// The most bytes that are read of any file here: one more than the largest that a bundle takes, which then says so.
const MAX_READ: u64 = host_plugin::MAX_COMPONENT as u64;

pub(super) async fn run(pack: Pack, environment: &Environment) -> Result<Code, Failure> {
    let (manifest, component, beside) = plugin(&pack.path, environment).await?;
    let readme = text(pack.readme.as_deref(), &beside, READMES)?;
    let license = text(pack.license.as_deref(), &beside, LICENSE_FILES)?;
    if let Some(gap) = license.as_deref().and_then(|text| license_gap(&String::from_utf8_lossy(text))) {
        return Err(Failure::input(format!(
            "the licence file of `{}` is still a template: it contains `{gap}`",
            manifest.name
        ))
        .help(format!("write the text of `{}`, which its plugin.toml names, into the file", manifest.license)));
    }
    let bundle = Bundle::pack(Parts { manifest, component, readme, license })
        .map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
    let Manifest { name, version, .. } = bundle.manifest();
    let out = pack.out.unwrap_or_else(|| PathBuf::from(file_name(bundle.manifest())));
    write(&out, &bundle, if pack.force { Existing::Replace } else { Existing::Keep })?;
    let said = format!("{name} {version}  {}  {}\n", bundle.digest(), out.display());
    Out::new(CancellationToken::new()).write(&said);
    Ok(Code::Done)
}

/// A plugin's manifest and component, and the folder in which its README and licence are looked for.
async fn plugin(path: &Path, environment: &Environment) -> Result<(Manifest, Vec<u8>, PathBuf), Failure> {
    if path.join("plugin.toml").is_file() {
        let wanted = host_devkit::read_manifest(&path.join("plugin.toml"))
            .map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
        // Before minutes of building in vain.
        if wanted.description.is_none() {
            return Err(Failure::from_error(ErrorKind::Input, &PackError::NoDescription(wanted.name)));
        }
        let built = host_devkit::compile(path, tools(environment)).await.map_err(failed)?;
        let built = built.into_iter().find(|built| built.manifest.name == wanted.name).ok_or_else(|| {
            Failure::input(format!("nothing was built of `{}`", path.display()))
                .help("its Cargo.toml needs the crate type `cdylib`")
        })?;
        let runtime = runtime(environment);
        let manifest = host_devkit::describe(&runtime, &built).await.map_err(failed)?;
        return Ok((manifest, built.component, path.to_owned()));
    }
    let component = if path.is_dir() { only_component(path)? } else { path.to_owned() };
    if component.extension().is_none_or(|end| end != "wasm") {
        return Err(Failure::input(format!("`{}` is neither a plugin's folder nor its component", path.display()))
            .help("name a folder with a plugin.toml, or the .wasm file that `host plugin build --out DIR` made"));
    }
    let json = component.with_extension("json");
    let manifest = String::from_utf8(read(&json)?)
        .map_err(|_| Failure::input(format!("the manifest `{}` is not UTF-8 text", json.display())))?;
    let manifest = Manifest::parse(&manifest, Source::File(json))
        .map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
    let beside = component.parent().unwrap_or(Path::new(".")).to_owned();
    Ok((manifest, read(&component)?, beside))
}

/// The one component of a folder.
fn only_component(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("`{}` cannot be read: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "wasm") {
            found.push(path);
        }
    }
    found.sort();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::input(format!("`{}` has neither a plugin.toml nor a component", folder.display()))
            .help("build the plugin first: host plugin build FOLDER --out DIR")),
        [one, ..] => Err(Failure::input(format!("`{}` has {} plugins", folder.display(), found.len()))
            .help(format!("name one of them: host plugin pack '{}'", one.display()))),
    }
}

/// Returns the default name of a bundle's file.
pub(super) fn file_name(manifest: &Manifest) -> String {
    format!("{}-{}.tar", manifest.name.replace('/', "+"), manifest.version)
}

/// Reads the named file, or the first one that exists.
fn text(named: Option<&Path>, beside: &Path, usual: &[&str]) -> Result<Option<Vec<u8>>, Failure> {
    let usual = || usual.iter().map(|name| beside.join(name)).find(|path| path.is_file());
    named.map(Path::to_owned).or_else(usual).map(|path| read(&path)).transpose()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("`{}` cannot be read: {error}", path.display()));
    host_files::read_file(path, MAX_READ).map_err(|error| failed(error.into()))
}

/// The handling of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// It stays: it is an error, and nothing is written.
    Keep,
    /// It is replaced.
    Replace,
}

/// Writes a bundle, whole or not at all.
pub(super) fn write(path: &Path, bundle: &Bundle, existing: Existing) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("`{}` cannot be written: {error}", path.display()));
    let mut file = NewFile::beside(path, Mode::Umask).map_err(failed)?;
    bundle.write_archive(std::io::BufWriter::new(&mut file)).and_then(|()| file.flush()).map_err(failed)?;
    let kept = match existing {
        Existing::Replace => file.replace(),
        Existing::Keep => file.create(),
    };
    kept.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::input(format!("`{}` already exists", path.display()))
            .help("name another file with --out, or add --force to replace the file and all signatures in it"),
        _ => failed(error),
    })
}
