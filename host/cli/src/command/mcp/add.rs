//! `host mcp add` and `host mcp remove`: the user's own servers, and those of a project.

use std::path::PathBuf;

use host_extensions::servers::written::{self, NewServer, ServerKind, ServerPlace, ServerScope};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_text::{exact, visible};

use crate::arguments::mcp::{Add, Remove, Scope, Transport};
use crate::exit::Code;
use crate::printer::{self, Out};

pub(super) fn add(add: Add, environment: &Environment, out: &Out) -> Result<Code, Failure> {
    let folder = folder(add.folder)?;
    let kind = NewServer::kind_of(add.target)?;
    check_transport(add.transport, &kind)?;
    let values = match &kind {
        ServerKind::Program(_) => {
            none(&add.header, "--header", "a program", "hand it a variable with --env NAME=VALUE")?;
            add.env.iter().map(|text| pair(text, '=', "--env NAME=VALUE")).collect::<Result<_, _>>()?
        }
        ServerKind::Address(_) => {
            none(&add.env, "--env", "an address", "send a header field with --header 'NAME: VALUE'")?;
            add.header.iter().map(|text| pair(text, ':', "--header 'NAME: VALUE'")).collect::<Result<_, _>>()?
        }
    };
    let Add { name, net, read, write, .. } = add;
    let server = NewServer { name, kind, values, net, read, write };
    let written = server.write(scope(add.scope), ServerPlace { folder: &folder, environment })?;
    let name = exact(&server.name).into_owned();
    out.write(&visible(&format!("added `{name}` to {}\n", written.file.display())));
    let mut notes: Vec<String> = written.assumed.into_iter().collect();
    notes.push(match add.scope {
        Scope::User => format!("`host mcp test {name}` connects it and says what works"),
        Scope::Project => {
            format!("`host trust add` trusts the project as it is now; then `host mcp test {name}` connects it")
        }
    });
    printer::notes(&notes, environment);
    Ok(Code::Done)
}

pub(super) fn remove(remove: Remove, environment: &Environment, out: &Out) -> Result<Code, Failure> {
    let folder = folder(remove.folder)?;
    let place = ServerPlace { folder: &folder, environment };
    let file = written::remove(&remove.name, scope(remove.scope), place)?;
    out.write(&visible(&format!("removed `{}` from {}\n", exact(&remove.name), file.display())));
    Ok(Code::Done)
}

fn folder(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let folder = named.unwrap_or_else(|| PathBuf::from("."));
    std::fs::canonicalize(&folder).map_err(|error| {
        Failure::input(format!("the folder `{}` cannot be used: {error}", folder.display()))
            .help("name one that exists with -C")
    })
}

fn scope(scope: Scope) -> ServerScope {
    match scope {
        Scope::User => ServerScope::User,
        Scope::Project => ServerScope::Project,
    }
}

fn check_transport(transport: Option<Transport>, kind: &ServerKind) -> Result<(), Failure> {
    let wrong = |message: &str, help: &str| Err(Failure::input(message).help(help));
    match (transport, kind) {
        (Some(Transport::Sse), _) => wrong(
            "the transport `sse` is not supported, since the protocol dropped it",
            "use the server's streamable HTTP address with --transport http",
        ),
        (Some(Transport::Http), ServerKind::Program(_)) => {
            wrong("`--transport http` needs an address", "host mcp add NAME https://…")
        }
        (Some(Transport::Stdio), ServerKind::Address(_)) => {
            wrong("`--transport stdio` needs a command", "host mcp add NAME -- COMMAND…")
        }
        (Some(Transport::Http | Transport::Stdio) | None, _) => Ok(()),
    }
}

fn none(values: &[String], flag: &str, what: &str, help: &str) -> Result<(), Failure> {
    match values {
        [] => Ok(()),
        _ => Err(Failure::input(format!("`{flag}` cannot be used with {what}")).help(help)),
    }
}

/// A name and its value. The message does not show the value, which may be a secret.
fn pair(text: &str, between: char, form: &str) -> Result<(String, String), Failure> {
    let (name, value) = text.split_once(between).unwrap_or((text, ""));
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || value.is_empty() {
        return Err(Failure::input("a variable or a header field has no name or no value").help(form.to_owned()));
    }
    Ok((name.to_owned(), value.to_owned()))
}
