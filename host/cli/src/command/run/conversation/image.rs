//! The image in the clipboard, for an input line that takes it with a key.
//!
//! A terminal passes on text alone, so the image is taken from the system's clipboard by the program that the desktop
//! has for it: `wl-paste`, `xclip`, or `osascript`. It is found in folders of `PATH` that lie outside of the workspace,
//! so that no repository puts a program of its own in its place.
//!
//! Deliberately not here: keeping and attaching it (`host_app::attach::images`).

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use host_app::attach::images::{self, MAX_IMAGE, MentionedImages};
use host_settings::environment::Environment;
use host_terminal::Folded;

/// How long the program may take. A clipboard belongs to another program, which may not answer.
const LIMIT: Duration = Duration::from_secs(5);

/// A program that prints the image in the clipboard.
struct Source {
    program: &'static str,
    arguments: &'static [&'static str],
    /// What to install if it is missing.
    package: &'static str,
    /// Whether it prints hexadecimal digits, as AppleScript does.
    is_hex: bool,
}

const WAYLAND: Source = Source {
    program: "wl-paste",
    arguments: &["--no-newline", "--type", "image/png"],
    package: "wl-clipboard",
    is_hex: false,
};

const X11: Source = Source {
    program: "xclip",
    arguments: &["-selection", "clipboard", "-target", "image/png", "-out"],
    package: "xclip",
    is_hex: false,
};

const MACOS: Source = Source {
    program: "osascript",
    arguments: &["-e", "get the clipboard as \u{ab}class PNGf\u{bb}"],
    package: "osascript",
    is_hex: true,
};

/// Takes the image in the clipboard into a new file of this folder, and returns its mention.
pub(super) fn take(environment: &Environment, workspace: &Path, folder: &Path) -> Result<Folded, String> {
    let source = if cfg!(target_os = "macos") {
        &MACOS
    } else if environment.variable("WAYLAND_DISPLAY").is_some() {
        &WAYLAND
    } else if environment.variable("DISPLAY").is_some() {
        &X11
    } else {
        return Err("no clipboard to read here: attach the image with @path".to_owned());
    };
    let path = environment.variable("PATH").unwrap_or_default();
    let Some(program) = found(source.program, path, workspace) else {
        return Err(format!("to attach an image from the clipboard, install {}", source.package));
    };
    let printed = printed(&program, source, environment)?;
    let image = if source.is_hex { from_hex(&printed).unwrap_or_default() } else { printed };
    images::keep(&image, folder).map(folded).map_err(|error| error.to_string())
}

/// The images whose paths were pasted, which is how a terminal passes on what is dropped onto it.
pub(super) fn dropped(paste: &str) -> Option<Folded> {
    images::pasted(paste).map(folded)
}

fn folded(MentionedImages { text, label }: MentionedImages) -> Folded {
    Folded { text, label }
}

/// The program in the first folder of `PATH` that has it. Relative folders and those of the workspace are left out.
fn found(name: &str, path: &OsStr, workspace: &Path) -> Option<PathBuf> {
    let is_outside = |folder: &PathBuf| {
        let real = folder.canonicalize().ok();
        folder.is_absolute() && real.is_some_and(|real| !real.starts_with(workspace))
    };
    let programs = std::env::split_paths(path).filter(is_outside).map(|folder| folder.join(name));
    programs
        .into_iter()
        .find(|program| program.canonicalize().is_ok_and(|real| real.is_file() && !real.starts_with(workspace)))
}

/// What the program prints, within the limits of time and size.
fn printed(program: &Path, source: &Source, environment: &Environment) -> Result<Vec<u8>, String> {
    let name = source.program;
    let failed = |error: std::io::Error| format!("cannot run {name}: {error}");
    let mut child = Command::new(program)
        .args(source.arguments)
        .env_clear()
        .envs(environment.all())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let limit = if source.is_hex { MAX_IMAGE * 2 + 100 } else { MAX_IMAGE };
    let (sender, receiver) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = output.take(limit + 1).read_to_end(&mut bytes);
            sender.send(read.map(|_| bytes)).ok();
        });
    }
    let read = receiver.recv_timeout(LIMIT);
    // It has printed everything, or took too long.
    child.kill().ok();
    child.wait().ok();
    match read {
        Ok(Ok(bytes)) if bytes.len() as u64 > limit => {
            Err(format!("the image in the clipboard is over the limit of {} MiB", MAX_IMAGE >> 20))
        }
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(failed(error)),
        Err(_) => Err(format!("{name} did not answer within {} s", LIMIT.as_secs())),
    }
}

/// The bytes in `«data PNGf89504E…»`.
fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.split("PNGf").nth(1)?.trim_end().trim_end_matches('\u{bb}');
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use host_settings::environment::Terminals;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn program(folder: &Path, name: &str, script: &str) {
        fs::create_dir_all(folder).expect("made");
        fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("set");
    }

    #[test]
    fn image_program_is_never_one_of_the_workspace() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let (workspace, system, links) = (root.join("work"), root.join("bin"), root.join("links"));
        program(&workspace.join("bin"), "xclip", "");
        program(&system, "xclip", "");
        fs::create_dir(&links).expect("made");
        symlink(workspace.join("bin/xclip"), links.join("xclip")).expect("a link");
        symlink(workspace.join("bin"), root.join("linked")).expect("a link");
        let look = |folders: &[&Path]| found("xclip", &std::env::join_paths(folders).expect("a path"), &workspace);
        let work = workspace.join("bin");
        let linked = root.join("linked");
        assert_eq!(look(&[&work, Path::new("."), Path::new(""), &links, &linked]), None);
        assert_eq!(look(&[&work, &links, &linked, &system]), Some(system.join("xclip")));
    }

    #[test]
    fn clipboard_image_is_kept_private_and_anything_else_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let (bin, outputs) = (root.join("bin"), root.join("outputs"));
        let environment = |variable: &str, path: &Path| {
            let path = std::env::join_paths([path, Path::new("/usr/bin"), Path::new("/bin")]).expect("a path");
            let variables = BTreeMap::from([(variable.into(), ":0".into()), ("PATH".into(), path)]);
            Environment::new(variables, None, Terminals::default())
        };
        let work = root.join("work");
        let take = |variable: &str, script: Option<&str>| {
            script.iter().for_each(|script| ["wl-paste", "xclip"].iter().for_each(|name| program(&bin, name, script)));
            take(&environment(variable, &bin), &work, &outputs)
        };
        if cfg!(target_os = "macos") {
            return;
        }
        assert!(take("OTHER", None).is_err_and(|why| why.contains("@path")));
        if found("xclip", OsStr::new("/usr/bin:/bin"), &work).is_none() {
            assert!(take("DISPLAY", None).is_err_and(|why| why.ends_with("install xclip")));
        }
        let escaped: String = PNG.iter().map(|byte| format!("\\{byte:03o}")).collect();
        for variable in ["WAYLAND_DISPLAY", "DISPLAY"] {
            let taken = take(variable, Some(&format!("printf '{escaped}'"))).expect("an image");
            let path = taken.text.trim_start_matches("@\"").trim_end_matches('"');
            assert_eq!(fs::read(path).expect("it is kept"), PNG);
            assert_eq!(fs::metadata(path).expect("it is there").permissions().mode() & 0o777, 0o600);
            assert!(taken.label.starts_with("[image clipboard-"), "{taken:?}");
        }
        assert_eq!(take("DISPLAY", Some("echo text")), Err("no image in the clipboard".to_owned()));
        assert_eq!(take("DISPLAY", Some("exit 1")), Err("no image in the clipboard".to_owned()));
        assert!(take("DISPLAY", Some("head -c 99999999 /dev/zero")).is_err_and(|why| why.contains("14 MiB")));
    }

    #[test]
    fn clipboard_image_of_applescript_is_read_from_its_digits() {
        assert_eq!(from_hex("\u{ab}data PNGf89504E\u{bb}\n".as_bytes()), Some(vec![0x89, 0x50, 0x4e]));
        for bad in ["", "PNGf8", "PNGfzz", "data 89"] {
            assert!(from_hex(bad.as_bytes()).is_none_or(|bytes| bytes.len() < 2), "{bad}");
        }
    }
}
