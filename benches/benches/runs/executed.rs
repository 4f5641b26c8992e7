//! Which functions of the binary a run executes, by valgrind.
//!
//! Two runs: one of one turn, and one with two calls of `read_file` and a long answer. What is executed only while
//! components are compiled is not meant, so the binary brings their code or has compiled them before. Deliberately not
//! here: what the list is for (`release/order.sh`).

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustc_demangle::demangle;

use crate::process::Place;
use crate::reply::Reply;
use crate::service::Service;
use crate::wire::Wire;

/// Characters of the long answer, and its events: enough for everything that an answer passes through.
const ANSWER: usize = 4_000;
/// See [`ANSWER`].
const EVENTS: usize = 200;

/// Returns the names of the functions, without the hashes of the compiler. The binary must not be stripped.
pub(crate) fn functions(host: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (watched, out) = (folder.path().join("watched"), folder.path().join("out"));
    fs::create_dir(&out)?;
    let script = format!(
        "#!/bin/sh\nexec valgrind --quiet --tool=callgrind --demangle=no --callgrind-out-file='{}/%p' '{}' \"$@\"\n",
        out.display(),
        host.display()
    );
    fs::write(&watched, script)?;
    fs::set_permissions(&watched, fs::Permissions::from_mode(0o755))?;

    let service = Service::start()?;
    let place = Place::new(watched, service.port())?;
    let read = || Reply::call("read_file", r#"{"path":"README.md"}"#).sent_at_once();
    let answer = Reply::markdown(Wire::Chat, ANSWER, EVENTS).sent_at_once();
    for replies in [vec![Reply::text(1, 1)], vec![read(), read(), answer]] {
        service.will_say(replies);
        place.run(Wire::Chat)?;
    }

    let mut names = BTreeSet::new();
    for file in fs::read_dir(&out)? {
        let text = fs::read_to_string(file?.path())?;
        names.extend(text.lines().filter_map(symbol).filter_map(name));
    }
    if names.is_empty() {
        return Err("valgrind knows no function by its name: is the binary stripped?".into());
    }
    Ok(names)
}

/// The symbol of a line `fn=(NUMBER) SYMBOL`, or of one that names a called function. Of a recursive one a count
/// follows.
fn symbol(line: &str) -> Option<&str> {
    let (_, named) = line.strip_prefix('c').unwrap_or(line).strip_prefix("fn=(")?.split_once(") ")?;
    named.split('\'').next()
}

/// The name of a function in Rust.
fn name(symbol: &str) -> Option<String> {
    let name = format!("{:#}", demangle(symbol));
    (name != symbol).then_some(name)
}
