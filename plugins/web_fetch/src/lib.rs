//! The tool `web_fetch`: one page of the web, as text that a model can read.
//!
//! Deliberately not here: searching the web, running a page's scripts, and following its links.

mod address;
mod attributes;
mod html;
mod page;

use host_sdk::http::{Request, fetch};
use host_sdk::{Annotations, Confirmation, Failure, HttpRequest, InfoConfirmation, Outcome, Tool, export_plugin};
use page::Page;
use serde::Deserialize;

const DESCRIPTION: &str = "\
Fetches one address with GET. HTML comes as Markdown without scripts and styles, other text as it is, both cut after \
100000 characters; images, audio and PDF files come as data. Other types, and answers with another status than 200 \
to 299, are errors. An address of a file on github.com gives the file itself.";

/// How much of an answer is taken when the call does not say: more than any page has text.
const DEFAULT_BYTES: u32 = 4 * 1024 * 1024;

/// How much of an answer is taken at most; the host takes no more.
const MAX_BYTES: u32 = 16 * 1024 * 1024;

/// What is asked for, best first; some servers send Markdown to those who take it.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5";

export_plugin!(web_fetch());

fn web_fetch() -> Tool {
    Tool::new("web_fetch", DESCRIPTION, include_str!("input.json"), call)
        .title("Fetch a page")
        .annotations(Annotations { read_only: true, destructive: false, idempotent: true, open_world: true })
        .needs("http", "GET+HEAD *:* +private", "fetch the pages that the model names")
        .preview(preview)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    #[serde(default = "default_bytes")]
    max_bytes: u32,
}

fn default_bytes() -> u32 {
    DEFAULT_BYTES
}

fn preview(arguments: Arguments) -> Result<Option<Confirmation>, Failure> {
    let url = address::real(&arguments.url)?;
    let requests = vec![HttpRequest { method: "GET".to_owned(), url: url.clone() }];
    Ok(Some(Confirmation::Info(InfoConfirmation { text: format!("Fetch {url}"), requests, writes: Vec::new() })))
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let asked = address::real(&arguments.url)?;
    let request = Request::get(&asked, arguments.max_bytes.min(MAX_BYTES)).header("accept", ACCEPT);
    let response = fetch(&request)?;
    let page = Page {
        asked: &arguments.url,
        url: &response.url,
        media_type: response.header("content-type").unwrap_or_default(),
        body: &response.body,
        cut: response.cut,
    };
    match response.status {
        200..=299 => page.read(),
        status => Err(page.refused(status)),
    }
}
