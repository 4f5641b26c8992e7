//! What was answered, put before a model.

use std::borrow::Cow;

use host_sdk::{Blob, Content, Failure, Outcome};
use tool_text::{Kind, kind_of};

use crate::html;

/// How many characters of a page are shown.
const MAX_CHARACTERS: usize = 100_000;

/// How many characters of an error page are shown: it often says in its first lines what is wrong.
const MAX_ERROR_CHARACTERS: usize = 1_000;

/// An answer.
pub(crate) struct Page<'p> {
    /// The address that the call named.
    pub(crate) asked: &'p str,
    /// The address that answered.
    pub(crate) url: &'p str,
    /// The header `content-type`.
    pub(crate) media_type: &'p str,
    /// The body.
    pub(crate) body: &'p [u8],
    /// Whether the body was longer.
    pub(crate) cut: bool,
}

/// How a body is to be read.
#[derive(Debug, PartialEq)]
enum Form {
    Html,
    Text,
    Media(String),
    Other,
}

impl Page<'_> {
    /// The outcome for a status that says that all went well.
    pub(crate) fn read(&self) -> Result<Outcome, Failure> {
        let essence = self.essence();
        let mut notes = Vec::new();
        if self.url != self.asked {
            notes.push(format!("answered by {}", self.url));
        }
        if self.cut {
            notes.push(format!("cut after {} bytes", self.body.len()));
        }
        let text = match self.form() {
            Form::Html => match html::markdown(&self.decoded()) {
                Ok((Some(title), text)) => format!("# {title}\n\n{text}"),
                Ok((None, text)) => text,
                Err(why) => return Err(Failure::Failed(format!("the page at {} {why}", self.url))),
            },
            Form::Text => self.decoded().into_owned(),
            // Half an image or PDF is none.
            Form::Media(_) if self.cut => {
                return Err(Failure::Failed(format!(
                    "{} is longer than {} bytes: pass a larger `max_bytes`",
                    self.url,
                    self.body.len()
                )));
            }
            Form::Media(mime_type) => {
                let line = format!("{} ({mime_type}, {} bytes)", self.url, self.body.len());
                let blob = Content::Blob(Blob { mime_type, data: self.body.to_vec() });
                return Ok(Outcome::of(vec![Content::Text(line.clone()), blob]).with_summary(line));
            }
            Form::Other => {
                let essence = if essence.is_empty() { "of an unknown type" } else { &essence };
                return Err(Failure::Failed(format!(
                    "{} is {essence}: neither text nor an image, audio, video or PDF",
                    self.url
                )));
            }
        };
        let shown = head(&text, MAX_CHARACTERS);
        if shown.len() < text.len() {
            notes.push(format!("the first {MAX_CHARACTERS} of {} characters", text.chars().count()));
        }
        let summary = format!("{} characters", shown.chars().count());
        let text = match (notes.is_empty(), shown.trim().is_empty()) {
            (true, false) => shown.to_owned(),
            (true, true) => "(the page has no text)\n".to_owned(),
            (false, _) => format!("({})\n{shown}", notes.join("; ")),
        };
        Ok(Outcome::text(text).with_summary(summary))
    }

    /// The failure for another status.
    pub(crate) fn refused(&self, status: u16) -> Failure {
        let text = match self.form() {
            Form::Html => html::markdown(&self.decoded()).map(|(_, text)| text).unwrap_or_default(),
            Form::Text => self.decoded().into_owned(),
            Form::Media(_) | Form::Other => String::new(),
        };
        let mut message = format!("{} answered with status {status}", self.url);
        let said = head(text.trim(), MAX_ERROR_CHARACTERS);
        if !said.is_empty() {
            message.push_str(": ");
            message.push_str(said);
            if said.len() < text.trim().len() {
                message.push_str("… [cut]");
            }
        }
        match status {
            404 | 410 => Failure::NotFound(message),
            408 | 429 | 500..=599 => Failure::Unavailable(message),
            _ => Failure::Failed(message),
        }
    }

    /// The media type without its parameters.
    fn essence(&self) -> String {
        self.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    fn form(&self) -> Form {
        let essence = self.essence();
        let by_bytes = || match kind_of(self.url.split(['?', '#']).next().unwrap_or_default(), self.body) {
            Kind::Text => Form::Text,
            Kind::Media(media_type) => Form::Media(media_type.to_owned()),
            Kind::Binary => Form::Other,
        };
        let (main, sub) = essence.split_once('/').unwrap_or((&essence, ""));
        match (main, sub) {
            ("text", "html") | ("application", "xhtml+xml") => Form::Html,
            ("text", _) | ("image", "svg+xml") => Form::Text,
            ("image" | "audio" | "video", _) | ("application", "pdf") => Form::Media(essence),
            ("application", "octet-stream") | ("", _) | ("binary", _) => by_bytes(),
            ("application", sub) if is_text(sub) => Form::Text,
            _ => Form::Other,
        }
    }

    /// The body as text, by the character set that the header names: UTF-8 unless it says otherwise.
    fn decoded(&self) -> Cow<'_, str> {
        let charset = self
            .media_type
            .split(';')
            .filter_map(|part| part.trim().split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, value)| value.trim().trim_matches('"').to_ascii_lowercase());
        match charset.as_deref() {
            // Each byte of ISO 8859-1 is the character with its number.
            Some("iso-8859-1" | "latin1" | "us-ascii") if std::str::from_utf8(self.body).is_err() => {
                Cow::Owned(self.body.iter().copied().map(char::from).collect())
            }
            _ => String::from_utf8_lossy(self.body),
        }
    }
}

/// Whether `application/…` of this kind is written to be read.
fn is_text(sub: &str) -> bool {
    let known = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "x-javascript",
        "yaml",
        "x-yaml",
        "toml",
        "x-sh",
        "sql",
        "graphql",
        "x-ndjson",
        "jsonl",
        "x-httpd-php",
        "rtf",
        "x-tex",
        "x-latex",
        "markdown",
        "manifest",
    ];
    known.contains(&sub) || ["+json", "+xml", "+yaml", "+text"].iter().any(|suffix| sub.ends_with(suffix))
}

fn head(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page<'p>(media_type: &'p str, body: &'p [u8]) -> Page<'p> {
        Page { asked: "https://a/x", url: "https://a/x", media_type, body, cut: false }
    }

    fn text(page: &Page<'_>) -> String {
        match page.read().map(|outcome| outcome.content) {
            Ok(content) => match content.as_slice() {
                [Content::Text(text)] => text.clone(),
                other => panic!("one text, not {other:?}"),
            },
            Err(failure) => format!("{failure:?}"),
        }
    }

    #[test]
    fn the_type_decides_how_a_body_is_read() {
        let check =
            |media_type: &str, body: &[u8], form| assert_eq!(page(media_type, body).form(), form, "{media_type}");
        check("text/html; charset=utf-8", b"", Form::Html);
        check("Text/Plain", b"", Form::Text);
        check("application/vnd.api+json", b"", Form::Text);
        check("image/png", b"", Form::Media("image/png".to_owned()));
        check("image/svg+xml", b"<svg/>", Form::Text);
        check("application/octet-stream", b"abc\n", Form::Text);
        check("", b"%PDF-1.4", Form::Media("application/pdf".to_owned()));
        check("application/zip", b"PK", Form::Other);
        check("application/octet-stream", b"\0\x01", Form::Other);
    }

    #[test]
    fn text_comes_as_it_is_and_html_as_markdown() {
        assert_eq!(text(&page("application/json", b"{\"a\": 1}\n")), "{\"a\": 1}\n");
        assert_eq!(text(&page("text/html", b"<title>T</title><p>Hi</p>")), "# T\n\nHi\n");
        assert_eq!(text(&page("text/plain", b"")), "(the page has no text)\n");
        assert_eq!(text(&page("text/plain; charset=\"ISO-8859-1\"", b"caf\xe9")), "café");
    }

    #[test]
    fn web_fetch_page_reports_what_is_missing_and_a_different_address() {
        let long = "é".repeat(MAX_CHARACTERS + 1);
        let moved = Page { asked: "https://b/", cut: true, ..page("text/plain", long.as_bytes()) };
        let expected = "(answered by https://a/x; cut after 200002 bytes; the first 100000 of 100001 characters)\né";
        assert!(text(&moved).starts_with(expected));
        let half = Page { cut: true, ..page("image/png", b"abc") };
        assert!(text(&half).contains("larger `max_bytes`"));
        assert!(text(&page("application/zip", b"PK")).contains("is application/zip: neither"));
    }

    #[test]
    fn web_fetch_error_status_is_a_failure_with_the_words_of_the_server() {
        let refused = |status| page("text/html", b"<h1>Gone fishing</h1>").refused(status);
        assert_eq!(refused(404), Failure::NotFound("https://a/x answered with status 404: # Gone fishing".to_owned()));
        assert!(matches!(refused(503), Failure::Unavailable(_)));
        assert!(matches!(refused(429), Failure::Unavailable(_)));
        assert!(matches!(refused(403), Failure::Failed(_)));
    }
}
