//! The image in the clipboard, and images that are dropped onto the terminal.
//!
//! A terminal passes on text alone, so the image is taken from the system's clipboard by the program that the desktop
//! has for it: `wl-paste`, `xclip`, or `osascript`. It is found in folders of `PATH` that lie outside of the workspace,
//! so that no repository puts a program of its own in its place. The image becomes a private file beside the session's
//! other outputs, which the reading tools may read.
//!
//! Deliberately not here: sending it, which is an attachment like any other.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use host_settings::environment::Environment;
use host_terminal::Folded;
use host_text::visible_line;
use percent_encoding::percent_decode_str;

/// The largest image that is taken, in bytes. Services take requests of up to 20 MB, in which data is a third larger.
const MAX_IMAGE: u64 = 14 << 20;

/// How long the program may take. A clipboard belongs to another program, which may not answer.
const LIMIT: Duration = Duration::from_secs(5);

/// How an image begins, and its extension.
const FORMATS: &[(&[u8], &str)] =
    &[(b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF8", "gif"), (b"RIFF", "webp")];

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
    let Some((_, extension)) = FORMATS.iter().find(|(begin, _)| image.starts_with(begin)) else {
        return Err("no image in the clipboard".to_owned());
    };
    save(&image, extension, folder)
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

/// Writes an image into a file of its own that only the user can read.
fn save(image: &[u8], extension: &str, folder: &Path) -> Result<Folded, String> {
    let failed = |error: std::io::Error| format!("cannot keep the image in {}: {error}", folder.display());
    host_files::make_private_folder(folder).map_err(failed)?;
    for number in 1..1_000 {
        let name = format!("clipboard-{number}.{extension}");
        let path = folder.join(&name);
        match host_files::create_private(&path) {
            Ok(mut file) => {
                file.write_all(image).map_err(failed)?;
                let text = mention(&path).ok_or("the folder of the session has no usable name")?;
                return Ok(Folded { text, label: format!("[image {name}]") });
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err("there are too many images from the clipboard in this session".to_owned())
}

fn mention(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|path| !path.contains(['"', '\n']))?;
    Some(format!("@\"{path}\""))
}

/// What an image that was dropped onto the terminal is written as: terminals paste its path, quoted as for a shell or
/// as a `file://` address. `None` if the paste is anything else. Nothing is looked up: a path without a file stays
/// text.
pub(super) fn dropped(paste: &str) -> Option<Folded> {
    let paste = paste.trim();
    if paste.len() > 4_096 || paste.contains('\n') {
        return None;
    }
    let paths = words(paste)?;
    let mut mentions = Vec::new();
    let mut names = Vec::new();
    for path in &paths {
        let path = Path::new(path);
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let is_image = matches!(extension.as_str(), "png" | "jpg" | "jpeg" | "gif" | "webp");
        if !path.is_absolute() || !is_image {
            return None;
        }
        mentions.push(mention(path)?);
        names.push(format!("[image {}]", visible_line(path.file_name()?.to_str()?)));
    }
    (!paths.is_empty()).then(|| Folded { text: mentions.join(" "), label: names.join(" ") })
}

/// The words of a line as a shell reads them, without anything that a shell would replace.
// The crate `shlex` begins a comment at a `#`: of the paste `/tmp/a.png # too dark` it would leave the image alone.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.chars().peekable();
    while rest.peek().is_some() {
        let mut word = String::new();
        let mut quote = None;
        while let Some(c) = rest.next() {
            match (c, quote) {
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(quoted)) if c == quoted => quote = None,
                ('\\', None) => word.push(rest.next()?),
                // No other blank: macOS writes a narrow one before the `PM` in the name of a screenshot.
                (' ' | '\t' | '\r', None) => break,
                (c, _) => word.push(c),
            }
        }
        if quote.is_some() {
            return None;
        }
        if let Some(path) = word.strip_prefix("file://") {
            word = percent_decode_str(path).decode_utf8().ok()?.into_owned();
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use host_settings::environment::Terminals;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    #[test]
    fn image_that_is_dropped_becomes_a_mention() {
        for (paste, text, label) in [
            ("/tmp/a.png", "@\"/tmp/a.png\"", "[image a.png]"),
            ("'/tmp/a b.PNG' ", "@\"/tmp/a b.PNG\"", "[image a b.PNG]"),
            ("/tmp/a\\ b.jpeg", "@\"/tmp/a b.jpeg\"", "[image a b.jpeg]"),
            ("file:///tmp/a%20b.webp", "@\"/tmp/a b.webp\"", "[image a b.webp]"),
            ("file:///tmp/100%25%20a%.png", "@\"/tmp/100% a%.png\"", "[image 100% a%.png]"),
            ("/tmp/9.41\u{202f}PM.png", "@\"/tmp/9.41\u{202f}PM.png\"", "[image 9.41\u{202f}PM.png]"),
            ("/a.gif /b.jpg", "@\"/a.gif\" @\"/b.jpg\"", "[image a.gif] [image b.jpg]"),
        ] {
            assert_eq!(dropped(paste), Some(Folded { text: text.into(), label: label.into() }), "{paste}");
        }
        for paste in [
            "",
            "a.png",
            "/tmp/a.rs",
            "see /tmp/a.png",
            "/tmp/a.png\n/tmp/b.png",
            "'/a.png",
            "/a\".png",
            "/.png",
            "/a.png # too dark",
        ] {
            assert_eq!(dropped(paste), None, "{paste}");
        }
        let bad = dropped("file:///tmp/%1b%5b2J.png").expect("it is a path");
        assert_eq!(bad.label, "[image \\u{1b}[2J.png]", "its name controls no terminal");
        for bad in ["file:///tmp/%0a.png", "file:///tmp/%ff.png"] {
            assert_eq!(dropped(bad), None, "{bad}");
        }
    }

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
