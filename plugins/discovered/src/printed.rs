//! What a command printed to one of its outputs, up to a limit.

/// What is kept of an output.
#[derive(Clone)]
pub(crate) struct Printed {
    bytes: Vec<u8>,
    most: usize,
    is_over: bool,
}

impl Printed {
    /// Nothing yet, and never more than so many bytes.
    pub(crate) fn up_to(most: usize) -> Self {
        Self { bytes: Vec::new(), most, is_over: false }
    }

    /// Takes what was printed next.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.bytes.len()).min(bytes.len());
        self.is_over |= room < bytes.len();
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }

    /// Whether there was more than is kept.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether nothing was printed.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is kept, as it was printed.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What is kept, as text that is no longer than what may be kept, and says so where something is missing. What is no
    /// UTF-8 is replaced by a sign that is three bytes long.
    pub(crate) fn into_text(self) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        let is_cut = self.is_over || text.len() > self.most;
        text.truncate(text.floor_char_boundary(self.most));
        if is_cut {
            text.push_str("\n[cut: there was more]");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(most: usize, pieces: &[&[u8]], text: &str, over: bool) {
        let mut printed = Printed::up_to(most);
        pieces.iter().for_each(|piece| printed.take(piece));
        assert_eq!((printed.is_over(), printed.into_text().as_str()), (over, text), "{pieces:?}");
    }

    #[test]
    fn discovered_output_over_the_limit_is_cut_and_marked() {
        check(4, &[], "", false);
        check(4, &[b"ab", b"cd"], "abcd", false);
        check(4, &[b"ab", b"cde"], "abcd\n[cut: there was more]", true);
        check(4, &[b"abcd", b"e", b"f"], "abcd\n[cut: there was more]", true);
    }

    #[test]
    fn discovered_output_that_is_not_text_does_not_grow_over_the_limit() {
        check(4, &[b"\xff"], "\u{fffd}", false);
        check(4, &[b"\xff\xff\xff"], "\u{fffd}\n[cut: there was more]", false);
        check(4, &["aé€".as_bytes()], "aé\n[cut: there was more]", true);
    }
}
