//! Reads the entry of one line.
//!
//! Deliberately not here: where lines begin and end, and the fields of an entry.

use serde::Deserialize;

use crate::{Fact, Logged, SESSION_VERSION};

/// Maximum nesting depth of a line's JSON. Protects the stack. A model's arguments have at most 128 levels when they
/// arrive, and an entry adds a few.
const MAX_DEPTH: usize = 160;

/// The fault of a line.
pub(crate) enum Flaw {
    /// It was written by a host of this newer version.
    Version(u32),
    /// It is not an entry, for this reason.
    Other(String),
}

/// Reads the entry of a line; the first one begins the log.
pub(crate) fn parse(line: &[u8], first: bool) -> Result<Logged, Flaw> {
    if first {
        // Of a newer format nothing else is known.
        #[derive(Deserialize)]
        struct First {
            r#type: String,
            version: u32,
        }
        match serde_json::from_slice::<First>(line) {
            Ok(First { r#type, version }) if r#type == "session" && version != SESSION_VERSION => {
                return Err(Flaw::Version(version));
            }
            Ok(First { r#type, .. }) if r#type == "session" => {}
            Ok(_) | Err(_) => return Err(Flaw::Other("a log begins with an entry `session`".to_owned())),
        }
    }
    // Checked once for the line: the parser would check each text by itself.
    let logged: Logged = match str::from_utf8(line).ok().and_then(|line| serde_json::from_str(line).ok()) {
        Some(logged) => logged,
        // The parser's own limit of depth is lower than that of a log.
        None => deep(line)?,
    };
    if !first && matches!(logged.fact, Fact::Session { .. }) {
        return Err(Flaw::Other("a second entry `session`".to_owned()));
    }
    Ok(logged)
}

/// Reads an entry that the parser's own limit of 128 levels, for which nothing is counted beforehand, does not let
/// pass, or returns why it is none.
fn deep(line: &[u8]) -> Result<Logged, Flaw> {
    if depth(line) > MAX_DEPTH {
        return Err(Flaw::Other(format!("it is nested deeper than {MAX_DEPTH} levels")));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    deserializer.disable_recursion_limit();
    let logged = Logged::deserialize(&mut deserializer).and_then(|logged| deserializer.end().map(|()| logged));
    logged.map_err(|error| Flaw::Other(error.to_string()))
}

/// Returns the nesting depth of brackets, ignoring those in strings.
fn depth(line: &[u8]) -> usize {
    let (mut now, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(line, at),
            b'{' | b'[' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns where a string ends, given where it begins, both without the quotation marks.
fn string_end(line: &[u8], mut at: usize) -> usize {
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        match line.get(at) {
            Some(b'\\') => at += 2,
            _ => return at + 1,
        }
    }
    line.len()
}
