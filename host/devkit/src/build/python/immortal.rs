//! Makes the objects in a snapshot of Python immortal: references to them are not counted.
//!
//! A count is written to the object, and a page of the snapshot that a call writes to is copied by the system, in each
//! call: of the pages that a small tool wrote to, half were written for nothing but counts. An object whose count has a
//! certain value is immortal (PEP 683). The interpreter itself makes names and small numbers so, and offers no function
//! for others, so the counts are set in the component's data. `host_snapshot.py` lists the objects, and the value.
//!
//! Promises: a count is set only if the type of the object is beside it, as the list says; the component keeps its
//! length. The list is of objects that are kept: the first word of a freed one is not a count, but leads to another.

use std::ops::Range;

use memchr::memmem::Finder;
use wasmparser::{BinaryReaderError, DataKind, Operator, Parser, Payload};

/// What the list begins with. Behind it are the count of an immortal object, the number of entries, and the entries.
const MARK: &[u8] = b"host: objects";

/// The bytes of an entry: where an object is, and where its type is. An object itself begins with its count of
/// references and the place of its type, four bytes each (`PyObject` of CPython, in 32 bits).
const ENTRY: usize = 8;

/// Makes the objects that are listed in a component immortal, and blanks the list. Returns how many there are.
///
/// # Errors
///
/// If there is no list, or an object is not as it says: the interpreter is one that is not known.
pub(super) fn make_immortal(component: &mut [u8]) -> Result<usize, String> {
    let memory = Memory::from_component(component).map_err(|error| error.to_string())?;
    let List { place, count, entries } =
        List::find(component, &memory).ok_or("the snapshot has no list of its objects")?;
    for entry in entries.as_chunks::<ENTRY>().0 {
        let (address, kind) = (number(entry), entry.get(4..).map(number));
        if address.checked_add(4).map(|at| memory.read(component, at)) != kind {
            return Err(format!("an object of the snapshot is not at {address:#x}, where Python says that it is"));
        }
        // What the modules in C define has no count, and needs none.
        if (1..count).contains(&memory.read(component, address))
            && let Some(word) = memory.word(address).and_then(|place| component.get_mut(place))
        {
            word.copy_from_slice(&count.to_le_bytes());
        }
    }
    component[place].fill(0);
    Ok(entries.len() / ENTRY)
}

/// The list of a snapshot.
struct List {
    /// Where it is in the component.
    place: Range<usize>,
    /// The count of an immortal object.
    count: u32,
    entries: Vec<u8>,
}

impl List {
    /// Finds it. Its mark alone is there more than once: the module that wrote it has it, too.
    fn find(component: &[u8], memory: &Memory) -> Option<Self> {
        let finder = Finder::new(MARK);
        memory.0.iter().find_map(|segment| {
            let bytes = component.get(segment.place.clone())?;
            finder.find_iter(bytes).find_map(|at| {
                let behind = bytes.get(at + MARK.len()..)?;
                let (count, length) = (number(behind), number(behind.get(4..)?));
                let entries = behind.get(8..)?.get(..usize::try_from(length).ok()?.checked_mul(ENTRY)?)?;
                // The count is another one in each version of CPython, and never one that references could add up to.
                let is_immortal = count >> 28 > 0;
                let begin = segment.place.start + at;
                let place = begin..begin + MARK.len() + 8 + entries.len();
                (is_immortal && length > 0).then(|| Self { place, count, entries: entries.to_vec() })
            })
        })
    }
}

/// The pieces of memory that a component begins with, by their addresses.
struct Memory(Vec<Segment>);

struct Segment {
    /// Its first address.
    from: u32,
    /// Where its bytes are in the component.
    place: Range<usize>,
}

impl Memory {
    fn from_component(component: &[u8]) -> Result<Self, BinaryReaderError> {
        let mut segments = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            let Payload::DataSection(section) = payload? else { continue };
            for data in section {
                let data = data?;
                let DataKind::Active { memory_index: 0, offset_expr } = data.kind else { continue };
                if let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? {
                    let place = data.range.end - data.data.len()..data.range.end;
                    segments.push(Segment { from: value.cast_unsigned(), place });
                }
            }
        }
        segments.sort_by_key(|segment| segment.from);
        Ok(Self(segments))
    }

    /// Returns where the four bytes at this address are in the component; `None` if they are not all there.
    fn word(&self, address: u32) -> Option<Range<usize>> {
        let begin = self.place(address)?;
        (self.place(address.checked_add(3)?)? == begin + 3).then(|| begin..begin + 4)
    }

    /// Returns the number at this address. The component leaves zeros out, the last byte of a number among them.
    fn read(&self, component: &[u8], address: u32) -> u32 {
        let byte = |at: u32| Some(*component.get(self.place(address.checked_add(at)?)?)?);
        u32::from_le_bytes([0, 1, 2, 3].map(|at| byte(at).unwrap_or(0)))
    }

    /// Returns where the byte at this address is in the component.
    fn place(&self, address: u32) -> Option<usize> {
        let at = self.0.partition_point(|segment| segment.from <= address).checked_sub(1)?;
        let segment = self.0.get(at)?;
        let place = segment.place.start + usize::try_from(address - segment.from).ok()?;
        (place < segment.place.end).then_some(place)
    }
}

/// The number at the beginning of these bytes; 0 if there are fewer than four.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMMORTAL: u32 = 5 << 28;

    fn words(all: &[u32]) -> Vec<u8> {
        all.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A module with memory at these addresses.
    fn module(segments: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut data = vec![u8::try_from(segments.len()).expect("few")];
        for (from, bytes) in segments {
            // `i32.const FROM`, the end of the expression, and the length as LEB128 of two bytes.
            let length = [bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8];
            data.extend([&[0, 0x41, *from, 0x0b][..], &length, bytes].concat());
        }
        let length = [data.len() as u8 | 0x80, (data.len() >> 7) as u8];
        [b"\0asm\x01\0\0\0\x05\x03\x01\0\x01\x0b".as_slice(), &length, &data].concat()
    }

    /// Objects at 16 and on, each with its type at 8, and their list at 60.
    fn snapshot(objects: &[(u32, u32)], count: u32, entries: &[(u32, u32)]) -> Vec<u8> {
        let objects: Vec<u32> = objects.iter().flat_map(|(count, kind)| [*count, *kind]).collect();
        let entries: Vec<u32> = entries.iter().flat_map(|(at, kind)| [*at, *kind]).collect();
        let list = [MARK, &words(&[count, entries.len() as u32 / 2]), &words(&entries)].concat();
        // The mark is a constant of the module, too.
        module(&[(0, [MARK, b"\0\0\0"].concat()), (16, words(&objects)), (60, list)])
    }

    #[test]
    fn objects_that_are_as_listed_become_immortal_and_nothing_else_changes() {
        let before = [(1, 8), (7, 8), (7 << 28, 8), (0, 8), (3, 9)];
        let entries = [(16, 8), (24, 8), (32, 8), (40, 8)];
        let mut component = snapshot(&before, IMMORTAL, &entries);
        assert_eq!(make_immortal(&mut component), Ok(4));
        let after = [(IMMORTAL, 8), (IMMORTAL, 8), (7 << 28, 8), (0, 8), (3, 9)];
        let mut after = snapshot(&after, IMMORTAL, &entries);
        let list = after.len() - MARK.len() - 8 - entries.len() * ENTRY;
        after[list..].fill(0);
        assert_eq!(component, after);
    }

    #[test]
    fn objects_whose_last_zeros_are_left_out_are_found() {
        // The first word of each object, and of the second one byte of the type.
        let list = |count: u32| [MARK, &words(&[count, 2, 16, 8, 24, 8])].concat();
        let with = |first: u32, second: u32| {
            let second = [&words(&[second])[..], &[8]].concat();
            module(&[(16, words(&[first, 8])), (24, second), (60, list(IMMORTAL))])
        };
        let mut component = with(1, 2);
        assert_eq!(make_immortal(&mut component), Ok(2));
        let mut after = with(IMMORTAL, IMMORTAL);
        let at = after.len() - list(IMMORTAL).len();
        after[at..].fill(0);
        assert_eq!(component, after);
        // A count that is not all there stays.
        let cut = module(&[(16, vec![1]), (20, words(&[8])), (60, [MARK, &words(&[IMMORTAL, 1, 16, 8])].concat())]);
        let mut component = cut.clone();
        assert_eq!(make_immortal(&mut component), Ok(1));
        assert_eq!(component[..40], cut[..40]);
    }

    #[test]
    fn objects_of_an_interpreter_that_is_not_known_are_left() {
        let objects = [(1, 8), (1, 8)];
        for (component, why) in [
            (snapshot(&objects, 2, &[(16, 8)]), "no list"),
            (snapshot(&objects, IMMORTAL, &[]), "no list"),
            (module(&[(0, MARK.to_vec())]), "no list"),
            // The type is another one, and the place is in no segment or at the end of one.
            (snapshot(&objects, IMMORTAL, &[(16, 8), (24, 4)]), "not at 0x18"),
            (snapshot(&objects, IMMORTAL, &[(200, 8)]), "not at 0xc8"),
            (snapshot(&objects, IMMORTAL, &[(28, 8)]), "not at 0x1c"),
            (snapshot(&objects, IMMORTAL, &[(u32::MAX, 8)]), "not at 0xffffffff"),
            (b"not a component".to_vec(), "magic"),
        ] {
            let mut changed = component.clone();
            let error = make_immortal(&mut changed).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn list_that_is_cut_off_is_none() {
        let whole = snapshot(&[(1, 8)], IMMORTAL, &[(16, 8)]);
        let memory = Memory::from_component(&whole).expect("a module");
        assert!(List::find(&whole, &memory).is_some());
        let cut = Memory(vec![Segment { from: 0, place: 0..whole.len() - 1 }]);
        assert!(List::find(&whole, &cut).is_none());
    }
}
