//! Which globs are compiled at all.
//!
//! A guest, a model and a repository write globs, and `globset` unfolds braces by recursion: a few thousand within each
//! other end the process, since no thread's stack holds them.

/// The longest glob, in bytes: as long as a path may be. Protects the compiler of globs.
pub(super) const MAX_GLOB: usize = 4_096;

/// How deep braces may nest. Protects the stack of the thread that compiles them; the scopes of grants have the same.
pub(super) const MAX_NESTING: usize = 8;

/// Checks that a glob is short and flat enough to be compiled.
pub(super) fn check(glob: &str) -> Result<(), String> {
    if glob.len() > MAX_GLOB {
        return Err(format!("it has {} bytes, over the limit of {MAX_GLOB}", glob.len()));
    }
    let mut depth = 0_usize;
    // A brace that is escaped or in a class counts too: nobody writes nine of them.
    for byte in glob.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(format!("its braces are nested deeper than {MAX_NESTING}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_short_and_flat() {
        let nested = |depth: usize| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        for (glob, taken) in [
            ("**/*.{rs,toml}".to_owned(), true),
            ("{a}".repeat(100), true),
            (nested(MAX_NESTING), true),
            (nested(MAX_NESTING + 1), false),
            ("}".repeat(MAX_GLOB), true),
            ("x".repeat(MAX_GLOB), true),
            ("x".repeat(MAX_GLOB + 1), false),
        ] {
            assert_eq!(check(&glob).is_ok(), taken, "{glob:.30}, {} bytes", glob.len());
        }
    }
}
