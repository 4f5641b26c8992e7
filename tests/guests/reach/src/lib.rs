//! A plugin that asks for every capability and uses each as it is told, to try what its grants cover.

use host_sdk::{
    Confirmation, Failure, FileDifference, Outcome, Tool, context, export_plugin, fs_read, fs_write, http, process,
    state,
};
use serde::Deserialize;

export_plugin!(
    tool("read", |a| Ok(Outcome::text(String::from_utf8_lossy(&fs_read::read_whole(&a.path)?.data)))),
    tool("stat", |a| {
        let about = fs_read::stat(&a.path)?;
        Ok(Outcome::text(format!("{:?} {} ignored: {}", about.kind, about.size, about.ignored)))
    }),
    tool("list", |a| {
        let mut names: Vec<_> = fs_read::list(&a.path)?.into_iter().map(|entry| entry.name).collect();
        names.sort();
        Ok(Outcome::text(names.join("\n")))
    }),
    tool("walk", |a| {
        let options =
            fs_read::WalkOptions { root: a.path, contents: true, hidden: true, sorted: true, ..Default::default() };
        let walk = match a.text.as_str() {
            "" => fs_read::Walk::open(&options)?,
            text => fs_read::Walk::open_search(&options, &[text.as_bytes().to_vec()], true)?,
        };
        let mut lines = Vec::new();
        while let Some(batch) = walk.next_batch()? {
            for index in 0..batch.len() {
                lines.push(format!("{}={}", batch.name(index), String::from_utf8_lossy(batch.content(index))));
            }
        }
        let fs_read::WalkSummary { files, too_large, unreadable, denied } = walk.summary();
        if !a.text.is_empty() {
            lines.push(format!("{files} found, {too_large} too large, {unreadable} unreadable, {denied} denied"));
        }
        Ok(Outcome::text(lines.join("\n")))
    }),
    tool("write", |a| {
        let expected = match a.expected.as_deref() {
            None => fs_write::Expected::Anything,
            Some("absent") => fs_write::Expected::Absent,
            Some(digest) => fs_write::Expected::Digest(digest.to_owned()),
        };
        let written = fs_write::write(&a.path, a.text.as_bytes(), &expected)?;
        Ok(Outcome::text(written.digest))
    })
    .preview(|a: Arguments| {
        fs_write::write(&a.path, b"from a preview", &fs_write::Expected::Anything)?;
        Ok(None::<Confirmation>)
    }),
    tool("replace", |a| {
        fs_write::write(&a.path, a.text.as_bytes(), &fs_write::Expected::Anything)?;
        Ok(Outcome::text("replaced"))
    })
    .needs("fs-write", "*", "replace the file")
    .preview(|a: Arguments| {
        let (path, unified, proposed) = (a.path, String::new(), a.text);
        Ok(Some(Confirmation::Edit(FileDifference { path, unified, proposed })))
    }),
    tool("peek", |a| Ok(fs_write::write(&a.path, b"", &fs_write::Expected::Anything).map(|_| Outcome::text("done"))?))
        .needs("fs-read", "*", "read the file")
        .needs("fs-write", "*", "replace the file")
        .preview(|a: Arguments| -> Result<Option<Confirmation>, Failure> {
            let data = fs_read::read_whole(&a.path)?.data;
            Err(Failure::Failed(format!("cannot be shown: {}", String::from_utf8_lossy(&data))))
        }),
    tool("rename", |a| Ok(fs_write::rename(&a.path, &a.text).map(|()| Outcome::text("renamed"))?)),
    tool("remove", |a| Ok(fs_write::remove(&a.path).map(|()| Outcome::text("removed"))?)),
    tool("make_directory", |a| Ok(fs_write::make_directory(&a.path).map(|()| Outcome::text("made"))?)),
    tool("run", |a| {
        let mut command = process::Command::new(a.argv);
        command.directory = a.path;
        command.silence_limit = a.silence;
        command.environment = a.environment;
        let child = process::spawn(&command)?;
        let mut printed = Vec::new();
        while let Some(chunk) = child.read() {
            printed.extend(chunk.data);
        }
        let exit = child.wait();
        Ok(Outcome::text(format!(
            "{}code: {:?} signal: {:?} timed out: {} background: {}",
            String::from_utf8_lossy(&printed),
            exit.code,
            exit.signal,
            exit.timed_out,
            exit.background.len()
        )))
    }),
    tool("fetch", |a| {
        let mut request = http::Request::get(a.path, a.limit);
        for (name, value) in &a.environment {
            request = request.header(name, value);
        }
        let answer = http::fetch_with_secrets(&request, &a.argv)?;
        let cut = if answer.cut { " (cut)" } else { "" };
        let headers: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        Ok(Outcome::text(format!(
            "{}{cut} {}\n{headers}{}",
            answer.status,
            answer.url,
            String::from_utf8_lossy(&answer.body)
        )))
    }),
    tool("configured", |a| Ok(Outcome::text(context::config(&a.path).unwrap_or_else(|| "nothing".to_owned())))),
    tool("keep", |a| Ok(Outcome::text(state::put(&a.path, a.text.as_bytes(), &expected(a.expected))?))),
    tool("kept", |a| {
        Ok(Outcome::text(match state::get(&a.path)? {
            Some(item) => String::from_utf8_lossy(&item.value).into_owned(),
            None => "nothing".to_owned(),
        }))
    }),
);

fn expected(version: Option<String>) -> state::Expected {
    match version.as_deref() {
        None => state::Expected::Anything,
        Some("absent") => state::Expected::Absent,
        Some(version) => state::Expected::Version(version.to_owned()),
    }
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    path: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    environment: Vec<(String, String)>,
    expected: Option<String>,
    silence: Option<u64>,
    #[serde(default = "limit")]
    limit: u32,
}

fn limit() -> u32 {
    1 << 20
}

fn tool(name: &str, call: fn(Arguments) -> Result<Outcome, Failure>) -> Tool {
    Tool::new(name, "Tries what it may do.", r#"{"type":"object"}"#, call)
}
