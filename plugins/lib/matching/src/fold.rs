//! Characters that models write in another form than they read them.

/// Returns the ASCII character that a model tends to write for this one; the character itself if there is none.
///
/// One character for one: places in a folded text are places in the text.
pub(crate) fn fold(c: char) -> char {
    match c {
        // Hyphens, dashes and the minus sign.
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => '"',
        // Spaces that are not broken or have a width of their own.
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        c => c,
    }
}
