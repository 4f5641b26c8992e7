//! `host plugin new`: a folder with a plugin that works.
//!
//! Promises: a name that no plugin can have is refused before anything is written, and nothing that is there is written
//! over.

use std::path::{Path, PathBuf};

use host_app::error::Failure;
use host_manifest::{Source, SourceManifest};
use tokio_util::sync::CancellationToken;

use crate::exit::Code;
use crate::printer::Out;
use crate::templates;

/// Writes a plugin of this name into a folder, or into one of its own name where none is given.
pub(super) fn run(name: &str, language: &str, into: Option<&Path>) -> Result<Code, Failure> {
    host_manifest::check_name(name).map_err(|error| Failure::input(error.to_string()))?;
    let files = templates::filled(language, name)
        .ok_or_else(|| Failure::input(format!("there is no template for `{language}`")))?;
    check(&files).map_err(|error| Failure::input(error.to_string()))?;
    let own = name.rsplit('/').next().unwrap_or(name);
    let folder = into.unwrap_or(Path::new(own));
    require_empty(folder)?;
    for (path, text) in &files {
        write_new(&folder.join(path), text)?;
    }
    let shown = folder.display();
    let text =
        format!("{shown}: {} files. What comes next:\n\ncd {shown}\n{}", files.len(), templates::commands(&files));
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

/// Whether the manifest is one with this name in it.
fn check(files: &[(PathBuf, String)]) -> Result<(), host_manifest::ManifestError> {
    for (path, text) in files.iter().filter(|(path, _)| path == Path::new("plugin.toml")) {
        SourceManifest::parse(text, &Source::File(path.clone()))?;
    }
    Ok(())
}

fn require_empty(folder: &Path) -> Result<(), Failure> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Failure::input(format!("`{}` is not empty", folder.display()))
                .help("name another folder with --in FOLDER; nothing that is there is written over")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::input(format!("`{}` cannot be used: {error}", folder.display()))),
    }
}

fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::input(format!("`{}` cannot be written: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)
}
