//! The tool `read_file`: one file, as text with numbered lines or as data that a model can take.

mod shown;
mod similar;

use host_sdk::{Annotations, Blob, Content, Failure, Outcome, Tool, context, export_plugin, fs_read};
use serde::Deserialize;
use shown::Numbers;
use tool_text::{Kind, Window, kind_of, printable};

const DESCRIPTION: &str = "\
Reads one file. Of text, each line comes behind its number and a tab, which are not part of the file; at most 2000 lines \
of at most 2000 characters each. A first line in parentheses says when that is not all of it, and with which `offset` \
to read on: read a large part at once rather than many small ones. Images, audio, video and PDF files come as data. \
Other binary files, files over 20 MiB and files that ignore rules leave out are not read. If there is no such file, \
similar names are given.";

/// The largest file that is read. It bounds what one call makes the host read and the model's service take.
const MAX_FILE: u64 = 20 * 1024 * 1024;

/// How much is read at once; it bounds the memory that a large text takes.
const PIECE: u32 = 1024 * 1024;

/// How many lines are shown at once.
const MAX_LINES: u64 = 2_000;

export_plugin!(read_file());

fn read_file() -> Tool {
    Tool::new("read_file", DESCRIPTION, include_str!("input.json"), call)
        .title("Read a file")
        .annotations(Annotations::READ_ONLY)
        .needs("fs-read", "*", "read the files that the model names")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(default = "first_line")]
    offset: u64,
    #[serde(default = "max_lines")]
    limit: u64,
    #[serde(default = "yes")]
    respect_ignore: bool,
}

fn first_line() -> u64 {
    1
}

fn max_lines() -> u64 {
    MAX_LINES
}

fn yes() -> bool {
    true
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { path, offset, limit, respect_ignore } = arguments;
    if offset == 0 || limit == 0 {
        return Err(Failure::InvalidArguments("`offset` and `limit` count from 1".to_owned()));
    }
    let metadata = match fs_read::stat(&path) {
        Err(fs_read::Error::NotFound(_)) => return Err(Failure::NotFound(similar::not_found(&path))),
        known => known?,
    };
    match metadata.kind {
        fs_read::Kind::File => {}
        fs_read::Kind::Directory => {
            return Err(Failure::InvalidArguments(format!("`{path}` is a directory: use `ls`")));
        }
        fs_read::Kind::Symlink | fs_read::Kind::Other => {
            return Err(Failure::InvalidArguments(format!("`{path}` is no file that can be read")));
        }
    }
    if metadata.ignored && respect_ignore {
        return Err(Failure::InvalidArguments(format!(
            "`{path}` is left out by the project's ignore rules; to read it anyway, pass `respect_ignore: false`"
        )));
    }
    if metadata.size > MAX_FILE {
        return Err(Failure::InvalidArguments(format!(
            "`{path}` has {} bytes, more than the {MAX_FILE} that can be read: use `grep` to find what you need",
            metadata.size
        )));
    }

    let start = fs_read::read(&path, 0, PIECE)?;
    match kind_of(&path, &start.data) {
        Kind::Text => text(&path, start, offset, limit.min(MAX_LINES)),
        Kind::Media(mime_type) => {
            let data = fs_read::read_whole(&path)?.data;
            let line = format!("{} ({mime_type}, {} bytes)", printable(&path), data.len());
            let blob = Content::Blob(Blob { mime_type: mime_type.to_owned(), data });
            Ok(Outcome::of(vec![Content::Text(line.clone()), blob]).with_summary(line))
        }
        Kind::Binary => Err(Failure::InvalidArguments(format!(
            "`{path}` is a binary file of {} bytes, neither text nor an image, audio, video or PDF",
            metadata.size
        ))),
    }
}

/// The text goes by piece by piece: all of it, since the number of its lines is told, but only the lines that
/// are shown are kept.
fn text(path: &str, start: fs_read::Part, offset: u64, limit: u64) -> Result<Outcome, Failure> {
    let mut window = Window::new(offset, limit);
    let mut part = start;
    let mut at = 0;
    while !part.data.is_empty() {
        window.feed(&part.data);
        at += part.data.len() as u64;
        if at >= part.size.min(MAX_FILE) {
            break;
        }
        part = fs_read::read(path, at, PIECE)?;
    }
    let shown = window.finish();
    let summary = shown::summary(&shown);
    Ok(Outcome::text(shown::write(path, shown, numbers()?)?).with_summary(summary))
}

/// Whether lines are numbered, which the user can turn off.
fn numbers() -> Result<Numbers, Failure> {
    match context::config("line_numbers").as_deref() {
        None | Some("true") => Ok(Numbers::Shown),
        Some("false") => Ok(Numbers::Hidden),
        Some(other) => {
            Err(Failure::Failed(format!("the setting `line_numbers` of `read_file` is {other}; use true or false")))
        }
    }
}
