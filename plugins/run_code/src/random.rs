//! The numbers behind `Math.random`: a component has no source of real ones, so each script begins with a number made
//! of its text. They are good for samples, and for nothing that must not be guessed.

use std::cell::Cell;

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Begins with a number made of this text.
pub(crate) fn seed(text: &str) {
    // FNV-1a.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    STATE.set(hash);
}

/// Returns the next number, by SplitMix64.
#[cfg(any(target_family = "wasm", test))]
fn next() -> u64 {
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What the engine's library of random numbers begins with, for lack of a system's.
///
/// # Safety
///
/// `to` must be valid for writing `length` bytes.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(to: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    // SAFETY: the caller says that so many bytes can be written there; they need not be initialised before.
    unsafe { to.write_bytes(0, length) };
    // SAFETY: they are initialised now, and nobody else has them meanwhile.
    let bytes = unsafe { std::slice::from_raw_parts_mut(to, length) };
    bytes.iter_mut().for_each(|byte| *byte = next().to_le_bytes()[0]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_from_the_text_and_differ() {
        let three = |text: &str| {
            seed(text);
            [next(), next(), next()]
        };
        assert_eq!(three("a"), three("a"));
        assert_ne!(three("a"), three("b"));
        let [one, two, three] = three("a");
        assert!(one != two && two != three);
    }
}
