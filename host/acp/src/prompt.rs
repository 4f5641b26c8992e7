//! The content of a prompt: its words, and what the client attaches to it.
//!
//! A link to a file becomes an attachment, read by our own tools with the session's grants; any other link stays a
//! link. Text that the client embeds is marked as an attachment, so that it cannot pass for the user's words.
//!
//! Deliberately not here: reading a file (`host_app::attach`).

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use host_app::attach::Supplied;
use host_message::InlineData;
use host_text::{excerpt, visible_line};
use url::Url;

use crate::errors::invalid;

/// Images that models of every service take.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// How much of a link is repeated, in characters.
const SHOWN: usize = 500;

/// A prompt as a client sent it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Prompt {
    /// The words of the user.
    pub(crate) words: String,
    /// What is attached to them.
    pub(crate) supplied: Vec<Supplied>,
}

impl Prompt {
    /// Reads the blocks of a prompt.
    ///
    /// # Errors
    ///
    /// If a block has content that was not offered, or there is nothing in it.
    pub(crate) fn read(blocks: Vec<ContentBlock>) -> Result<Self, Error> {
        let mut prompt = Self::default();
        for block in blocks {
            match block {
                ContentBlock::Text(text) => prompt.words.push_str(&text.text),
                ContentBlock::Image(image) => prompt.supplied.push(self::image(image.mime_type, image.data)?),
                // A link names something; it is read by our own tools with the session's grants.
                ContentBlock::ResourceLink(link) => prompt.link(&link.name, &link.uri),
                ContentBlock::Resource(resource) => match resource.resource {
                    EmbeddedResourceResource::TextResourceContents(text) => {
                        let name = path(&text.uri).unwrap_or(text.uri);
                        prompt.words.push_str(&mention(&name));
                        prompt.supplied.push(Supplied::Text { name, text: text.text });
                    }
                    EmbeddedResourceResource::BlobResourceContents(blob) => {
                        let mime_type = blob.mime_type.unwrap_or_default();
                        prompt.words.push_str(&mention(&path(&blob.uri).unwrap_or(blob.uri)));
                        // Of binary contents only images mean something to a model.
                        prompt.supplied.push(image(mime_type, blob.blob)?);
                    }
                    _ => return Err(unknown()),
                },
                ContentBlock::Audio(_) => {
                    return Err(invalid("audio is not supported in a prompt", "send text, images or links"));
                }
                _ => return Err(unknown()),
            }
        }
        // A prompt of blanks would cost a request.
        if prompt.words.trim().is_empty() && prompt.supplied.is_empty() {
            return Err(invalid("the prompt is empty", "send a text"));
        }
        Ok(prompt)
    }

    fn link(&mut self, name: &str, uri: &str) {
        match path(uri) {
            Some(path) => {
                self.words.push_str(&mention(&path));
                self.supplied.push(Supplied::Path(path));
            }
            None => {
                let link = format!("[{}]({})", excerpt(name, SHOWN), excerpt(uri, SHOWN));
                self.words.push_str(&without_mentions(&link));
            }
        }
    }
}

/// How the words refer to an attachment: quoted.
fn mention(path: &str) -> String {
    without_mentions(&format!("`{}`", visible_line(path).replace('`', "_")))
}

/// A text that the user did not type: an `@` in it attaches nothing.
fn without_mentions(text: &str) -> String {
    text.replace('@', "\\@")
}

/// The path of a link to a file of this machine, without the lines that it points at.
fn path(uri: &str) -> Option<String> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()?.into_os_string().into_string().ok()
}

fn image(mime_type: String, base64: String) -> Result<Supplied, Error> {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !IMAGES.contains(&mime_type.as_str()) {
        let message = format!("content of the type `{}` is not supported in a prompt", excerpt(&mime_type, SHOWN));
        return Err(invalid(message, format!("send text, links, or images of the types {}", IMAGES.join(", "))));
    }
    if base64.is_empty() || !base64.len().is_multiple_of(4) || !base64.bytes().all(is_base64) {
        return Err(invalid("an image is not valid base64", "send its bytes in standard base64 with padding"));
    }
    Ok(Supplied::Data(InlineData { mime_type, base64 }))
}

fn unknown() -> Error {
    invalid("the prompt has content of an unknown type", "send text, images, links or embedded text")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(blocks: Value) -> Result<Prompt, Error> {
        Prompt::read(serde_json::from_value(blocks).expect("blocks"))
    }

    #[test]
    fn prompt_blocks_become_words_and_attachments() {
        let prompt = read(json!([
            {"type": "text", "text": "Explain "},
            {"type": "resource_link", "name": "a b.rs", "uri": "file:///w/a%20b.rs#L10:20"},
            {"type": "resource_link", "name": "@/etc/x", "uri": "https://example.com/@~/x"},
            {"type": "resource_link", "name": "x", "uri": "file://other-machine/x"},
            {"type": "resource", "resource": {"uri": "file:///w/@c`.rs", "text": "fn c() {}"}},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        ]));
        let prompt = prompt.expect("it is valid");
        let words = r"Explain `/w/a b.rs`[\@/etc/x](https://example.com/\@~/x)[x](file://other-machine/x)`/w/\@c_.rs`";
        assert_eq!(prompt.words, words);
        let expected = [
            Supplied::Path("/w/a b.rs".to_owned()),
            Supplied::Text { name: "/w/@c`.rs".to_owned(), text: "fn c() {}".to_owned() },
            Supplied::Data(InlineData { mime_type: "image/png".to_owned(), base64: "AAAA".to_owned() }),
        ];
        assert_eq!(prompt.supplied, expected);
    }

    #[test]
    fn prompt_content_that_was_not_offered_is_an_error() {
        for (blocks, message) in [
            (json!([]), "the prompt is empty"),
            (json!([{"type": "text", "text": " "}]), "the prompt is empty"),
            (json!([{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]), "audio is not supported"),
            (
                json!([{"type": "image", "mimeType": "image/svg+xml", "data": "AAAA"}]),
                "`image/svg+xml` is not supported",
            ),
            (json!([{"type": "image", "mimeType": "image/png", "data": "\u{1b}"}]), "not valid base64"),
            (json!([{"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA"}}]), "not supported in a prompt"),
        ] {
            let error = read(blocks).expect_err("it is invalid");
            assert!(error.message.contains(message) && error.message.contains("help: "), "{}", error.message);
        }
    }
}
