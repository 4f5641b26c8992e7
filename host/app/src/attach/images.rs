//! Images that a user pastes or drops into a prompt: each becomes a mention, which is attached like any other.
//!
//! Promises: an image that is only data becomes a private file beside the session's other outputs, which the reading
//! tools may read; a paste is taken for images only if it is nothing but their paths. Deliberately not here: where the
//! data comes from, and sending it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use host_text::visible_line;
use percent_encoding::percent_decode_str;

/// The largest image that is taken, in bytes. Services take requests of up to 20 MB, in which data is a third larger.
pub const MAX_IMAGE: u64 = 14 << 20;

/// The longest paste that can be paths of images, in bytes. A longer one is text.
const MAX_PASTE: usize = 4_096;

/// The most images of one session that were pasted as data. Protects the folder of its outputs.
const MAX_KEPT: usize = 1_000;

/// How an image begins, and its extension.
const FORMATS: &[(&[u8], &str)] =
    &[(b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF8", "gif"), (b"RIFF", "webp")];

/// Images as a prompt has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedImages {
    /// Their mentions, which the prompt has in the place of the paste.
    pub text: String,
    /// Their names, safe to show: `[image a.png]`.
    pub label: String,
}

/// Why an image is not kept.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It is none that a service takes.
    #[error("no image in the clipboard")]
    NoImage,
    /// It cannot be written.
    #[error("cannot keep the image in {}: {cause}", .folder.display())]
    Write {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A mention cannot name its file.
    #[error("the folder of the session has no usable name")]
    Unnamable,
    /// The session has enough of them.
    #[error("there are too many images from the clipboard in this session")]
    TooMany,
}

/// Writes an image that was pasted into a file of its own in this folder, which only the user can read.
///
/// # Errors
///
/// If it is no image, or cannot be written.
pub fn keep(image: &[u8], folder: &Path) -> Result<MentionedImages, ImageError> {
    let Some((_, extension)) = FORMATS.iter().find(|(begin, _)| image.starts_with(begin)) else {
        return Err(ImageError::NoImage);
    };
    let failed = |cause: io::Error| ImageError::Write { folder: folder.to_owned(), cause };
    host_files::make_private_folder(folder).map_err(failed)?;
    for number in 1..MAX_KEPT {
        let name = format!("clipboard-{number}.{extension}");
        let path = folder.join(&name);
        match host_files::create_private(&path) {
            Ok(mut file) => {
                file.write_all(image).map_err(failed)?;
                let text = mention(&path).ok_or(ImageError::Unnamable)?;
                return Ok(MentionedImages { text, label: format!("[image {name}]") });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(ImageError::TooMany)
}

fn mention(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|path| !path.contains(['"', '\n']))?;
    Some(format!("@\"{path}\""))
}

/// Returns the images of a paste that is nothing but their paths, each quoted as for a shell or as a `file://` address,
/// as terminals and file managers write them. `None` if it is anything else. Nothing is looked up: a path without a
/// file stays text.
pub fn pasted(paste: &str) -> Option<MentionedImages> {
    let paste = paste.trim();
    if paste.len() > MAX_PASTE || paste.contains('\n') {
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
    (!paths.is_empty()).then(|| MentionedImages { text: mentions.join(" "), label: names.join(" ") })
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
    use super::*;

    #[test]
    fn image_whose_path_is_pasted_becomes_a_mention() {
        for (paste, text, label) in [
            ("/tmp/a.png", "@\"/tmp/a.png\"", "[image a.png]"),
            ("'/tmp/a b.PNG' ", "@\"/tmp/a b.PNG\"", "[image a b.PNG]"),
            ("/tmp/a\\ b.jpeg", "@\"/tmp/a b.jpeg\"", "[image a b.jpeg]"),
            ("file:///tmp/a%20b.webp", "@\"/tmp/a b.webp\"", "[image a b.webp]"),
            ("file:///tmp/100%25%20a%.png", "@\"/tmp/100% a%.png\"", "[image 100% a%.png]"),
            ("/tmp/9.41\u{202f}PM.png", "@\"/tmp/9.41\u{202f}PM.png\"", "[image 9.41\u{202f}PM.png]"),
            ("/a.gif /b.jpg", "@\"/a.gif\" @\"/b.jpg\"", "[image a.gif] [image b.jpg]"),
        ] {
            assert_eq!(pasted(paste), Some(MentionedImages { text: text.into(), label: label.into() }), "{paste}");
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
            assert_eq!(pasted(paste), None, "{paste}");
        }
        let bad = pasted("file:///tmp/%1b%5b2J.png").expect("it is a path");
        assert_eq!(bad.label, "[image \\u{1b}[2J.png]", "its name controls no terminal");
        for bad in ["file:///tmp/%0a.png", "file:///tmp/%ff.png"] {
            assert_eq!(pasted(bad), None, "{bad}");
        }
    }
}
