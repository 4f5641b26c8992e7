//! The tables of packs, read as far as they say which objects are stored.
//!
//! An object goes away only if a pack that came back in its place has it. So no program destroys history by removing
//! files, and no commit that the user made meanwhile loses a part.

/// How a table of version 2 begins.
const BEGIN: &[u8] = b"\xfftOc\0\0\0\x02";

/// The bytes before the first name: that, and how many names begin with at most each byte.
const HEAD: usize = 8 + 4 * 256;

/// A table, whose names are sorted.
pub(crate) struct Table {
    bytes: Vec<u8>,
    size: usize,
    count: usize,
}

impl Table {
    /// Reads a table in which names have this many bytes; `None` if it is none.
    pub(crate) fn read(bytes: Vec<u8>, size: usize) -> Option<Self> {
        let last: [u8; 4] = bytes.get(HEAD - 4..HEAD)?.try_into().ok()?;
        let count = usize::try_from(u32::from_be_bytes(last)).ok()?;
        let whole = HEAD.checked_add(count.checked_mul(size)?)? <= bytes.len();
        (bytes.starts_with(BEGIN) && whole).then_some(Self { bytes, size, count })
    }

    fn name(&self, number: usize) -> &[u8] {
        let from = HEAD + number * self.size;
        self.bytes.get(from..from + self.size).unwrap_or_default()
    }

    /// Returns whether an object is in the pack.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle).cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    /// Returns whether each object of the pack is in one of the others.
    pub(crate) fn is_within(&self, others: &[Self]) -> bool {
        (0..self.count).all(|number| others.iter().any(|other| other.size == self.size && other.has(self.name(number))))
    }
}

/// Returns the name of an object from its digits.
pub(crate) fn name_of(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[[u8; 4]]) -> Table {
        let mut bytes = BEGIN.to_vec();
        bytes.resize(HEAD - 4, 0);
        bytes.extend(u32::try_from(names.len()).expect("few").to_be_bytes());
        bytes.extend(names.concat());
        Table::read(bytes, 4).expect("a table")
    }

    #[test]
    fn packs_have_the_objects_of_their_tables() {
        let (one, two) = (table(&[*b"aaaa", *b"cccc"]), table(&[*b"aaaa", *b"bbbb", *b"cccc"]));
        assert!(two.has(b"bbbb") && !one.has(b"bbbb") && !one.has(b"dddd") && !one.has(b"AAAA"));
        assert!(one.is_within(&[table(&[*b"aaaa"]), table(&[*b"cccc"])]) && !two.is_within(&[one]));
        assert!(Table::read(b"\xfftOc".to_vec(), 20).is_none());
        let mut cut = table(&[*b"aaaa"]).bytes;
        cut.pop();
        assert!(Table::read(cut, 4).is_none());
        assert_eq!(name_of("ff0a"), Some(vec![255, 10]));
        assert_eq!(name_of("xy"), None);
    }
}
