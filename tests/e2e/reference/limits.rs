//! `limits.md`: each documented constant that is a number or a time, with its value.
//!
//! A limit is a named constant beside the code that it guards; its doc comment says what it protects. Constants that
//! are not limits (versions, bits, hashes) are recognised by their values and types, see `is_limit`.

use std::fmt::Write as _;

use super::sources::{Source, beneath, doc_above, plain};
use super::{Page, cell};

/// A constant of the sources.
struct Constant {
    file: String,
    name: String,
    value: String,
    doc: String,
}

pub(super) fn page() -> Page {
    let mut body = "Limits, times and sizes that are built in, by crate. Those that can be configured are in \
                    [settings.md](settings.md).\n"
        .to_owned();
    let mut owner = String::new();
    for source in beneath(&["host"]).iter().filter(|source| source.path.contains("/src/") && !source.is_of_tests()) {
        let constants = constants(source);
        if !constants.is_empty() && source.owner() != owner {
            source.owner().clone_into(&mut owner);
            let _ = write!(body, "\n## `{owner}`\n\n| what | value | constant |\n|---|---|---|\n");
        }
        for Constant { file, name, value, doc } in constants {
            let _ = writeln!(body, "| {} | {} | `{name}` in `{file}` |", cell(&plain(&doc)), cell(&value));
        }
    }
    Page { file: "limits.md", title: "Limits", body }
}

fn constants(source: &Source) -> Vec<Constant> {
    let lines = source.product();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((name, kind, value)) = declared(line) else { continue };
        let Some(value) = shown(value, kind).filter(|_| !name.contains("VERSION")) else { continue };
        let doc = doc_above(lines, at);
        if doc.is_empty() {
            let is_limit = name.starts_with("MAX_") || name.ends_with("_LIMIT");
            assert!(!is_limit, "{}: `{name}` is a limit: document what it protects", source.path);
            continue;
        }
        found.push(Constant { file: source.path.clone(), name: name.to_owned(), value, doc });
    }
    found
}

/// Name, type and value of a constant that is declared on one line.
fn declared(line: &str) -> Option<(&str, &str, &str)> {
    let line = line.trim().strip_suffix(';')?;
    let (before, rest) = line.split_once("const ")?;
    if !(before.is_empty() || before.starts_with("pub")) {
        return None;
    }
    let (name, rest) = rest.split_once(": ")?;
    let (kind, value) = rest.split_once(" = ")?;
    let is_name = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    is_name.then_some((name, kind, value))
}

/// The value as people write it; `None` if this is not a number, size, time or range of such.
fn shown(value: &str, kind: &str) -> Option<String> {
    match kind {
        "Duration" | "std::time::Duration" => duration(value),
        "u16" | "u32" | "u64" | "usize" | "f32" | "f64" => number(value),
        _ if kind.starts_with("RangeInclusive<") => {
            let (least, most) = value.split_once("..=")?;
            Some(format!("{} to {}", number(least)?, number(most)?))
        }
        _ => None,
    }
}

fn duration(value: &str) -> Option<String> {
    let (unit, amount) = value.strip_prefix("Duration::from_")?.strip_suffix(')')?.split_once('(')?;
    let amount = product(amount)?;
    Some(match unit {
        "secs" if amount >= 3600 && amount % 3600 == 0 => format!("{} h", grouped(amount / 3600)),
        "secs" if amount >= 120 && amount % 60 == 0 => format!("{} min", grouped(amount / 60)),
        "secs" => format!("{} s", grouped(amount)),
        "millis" => format!("{} ms", grouped(amount)),
        "micros" => format!("{} µs", grouped(amount)),
        _ => return None,
    })
}

fn number(value: &str) -> Option<String> {
    if value.starts_with("0x") {
        return None;
    }
    if let Some((amount, bits)) = value.split_once(" << ")
        && let (Some(amount), Ok(bits)) = (product(amount), bits.parse())
    {
        return amount.checked_shl(bits).map(size);
    }
    if value == "MIB" || value.ends_with(" * MIB") {
        return Some(size(product(value.strip_suffix(" * MIB").unwrap_or("1"))? << 20));
    }
    if let Some(amount) = product(value) {
        return Some(if value.contains("1024") { size(amount) } else { grouped(amount) });
    }
    if value.parse::<f64>().is_ok() {
        return Some(value.to_owned());
    }
    // Made of other constants: as it is written.
    let is_made = |byte: u8| byte.is_ascii_alphanumeric() || b"_ :+-*()<.".contains(&byte);
    let names_one = value.bytes().filter(u8::is_ascii_uppercase).count() > 2;
    (names_one && value.bytes().all(is_made) && !value.contains("bits()") && !value.contains("len()"))
        .then(|| format!("`{value}`"))
}

/// A product of numbers.
fn product(value: &str) -> Option<u64> {
    value
        .split(" * ")
        .map(|factor| factor.replace('_', "").parse::<u64>().ok())
        .try_fold(1_u64, |all, factor| all.checked_mul(factor?))
}

fn size(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift && bytes.trailing_zeros() >= shift {
            return format!("{} {unit}", grouped(bytes >> shift));
        }
    }
    grouped(bytes)
}

/// A number with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn limits_are_shown_as_people_write_them() {
    for (value, kind, expected) in [
        ("64 << 10", "usize", Some("64 KiB")),
        ("8 * 1024 * 1024", "usize", Some("8 MiB")),
        ("24 * MIB", "usize", Some("24 MiB")),
        ("100_000", "usize", Some("100,000")),
        ("3 + 2 * 128", "usize", None),
        ("Duration::from_secs(10 * 60)", "Duration", Some("10 min")),
        ("Duration::from_secs(90)", "Duration", Some("90 s")),
        ("Duration::from_millis(500)", "Duration", Some("500 ms")),
        ("8..=8192", "RangeInclusive<usize>", Some("8 to 8,192")),
        ("MAX_BUNDLE + (2 << 20)", "u64", Some("`MAX_BUNDLE + (2 << 20)`")),
        ("0x1b", "u64", None),
        ("\"text\"", "&str", None),
    ] {
        assert_eq!(shown(value, kind).as_deref(), expected, "{value}");
    }
}
