//! The capability `state` of a fake host.

use host_capability::StateAccess;

use super::grants::{denial, plugin};
use super::tree::digest;
use super::{World, ask};
use crate::state::{Error, Expected, Item};

/// The largest value, the number of keys, and all values together, as the host has them.
const MAX_VALUE: usize = 1 << 20;
/// See [`MAX_VALUE`].
const MAX_KEYS: usize = 1_024;
/// See [`MAX_VALUE`].
const MAX_TOTAL: usize = 16 << 20;
/// Characters of a key.
const MAX_KEY: usize = 128;

/// What is kept under a key.
///
/// # Errors
///
/// When the key is invalid, or nothing is granted.
pub fn get(key: &str) -> Result<Option<Item>, Error> {
    keeping("state::get", StateAccess::Read, key, |world| Ok(item(world, key)))
}

/// Keeps a value; answers its new version.
///
/// # Errors
///
/// When something else is kept than was expected, there is no room, the key is invalid, or writing is not granted.
pub fn put(key: &str, value: &[u8], expected: &Expected) -> Result<String, Error> {
    keeping("state::put", StateAccess::Write, key, |world| {
        if value.len() > MAX_VALUE {
            return Err(Error::Full(format!("a value of {} bytes is over the limit of {MAX_VALUE}", value.len())));
        }
        check(world, key, expected)?;
        let others = || world.state.iter().filter(|(other, _)| *other != key);
        if others().count() >= MAX_KEYS {
            return Err(Error::Full(format!("there are {MAX_KEYS} keys already")));
        }
        if others().map(|(_, value)| value.len()).sum::<usize>() + value.len() > MAX_TOTAL {
            return Err(Error::Full(format!("all values together would be over {MAX_TOTAL} bytes")));
        }
        world.state.insert(key.to_owned(), value.to_vec());
        Ok(digest(value))
    })
}

/// Forgets a key.
///
/// # Errors
///
/// When something else is kept than was expected, the key is invalid, or writing is not granted.
pub fn delete(key: &str, expected: &Expected) -> Result<(), Error> {
    keeping("state::delete", StateAccess::Write, key, |world| {
        check(world, key, expected)?;
        world.state.remove(key);
        Ok(())
    })
}

/// The keys, in order.
///
/// # Errors
///
/// When nothing is granted.
pub fn list() -> Result<Vec<String>, Error> {
    keeping("state::list", StateAccess::Read, "list", |world| Ok(world.state.keys().cloned().collect()))
}

fn keeping<T>(
    function: &str,
    access: StateAccess,
    key: &str,
    work: impl FnOnce(&mut World) -> Result<T, Error>,
) -> Result<T, Error> {
    ask(function, |world, grants| {
        let _permit = grants.permit_state(&plugin(), access).map_err(|refused| Error::Denied(denial(&refused)))?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if !(1..=MAX_KEY).contains(&key.len()) || key.starts_with('.') || !key.bytes().all(plain) {
            return Err(Error::Invalid(format!(
                "invalid key `{}`: it has 1 to {MAX_KEY} of a-z, A-Z, 0-9, `.`, `_`, `-`, the first no dot",
                key.chars().take(MAX_KEY).collect::<String>().escape_debug()
            )));
        }
        work(world)
    })
}

fn item(world: &World, key: &str) -> Option<Item> {
    world.state.get(key).map(|value| Item { value: value.clone(), version: digest(value) })
}

fn check(world: &World, key: &str, expected: &Expected) -> Result<(), Error> {
    let found = item(world, key).map(|item| item.version);
    match (expected, &found) {
        (Expected::Anything, _) | (Expected::Absent, None) => Ok(()),
        (Expected::Version(wanted), Some(found)) if wanted == found => Ok(()),
        (Expected::Absent | Expected::Version(_), _) => Err(Error::Changed(found)),
    }
}
