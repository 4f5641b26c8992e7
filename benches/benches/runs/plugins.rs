//! Many installed plugins: the example `word_count` in C, under as many names as there are plugins, and once in Python.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use host_tests::languages::{LANGUAGES, example};

use crate::process::Place;

/// All of them together.
pub(crate) const PLUGINS: usize = 20;

/// The tool of the example. A copy has another of the same length, in its component as in its manifest.
const TOOL: &str = "word_count";

/// Installs them, signed by a trusted key.
pub(crate) fn install(place: &Place) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().map_err(|_| "it is no text");
    let (password, key, public) = (path("password")?, path("acme.key")?, path("acme.pub")?);
    fs::write(&password, "correct horse battery staple")?;
    fs::set_permissions(&password, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    host(place, &["keys", "generate", "--out", &key, "--password-file", &password])?;
    host(place, &["keys", "trust", &public, "--for", "acme/*"])?;
    let dist = |name: &str| LANGUAGES.into_iter().find(|language| language.name == name).map(example);
    let (c, python) = (dist("c").ok_or("no C")?, dist("python").ok_or("no Python")?);
    for number in 1..=PLUGINS {
        let (dist, tool) =
            if number == PLUGINS { (&python, TOOL.to_owned()) } else { (&c, format!("word_cnt{number:02}")) };
        let (component, bundle) = (path(&format!("words{number}.wasm"))?, path(&format!("words{number}.tar"))?);
        copy(dist, Path::new(&component), &tool, &format!("acme/words{number}"))?;
        host(place, &["plugin", "pack", &component, "--out", &bundle])?;
        host(place, &["plugin", "sign", &bundle, "--key", &key, "--password-file", &password])?;
        host(place, &["plugin", "install", &bundle, "--user", "--yes"])?;
    }
    Ok(())
}

/// Copies a built example as the plugin of another name, whose tool has another name of the same length.
fn copy(dist: &Path, to: &Path, tool: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let mut files = fs::read_dir(dist)?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let component = files.find(|path| path.extension() == Some(OsStr::new("wasm"))).ok_or("no component")?;
    let manifest = fs::read_to_string(component.with_extension("json"))?;
    fs::write(to.with_extension("json"), manifest.replace(TOOL, tool).replace("acme/words", name))?;
    let mut bytes = fs::read(component)?;
    let places: Vec<usize> =
        bytes.windows(TOOL.len()).enumerate().filter(|it| it.1 == TOOL.as_bytes()).map(|it| it.0).collect();
    for at in places {
        bytes[at..at + TOOL.len()].copy_from_slice(tool.as_bytes());
    }
    Ok(fs::write(to, bytes)?)
}

fn host(place: &Place, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let output = place.command(arguments).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("host {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)).into()),
    }
}
