//! Telling text from binary, and media that a model can take from other binary.

use memchr::memchr;

/// How many bytes at the start of a file decide whether it is text, as `git` and `rg` do it.
const SNIFFED: usize = 8 * 1024;

/// Of the sniffed bytes one in this many may be no UTF-8 before the file counts as binary: a text in an old
/// encoding has a few, a compressed stream has them everywhere.
const INVALID_IN: usize = 10;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, perhaps with a few bytes that are no UTF-8.
    Text,
    /// An image, audio, video or PDF of this media type.
    Media(&'static str),
    /// Anything else.
    Binary,
}

/// What a file is, from its first bytes and its name.
///
/// The bytes speak first. The name decides only what the bytes leave open, and never makes text of binary:
/// `photo.png` that holds an error page is text, `notes.txt` that holds a photograph is an image.
pub fn kind_of(name: &str, start: &[u8]) -> Kind {
    let sniffed = start.get(..SNIFFED).unwrap_or(start);
    if let Some(media_type) = magic(sniffed) {
        return Kind::Media(media_type);
    }
    if is_binary(sniffed) {
        return match media_type(name) {
            // Formats without a mark that can be relied on; an MP3 may begin with any frame.
            Some("audio/mpeg") => Kind::Media("audio/mpeg"),
            Some("audio/aac") => Kind::Media("audio/aac"),
            _ => Kind::Binary,
        };
    }
    Kind::Text
}

/// The media type that a name's extension stands for; none for what no model takes.
pub fn media_type(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    let known = [
        ("png", "image/png"),
        ("jpg", "image/jpeg"),
        ("jpeg", "image/jpeg"),
        ("gif", "image/gif"),
        ("webp", "image/webp"),
        ("bmp", "image/bmp"),
        ("heic", "image/heic"),
        ("pdf", "application/pdf"),
        ("mp3", "audio/mpeg"),
        ("wav", "audio/wav"),
        ("ogg", "audio/ogg"),
        ("flac", "audio/flac"),
        ("aac", "audio/aac"),
        ("aiff", "audio/aiff"),
        ("mp4", "video/mp4"),
        ("mov", "video/quicktime"),
        ("webm", "video/webm"),
    ];
    known.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known)).map(|&(_, media_type)| media_type)
}

/// The marks that the formats' own specifications put at the start of a file.
fn magic(start: &[u8]) -> Option<&'static str> {
    let at = |offset: usize, mark: &[u8]| start.get(offset..).is_some_and(|rest| rest.starts_with(mark));
    let found = if at(0, b"\x89PNG\r\n\x1a\n") {
        "image/png"
    } else if at(0, b"\xff\xd8\xff") {
        "image/jpeg"
    } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
        "image/gif"
    } else if at(0, b"RIFF") && at(8, b"WEBP") {
        "image/webp"
    } else if at(0, b"RIFF") && at(8, b"WAVE") {
        "audio/wav"
    } else if at(0, b"FORM") && at(8, b"AIFF") {
        "audio/aiff"
    } else if at(0, b"BM") && at(6, b"\0\0\0\0") {
        "image/bmp"
    } else if at(0, b"%PDF-") {
        "application/pdf"
    } else if at(0, b"OggS") {
        "audio/ogg"
    } else if at(0, b"fLaC") {
        "audio/flac"
    } else if at(0, b"ID3") {
        "audio/mpeg"
    } else if at(0, b"\x1a\x45\xdf\xa3") {
        "video/webm"
    } else if at(4, b"ftyphei") || at(4, b"ftypmif1") {
        "image/heic"
    } else if at(4, b"ftypqt") {
        "video/quicktime"
    } else if at(4, b"ftyp") {
        "video/mp4"
    } else {
        return None;
    };
    Some(found)
}

fn is_binary(sniffed: &[u8]) -> bool {
    if memchr(0, sniffed).is_some() {
        return true;
    }
    // Most texts are nothing but UTF-8, which is quick to find out.
    let Err(error) = std::str::from_utf8(sniffed) else { return false };
    let mut invalid = 0;
    for chunk in sniffed.get(error.valid_up_to()..).unwrap_or_default().utf8_chunks() {
        invalid += chunk.invalid().len();
    }
    invalid > sniffed.len() / INVALID_IN + 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_and_the_name_only_helps() {
        let noise: Vec<u8> = (1..=255).cycle().take(4_000).collect();
        let check = |name: &str, start: &[u8], kind| assert_eq!(kind_of(name, start), kind, "{name}");
        check("a.rs", b"fn main() {}\n", Kind::Text);
        check("empty", b"", Kind::Text);
        check("latin1.txt", b"caf\xe9 and t\xe9\n", Kind::Text);
        check("a.png", b"\x89PNG\r\n\x1a\n\0\0", Kind::Media("image/png"));
        check("a.txt", b"\xff\xd8\xff\xe0", Kind::Media("image/jpeg"));
        check("a.png", b"<html>not found</html>", Kind::Text);
        check("a.pdf", b"%PDF-1.7\n", Kind::Media("application/pdf"));
        check("a.webp", b"RIFF\x10\0\0\0WEBPVP8 ", Kind::Media("image/webp"));
        check("a.mp4", b"\0\0\0\x18ftypisom", Kind::Media("video/mp4"));
        check("a.exe", b"MZ\0\0", Kind::Binary);
        check("noise.bin", &noise, Kind::Binary);
        check("song.MP3", &noise, Kind::Media("audio/mpeg"));
        check("photo.png", &noise, Kind::Binary);
    }

    #[test]
    fn media_character_cut_at_the_end_of_the_sample_does_not_make_a_file_binary() {
        let text = "é".repeat(SNIFFED);
        for cut in [SNIFFED, SNIFFED - 1, 3] {
            assert_eq!(kind_of("a", &text.as_bytes()[..cut]), Kind::Text);
        }
    }
}
