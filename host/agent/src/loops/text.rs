//! The same words over and over within one reply, noticed while it arrives.
//!
//! The rule is Gemini CLI's: a window of 50 characters that comes 10 times, on average at most 250 characters apart,
//! and with at most five different texts between one time and the next. The last condition distinguishes a loop from a
//! list of things that begin or end alike. Two conditions are added: the ten windows do not overlap, so that no short
//! text is a loop, and they lie in prose. What lies between them may be anything, so the same paragraph with the same
//! table is a loop too.
//!
//! Windows are looked up where a word begins in them, and at each character of a text that has no words between spaces
//! (Chinese, one endless word): a text that comes again begins its words in the same places.
//!
//! Each character is hashed once, into the text up to it. The hash of a window, and of what lies between two of them,
//! is that of the text up to its end without that of the text before it (Rabin and Karp, 1987). The detector remembers
//! the windows of the last 2,250 characters. It would confuse two texts with the same hash of 61 bits; this does not
//! happen in practice.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::Repeated;
use super::lines::{Extent, HELD, Kind, Lines};

/// The length of a window, in characters.
const WINDOW: usize = 50;

/// A bit for each character of a window.
const BITS: u64 = (1 << WINDOW) - 1;

/// The size of a ring that holds a window: the next power of two.
const RING: usize = WINDOW.next_power_of_two();

/// Number of times that a window must occur.
const TIMES: usize = 10;

/// Maximum average distance between them, in characters.
const DISTANCE: usize = 250;

/// Maximum number of different texts between one occurrence and the next.
const KINDS: usize = 5;

/// Maximum distance back to the first of the windows. Bounds what is remembered.
const REACH: usize = (TIMES - 1) * DISTANCE;

/// The prime of the hashes, 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;

/// Their base; any large number does.
const BASE: u64 = 0x0b1e_55ed_1dea_5eed;

/// Watches a text.
#[derive(Debug)]
pub(super) struct TextWatch {
    lines: Lines,
    line: Line,
    /// What is held of a line; empty once its kind is known.
    held: String,
    /// Number of characters so far.
    at: usize,
    /// The hash of all of them.
    before: u64,
    /// The last characters, each at its place in the text modulo the ring's size.
    recent: [char; RING],
    /// The hash of the text before each of them.
    hashes: [u64; RING],
    /// Number of characters of prose since the last form.
    prose: usize,
    /// Those of them that begin a word, one bit each; the last character has the lowest bit.
    starts: u64,
    /// Those of them that are letters or digits.
    words: u64,
    /// Number of times the last character occurred in a row.
    run: usize,
    /// The factor that takes a hash to the text that is a window longer.
    window_away: u64,
    /// The factor for the distance that was last asked for: what repeats itself does so at one distance.
    last_away: (usize, u64),
    /// The windows that were seen, as far as they count, in the order of the text.
    places: VecDeque<Place>,
    /// Number of places that were forgotten.
    forgotten: usize,
    /// The last place of each window, by its hash: its index in `places` before anything was forgotten.
    last: HashMap<u64, usize, BuildHasherDefault<Itself>>,
    /// Counts the steps of work.
    #[cfg(test)]
    steps: usize,
}

/// The line that is being read.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// Too little of it was seen to say what it is.
    Held {
        characters: usize,
    },
    Known(Kind),
}

/// An occurrence of a window.
#[derive(Clone, Copy, Debug)]
struct Place {
    window: u64,
    at: usize,
    /// The hash of the text before.
    before: u64,
    /// The hash of the text since the place before this one.
    between: u64,
    /// The index of that place.
    previous: Option<usize>,
    /// Number of occurrences of this window, including this one.
    times: usize,
}

/// A hash of a hash is itself.
#[derive(Debug, Default)]
struct Itself(u64);

impl Default for TextWatch {
    fn default() -> Self {
        Self {
            lines: Lines::default(),
            line: Line::BEGUN,
            held: String::new(),
            at: 0,
            before: 0,
            recent: ['\0'; RING],
            hashes: [0; RING],
            prose: 0,
            starts: 0,
            words: 0,
            run: 0,
            window_away: power(WINDOW),
            last_away: (0, 1),
            places: VecDeque::new(),
            forgotten: 0,
            last: HashMap::default(),
            #[cfg(test)]
            steps: 0,
        }
    }
}

impl TextWatch {
    /// Takes the next piece of the text.
    pub(super) fn push(&mut self, piece: &str) -> Option<Repeated> {
        piece.split('\n').enumerate().find_map(|(at, part)| {
            let ended = if at > 0 { self.end_line() } else { None };
            ended.or_else(|| self.part(part))
        })
    }

    /// Takes the end of the text.
    pub(super) fn finish(&mut self) -> Option<Repeated> {
        self.judge(Extent::Whole)
    }

    /// Takes more of the line, without its end.
    fn part(&mut self, part: &str) -> Option<Repeated> {
        let mut rest = part;
        if let Line::Held { characters } = &mut self.line {
            let room = HELD - *characters;
            // A character has at least one byte.
            let end = if part.len() <= room { None } else { part.char_indices().nth(room) };
            let (held, after) = part.split_at(end.map_or(part.len(), |(at, _)| at));
            self.held.push_str(held);
            *characters += held.chars().count();
            if *characters < HELD {
                return None;
            }
            let found = self.judge(Extent::Beginning);
            if found.is_some() {
                return found;
            }
            rest = after;
        }
        let Line::Known(kind) = self.line else { return None };
        rest.chars().find_map(|c| self.take(c, kind))
    }

    fn end_line(&mut self) -> Option<Repeated> {
        let found = self.judge(Extent::Whole);
        let Line::Known(kind) = std::mem::replace(&mut self.line, Line::BEGUN) else { return found };
        found.or_else(|| self.take('\n', kind))
    }

    /// Says what the line is, and takes what was held of it.
    fn judge(&mut self, extent: Extent) -> Option<Repeated> {
        let Line::Held { .. } = self.line else { return None };
        let mut held = std::mem::take(&mut self.held);
        let kind = self.lines.kind(&held, extent);
        self.line = Line::Known(kind);
        let found = held.chars().find_map(|c| self.take(c, kind));
        held.clear();
        self.held = held;
        found
    }

    fn take(&mut self, c: char, kind: Kind) -> Option<Repeated> {
        let (before, place) = (self.before, self.at % RING);
        self.before = appended(before, c);
        self.at += 1;
        if kind == Kind::Form {
            (self.prose, self.starts, self.words, self.run) = (0, 0, 0, 0);
            return None;
        }
        let repeats = self.prose > 0 && self.recent[self.at.wrapping_sub(2) % RING] == c;
        self.recent[place] = c;
        self.hashes[place] = before;
        self.prose += 1;
        self.run = if repeats { self.run + 1 } else { 1 };
        let is_word = c.is_alphanumeric();
        let begins = !c.is_ascii() || (is_word && self.words & 1 == 0);
        self.starts = (self.starts << 1 | u64::from(begins)) & BITS;
        self.words = (self.words << 1 | u64::from(is_word)) & BITS;
        let begins_with_word = self.starts > BITS >> 1 || self.starts == 0;
        // A window of signs alone, or of one letter, is a rule or a drawing.
        let is_words = || self.words.count_ones() as usize * 2 >= WINDOW && self.run < WINDOW;
        if begins_with_word && self.prose >= WINDOW && is_words() { self.look() } else { None }
    }

    /// Looks whether the window was here before.
    fn look(&mut self) -> Option<Repeated> {
        // What is too far back can be part of no loop, so that memory stays the same for any reply.
        while let Some(place) = self.places.front().filter(|place| place.at + REACH < self.at) {
            // Only if it was not replaced by a later place of the same window.
            if self.last.get(&place.window) == Some(&self.forgotten) {
                self.last.remove(&place.window);
            }
            self.places.pop_front();
            self.forgotten += 1;
            self.count();
        }
        self.count();
        let window = self.window_hash();
        let previous = self.last.get(&window).copied();
        let (between, times) = match previous.and_then(|index| self.place(index)) {
            // Overlapping windows would make a loop of any long row of one character.
            Some(place) if self.at < place.at + WINDOW => return None,
            Some(place) => {
                let away = self.away(self.at - place.at);
                (difference(self.before, product(place.before, away)), place.times + 1)
            }
            None => (0, 1),
        };
        let (at, before) = (self.at, self.before);
        self.last.insert(window, self.forgotten + self.places.len());
        self.places.push_back(Place { window, at, before, between, previous, times });
        if times < TIMES {
            return None;
        }
        let mut kinds = [0; TIMES - 1];
        let mut place = self.places.back().copied()?;
        for kind in &mut kinds {
            *kind = place.between;
            // A forgotten place lies too far back.
            place = self.place(place.previous?)?;
        }
        kinds.sort_unstable();
        // A list whose entries begin alike has something else between each two.
        let found = kinds.chunk_by(|a, b| a == b).count() <= KINDS && self.has_words();
        found.then(|| Repeated::Text { text: self.window().collect(), times: TIMES })
    }

    /// The last characters of the text, as many as a window has.
    fn window(&self) -> impl Iterator<Item = char> {
        (self.at.saturating_sub(WINDOW)..self.at).map(|at| self.recent[at % RING])
    }

    /// The hash of these, if there are as many.
    fn window_hash(&self) -> u64 {
        let before = self.hashes[self.at.wrapping_sub(WINDOW) % RING];
        difference(self.before, product(before, self.window_away))
    }

    /// The factor that takes a hash to the text that is longer by this many characters.
    fn away(&mut self, characters: usize) -> u64 {
        if self.last_away.0 != characters {
            self.last_away = (characters, power(characters));
        }
        self.last_away.1
    }

    fn place(&self, index: usize) -> Option<Place> {
        self.places.get(index.checked_sub(self.forgotten)?).copied()
    }

    /// Returns whether the window has more than one letter or digit; a run of one fills a form or a drawing.
    fn has_words(&self) -> bool {
        let mut words = self.window().filter(|c| c.is_alphanumeric());
        let first = words.next();
        words.any(|c| Some(c) != first)
    }

    fn count(&mut self) {
        #[cfg(test)]
        {
            self.steps += 1;
        }
    }
}

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // The table looks at the highest bits too, and the hashes have 61.
        self.0 = self.0.rotate_left(8) ^ value ^ value << 3;
    }
}

impl Line {
    const BEGUN: Self = Self::Held { characters: 0 };
}

/// A character as a digit of the hash; never zero, so that no text is lost at its start.
fn digit(c: char) -> u64 {
    u64::from(u32::from(c)) + 1
}

fn appended(hash: u64, c: char) -> u64 {
    let sum = product(hash, BASE) + digit(c);
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn difference(from: u64, what: u64) -> u64 {
    if from >= what { from - what } else { from + PRIME - what }
}

fn product(a: u64, b: u64) -> u64 {
    // Two to the 61st is one, modulo the prime: what is above those bits is added to them.
    let product = u128::from(a) * u128::from(b);
    let sum = (product as u64 & PRIME) + (product >> 61) as u64;
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// The base to this power.
fn power(exponent: usize) -> u64 {
    let (mut result, mut square, mut left) = (1, BASE, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests;
