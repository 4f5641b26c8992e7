//! The text of a paragraph, a heading or a cell: emphasis, code, links, line breaks.
//!
//! Emphasis follows CommonMark's algorithm of delimiter runs, with two additions: `~~strikethrough~~`, and a mark
//! beside an ideograph counts as beside a blank, because Chinese and Japanese have none. A text may still be growing:
//! parsing returns up to where nothing that follows can change it.
//!
//! Deliberately not here: links by reference, which are defined after their use, and HTML except `<br>`. Both are shown
//! as they were written.

use std::ops::Range;

use host_text::{is_unsafe, visible_line};

use super::paint::Kind;
use crate::wrap::is_ideograph;

/// A parsed text.
#[derive(Debug, Default)]
pub(super) struct Inline {
    pub(super) events: Vec<Event>,
    /// Where the text can be cut, in bytes: a blank or line end outside of all marks, before which nothing changes any
    /// more.
    pub(super) cut: Option<usize>,
    /// Up to where nothing changes any more and no mark is open, also within a word.
    pub(super) settled: usize,
}

/// What is shown, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Text(String),
    Code(String),
    /// An address that stands for itself.
    Address(String),
    Begin(Kind),
    End(Kind),
    /// A link or an image begins.
    LinkBegins {
        image: bool,
    },
    /// It ends, and leads here.
    LinkEnds {
        address: String,
    },
    /// A new row begins.
    Break,
}

/// Whether more of the text may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The text is complete.
    None,
    /// More may come, and only the part that cannot change is of interest.
    Comes,
    /// More may come, and everything is shown meanwhile: what has begun is taken to end at the end.
    ShownSoFar,
}

/// The longest address, in bytes: a longer one is text.
pub(super) const MAX_ADDRESS: usize = 2048;

/// A piece of the text: where it is, and what it is so far.
#[derive(Debug)]
struct Node {
    start: usize,
    end: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    /// As it is in the source.
    Source,
    /// Another text in its place.
    Instead(String),
    Code(String),
    Address(String),
    Break,
    Run(Run),
    /// `[` or `![`, a bracket as long as it is not known to begin a link.
    Bracket {
        image: bool,
        begins: bool,
    },
    LinkEnds(String),
}

/// A run of marks of emphasis.
#[derive(Debug)]
struct Run {
    mark: u8,
    /// The marks that are not used.
    left: usize,
    length: usize,
    opens: bool,
    closes: bool,
    ends: Vec<Kind>,
    /// What begins, the innermost first.
    begins: Vec<Kind>,
}

impl Run {
    /// Whether a later run can end what this one begins.
    fn is_closed_by(&self, closer: &Self) -> bool {
        // CommonMark's rule of three.
        let is_odd = (closer.opens || self.closes)
            && (self.length + closer.length).is_multiple_of(3)
            && !(self.length.is_multiple_of(3) && closer.length.is_multiple_of(3));
        self.opens && self.left > 0 && self.mark == closer.mark && !is_odd
    }
}

/// Parses a text that follows this character.
pub(super) fn parse(source: &str, before: Option<char>, rest: Rest) -> Inline {
    let mut parser = Parser { source, before, rest, nodes: Vec::new(), brackets: Vec::new(), changes: source.len() };
    parser.scan();
    parser.emphasis(0, Scope::All);
    // A run or bracket that may still begin something.
    let open_run = parser.nodes.iter().find(|node| matches!(&node.what, What::Run(run) if run.opens && run.left > 0));
    let open_bracket = parser.brackets.first().and_then(|bracket| parser.nodes.get(bracket.node));
    for node in [open_run, open_bracket].into_iter().flatten() {
        parser.changes = parser.changes.min(node.start);
    }
    parser.events()
}

/// Which runs are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    Link,
}

struct Bracket {
    node: usize,
    /// Whether it can begin a link; within a link there is no other.
    active: bool,
}

struct Parser<'a> {
    source: &'a str,
    before: Option<char>,
    rest: Rest,
    nodes: Vec<Node>,
    brackets: Vec<Bracket>,
    /// From where the text may change.
    changes: usize,
}

impl<'a> Parser<'a> {
    fn rest_of(&self, at: usize) -> &'a str {
        self.source.get(at..).unwrap_or_default()
    }

    fn before(&self, at: usize) -> Option<char> {
        self.source.get(..at).and_then(|before| before.chars().next_back()).or(self.before)
    }

    /// What is here may be the beginning of something, as long as the text may grow.
    fn may_change(&mut self, from: usize) {
        if self.rest != Rest::None {
            self.changes = self.changes.min(from);
        }
    }

    fn push(&mut self, start: usize, end: usize, what: What) {
        if matches!(what, What::Source)
            && let Some(Node { end: last, what: What::Source, .. }) = self.nodes.last_mut()
            && *last == start
        {
            *last = end;
            return;
        }
        self.nodes.push(Node { start, end, what });
    }

    fn scan(&mut self) {
        let mut at = 0;
        while at < self.source.len() {
            let rest = self.rest_of(at);
            let is_special = |byte: &u8| {
                matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~' | b'[' | b']' | b'!' | b'<' | b'&' | b'\n' | b'h')
            };
            let plain = rest.bytes().position(|byte| is_special(&byte)).unwrap_or(rest.len());
            if plain > 0 {
                self.push(at, at + plain, What::Source);
                at += plain;
                continue;
            }
            let taken = self.special(at, rest);
            debug_assert!(taken > 0, "each step takes something");
            at += taken.max(1);
        }
    }

    /// Takes what a special character begins; returns its length.
    fn special(&mut self, at: usize, rest: &str) -> usize {
        let first = rest.bytes().next().unwrap_or_default();
        let (length, what) = match first {
            b'\\' => match rest.get(1..2) {
                Some(next) if next.bytes().all(|byte| byte.is_ascii_punctuation()) => {
                    (2, What::Instead(next.to_owned()))
                }
                // Every line end breaks the line here, also without it.
                Some("\n") => (2, What::Break),
                None if rest.len() == 1 => {
                    // A backslash at the end may belong to what comes next.
                    self.may_change(at);
                    (1, What::Source)
                }
                Some(_) | None => (1, What::Source),
            },
            b'`' => self.code(at, rest),
            b'*' | b'_' | b'~' => self.run(at, rest, first),
            b'[' => {
                self.brackets.push(Bracket { node: self.nodes.len(), active: true });
                (1, What::Bracket { image: false, begins: false })
            }
            b'!' if rest.starts_with("![") => {
                self.brackets.push(Bracket { node: self.nodes.len(), active: true });
                (2, What::Bracket { image: true, begins: false })
            }
            b'!' => {
                if rest.len() == 1 {
                    // What follows decides whether it is an image.
                    self.may_change(at);
                }
                (1, What::Source)
            }
            b']' => self.link(at, rest),
            b'<' => self.tag(at, rest),
            b'&' => match entity(rest) {
                Some((length, character)) => (length, What::Instead(character.to_string())),
                None => {
                    if rest.len() < 10 && rest.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
                    {
                        self.may_change(at);
                    }
                    (1, What::Source)
                }
            },
            b'\n' => (1, What::Break),
            // An `h`, the only one that is left.
            _ => match self.address(at, rest) {
                Some(address) => (address.len(), What::Address(address.to_owned())),
                None => (1, What::Source),
            },
        };
        self.push(at, at + length, what);
        length
    }

    fn code(&mut self, at: usize, rest: &str) -> (usize, What) {
        let marks = run_length(rest, b'`');
        let mut from = marks;
        while let Some(found) = rest.get(from..).and_then(|rest| rest.find('`')) {
            let closing = rest.get(from + found..).unwrap_or_default();
            let length = run_length(closing, b'`');
            if length == marks {
                if closing.len() == length {
                    // More marks would make it another run.
                    self.may_change(at);
                }
                let code = rest.get(marks..from + found).unwrap_or_default().replace('\n', " ");
                return (from + found + length, What::Code(without_edges(code)));
            }
            from += found + length;
        }
        self.may_change(at);
        let more = rest.get(marks..).unwrap_or_default();
        match self.rest {
            Rest::ShownSoFar if more.is_empty() => (marks, What::Instead(String::new())),
            Rest::ShownSoFar => (rest.len(), What::Code(more.replace('\n', " "))),
            Rest::None | Rest::Comes => (marks, What::Source),
        }
    }

    fn run(&mut self, at: usize, rest: &str, mark: u8) -> (usize, What) {
        let length = run_length(rest, mark);
        if rest.len() == length {
            self.may_change(at);
            if self.rest == Rest::ShownSoFar {
                // It may end what has begun. Meanwhile that goes on.
                return (length, What::Instead(String::new()));
            }
        }
        let (before, behind) = (self.before(at), rest.get(length..).and_then(|rest| rest.chars().next()));
        let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_mark = |c: Option<char>| c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace());
        let is_edge = |c: Option<char>| is_blank(c) || is_mark(c) || c.is_some_and(is_ideograph);
        let left = !is_blank(behind) && (!is_mark(behind) || is_edge(before));
        let right = !is_blank(before) && (!is_mark(before) || is_edge(behind));
        let (opens, closes) = match mark {
            b'_' => (left && (!right || is_mark(before)), right && (!left || is_mark(behind))),
            b'~' => (left && length == 2, right && length == 2),
            _ => (left, right),
        };
        (length, What::Run(Run { mark, left: length, length, opens, closes, ends: Vec::new(), begins: Vec::new() }))
    }

    /// Takes a `]`, and the address behind it.
    fn link(&mut self, at: usize, rest: &str) -> (usize, What) {
        let Some(bracket) = self.brackets.last() else { return (1, What::Source) };
        let (node, active) = (bracket.node, bracket.active);
        let start = self.nodes.get(node).map_or(at, |node| node.start);
        let behind = rest.get(1..).unwrap_or_default();
        let found = if active { destination(behind) } else { Destination::None };
        match found {
            Destination::Unfinished => {
                self.may_change(start);
                self.brackets.pop();
                (1, What::Source)
            }
            Destination::None => {
                if behind.is_empty() && active {
                    self.may_change(start);
                }
                self.brackets.pop();
                (1, What::Source)
            }
            Destination::Address { length, address } => {
                self.brackets.pop();
                // Emphasis within a link ends with it, so it is paired before what is outside.
                self.emphasis(node, Scope::Link);
                let mut is_image = false;
                if let Some(Node { what: What::Bracket { begins, image }, .. }) = self.nodes.get_mut(node) {
                    *begins = true;
                    is_image = *image;
                }
                if !is_image {
                    // A link within a link does not exist; an image does.
                    self.brackets.iter_mut().for_each(|bracket| bracket.active = false);
                }
                (1 + length, What::LinkEnds(address))
            }
        }
    }

    /// Takes a `<`: an address, a line break, or a tag, which is shown.
    fn tag(&mut self, at: usize, rest: &str) -> (usize, What) {
        let inner = rest.get(1..).unwrap_or_default();
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!')) {
            if inner.is_empty() {
                self.may_change(at);
            }
            return (1, What::Source);
        }
        let Some(end) = inner.find(['>', '<', '\n']) else {
            // What is longer is not an address, so nothing needs to wait for its end.
            if inner.len() < MAX_ADDRESS {
                self.may_change(at);
            }
            return (1, What::Source);
        };
        let text = inner.get(..end).unwrap_or_default();
        if !inner.get(end..).is_some_and(|rest| rest.starts_with('>')) {
            return (1, What::Source);
        }
        let length = end + 2;
        let is_break = text.trim_end_matches(['/', ' ']).eq_ignore_ascii_case("br");
        let scheme = text.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
        let is_address = (2..=32).contains(&scheme.len())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            && !text.contains(' ');
        let is_mail = !text.contains([' ', '\\']) && text.split_once('@').is_some_and(|(name, _)| !name.is_empty());
        match (is_break, is_address, is_mail) {
            (true, _, _) => (length, What::Break),
            (false, true, _) => (length, What::Address(text.to_owned())),
            (false, false, true) => (length, What::Instead(text.to_owned())),
            // Not a part of the source, which may be cut at a blank.
            (false, false, false) => (length, What::Instead(format!("<{text}>"))),
        }
    }

    /// The address that begins here.
    fn address<'b>(&mut self, at: usize, rest: &'b str) -> Option<&'b str> {
        // `xhttps://` is not an address that a terminal would open.
        if self.before(at).is_some_and(char::is_alphanumeric) {
            return None;
        }
        let is_scheme = |scheme: &&str| rest.starts_with(*scheme) || scheme.starts_with(rest);
        let scheme = ["https://", "http://"].into_iter().find(is_scheme)?;
        // A bracket may end the text of a link.
        let is_end = |c: char| c.is_whitespace() || is_ideograph(c) || matches!(c, '<' | '>' | '`' | '"' | '|' | ']');
        let end = rest.find(is_end).unwrap_or(rest.len());
        // The next piece may go on with the address.
        if end == rest.len() {
            self.may_change(at);
        }
        let mut address = rest.get(..end)?;
        // Marks and brackets at the end belong to the sentence.
        loop {
            let last = address.chars().next_back()?;
            let count = |c: char| address.matches(c).count();
            let is_sentence = match last {
                ')' => count(')') > count('('),
                last => matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~'),
            };
            if !is_sentence {
                break;
            }
            address = address.get(..address.len() - last.len_utf8())?;
        }
        (address.len() > scheme.len() && address.len() <= MAX_ADDRESS).then_some(address)
    }

    /// Pairs the runs from this node on.
    fn emphasis(&mut self, from: usize, scope: Scope) {
        // Below these nodes no opening run fits, for each kind of closing run: a text of many marks stays linear.
        let mut bottoms = [from; 3 * 2 * 3];
        let mut closer = from;
        while closer < self.nodes.len() {
            let Some(run) = self.run_at(closer).filter(|run| run.closes && run.left > 0) else {
                closer += 1;
                continue;
            };
            let kind = match run.mark {
                b'*' => 0,
                b'_' => 1,
                _ => 2,
            };
            let bottom = kind * 6 + usize::from(run.opens) * 3 + run.length % 3;
            let lowest = bottoms.get(bottom).copied().unwrap_or(from);
            // The nearest opening run, so that marks nest.
            let found =
                (lowest..closer).rev().find(|at| self.run_at(*at).is_some_and(|opener| opener.is_closed_by(run)));
            let Some(opener) = found else {
                if let Some(bottom) = bottoms.get_mut(bottom) {
                    // Remembered, so that these runs are not searched again for the same kind.
                    *bottom = closer;
                }
                closer += 1;
                continue;
            };
            self.pair(opener, closer);
        }
        // What begins in a link ends there.
        if scope == Scope::Link {
            self.settle(from..self.nodes.len());
        }
    }

    /// The run of marks that a node is, if it is one.
    fn run_at(&self, at: usize) -> Option<&Run> {
        match &self.nodes.get(at)?.what {
            What::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Pairs two runs, with as many marks as both have.
    fn pair(&mut self, opener: usize, closer: usize) {
        let left = |at| self.run_at(at).map_or(0, |run| run.left);
        let mark = self.run_at(closer).map_or(0, |run| run.mark);
        let (used, kind) = match (mark, left(closer).min(left(opener))) {
            (b'~', _) => (2, Kind::Strike),
            (_, 1) => (1, Kind::Emphasis),
            (_, _) => (2, Kind::Strong),
        };
        // What lies between and was not paired is text.
        self.settle(opener + 1..closer);
        if let Some(Node { what: What::Run(run), .. }) = self.nodes.get_mut(opener) {
            run.left -= used;
            run.begins.push(kind);
        }
        if let Some(Node { what: What::Run(run), .. }) = self.nodes.get_mut(closer) {
            run.left -= used;
            run.ends.push(kind);
        }
    }

    /// Makes runs begin and end nothing more.
    fn settle(&mut self, nodes: Range<usize>) {
        for node in self.nodes.get_mut(nodes).unwrap_or_default() {
            if let What::Run(run) = &mut node.what {
                run.opens = false;
                run.closes = false;
            }
        }
    }

    fn events(self) -> Inline {
        let Self { source, nodes, changes, rest, .. } = self;
        let mut inline = Inline::default();
        let mut depth = 0_usize;
        let text_of = |node: &Node| source.get(node.start..node.end).unwrap_or_default();
        for node in &nodes {
            let is_settled = depth == 0 && node.start < changes;
            match &node.what {
                What::Source => {
                    let end = node.end.min(changes);
                    if is_settled {
                        let text = source.get(node.start..end).unwrap_or_default();
                        // Only at a blank outside of any mark can a paragraph be cut.
                        let blank = text.rfind([' ', '\t']).map(|at| node.start + at);
                        inline.cut = blank.or(inline.cut);
                        inline.settled = end;
                    }
                    inline.text(text_of(node));
                }
                What::Instead(text) => inline.text(text),
                What::Code(code) => inline.events.push(Event::Code(visible_line(code).into_owned())),
                What::Address(address) => inline.events.push(Event::Address(visible_line(address).into_owned())),
                What::Break => {
                    // A mark beside a backslash is another one than beside the end of a text.
                    if is_settled && text_of(node).starts_with('\n') {
                        inline.cut = Some(node.start);
                        inline.settled = node.start;
                    }
                    inline.events.push(Event::Break);
                }
                What::Run(run) => {
                    depth = depth.saturating_sub(run.ends.len());
                    inline.events.extend(run.ends.iter().map(|kind| Event::End(*kind)));
                    let left = text_of(node).get(..run.left).unwrap_or_default();
                    match rest {
                        // Strong text is marked on purpose; a single mark may be a star.
                        Rest::ShownSoFar if run.opens && run.left >= 2 => {
                            inline.events.push(Event::Begin(if run.mark == b'~' {
                                Kind::Strike
                            } else {
                                Kind::Strong
                            }));
                        }
                        Rest::None | Rest::Comes | Rest::ShownSoFar => inline.text(left),
                    }
                    depth += run.begins.len();
                    inline.events.extend(run.begins.iter().rev().map(|kind| Event::Begin(*kind)));
                }
                What::Bracket { image, begins: true } => {
                    depth += 1;
                    inline.events.push(Event::LinkBegins { image: *image });
                }
                What::Bracket { begins: false, .. } => inline.text(text_of(node)),
                What::LinkEnds(address) => {
                    depth = depth.saturating_sub(1);
                    inline.events.push(Event::LinkEnds { address: visible_line(address).into_owned() });
                }
            }
        }
        inline
    }
}

impl Inline {
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.events.last_mut() {
            Some(Event::Text(before)) => before.push_str(text),
            Some(_) | None => self.events.push(Event::Text(text.to_owned())),
        }
    }
}

fn run_length(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|byte| *byte == mark).count()
}

/// Returns code without the blank at each end that parts it from its backticks.
fn without_edges(code: String) -> String {
    let has_edges = code.len() > 2 && code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty();
    match code.get(1..code.len().saturating_sub(1)) {
        Some(inner) if has_edges => inner.to_owned(),
        Some(_) | None => code,
    }
}

enum Destination {
    None,
    /// It may become one.
    Unfinished,
    Address {
        length: usize,
        address: String,
    },
}

/// Reads an address with or without angle brackets; returns it, and the text behind it.
fn bare_address(text: &str) -> Result<(&str, &str), Destination> {
    let (address, behind) = if let Some(bracketed) = text.strip_prefix('<') {
        let end = bracketed.find(['>', '\n', '<']).ok_or(Destination::Unfinished)?;
        let (address, behind) = bracketed.split_at(end);
        (address, behind.strip_prefix('>').ok_or(Destination::None)?)
    } else {
        let (mut depth, mut escaped) = (0_usize, false);
        let end = text.char_indices().find(|(_, c)| {
            let was_escaped = std::mem::take(&mut escaped);
            match c {
                // A blank ends the address; a title may follow.
                ' ' | '\n' | '\t' => return true,
                _ if was_escaped => {}
                '\\' => escaped = true,
                '(' => depth += 1,
                ')' if depth == 0 => return true,
                ')' => depth -= 1,
                _ => {}
            }
            false
        });
        let Some((end, _)) = end else {
            // Something longer than any address is not waited for.
            return Err(if text.len() <= MAX_ADDRESS { Destination::Unfinished } else { Destination::None });
        };
        if depth > 0 {
            return Err(Destination::None);
        }
        text.split_at(end)
    };
    Ok((address, behind))
}

/// Reads `(address "title")`.
fn destination(text: &str) -> Destination {
    let Some(inner) = text.strip_prefix('(') else { return Destination::None };
    let (address, mut rest) = match bare_address(inner.trim_start_matches([' ', '\n'])) {
        Ok(read) => read,
        Err(none) => return none,
    };
    let behind = rest.trim_start_matches([' ', '\n']);
    let has_blank = behind.len() < rest.len();
    rest = behind;
    if let Some(quote) = rest.chars().next().filter(|c| has_blank && matches!(c, '"' | '\'' | '(')) {
        let closing = if quote == '(' { ')' } else { quote };
        let title = rest.get(1..).unwrap_or_default();
        let mut escaped = false;
        let end = title.char_indices().find(|(_, c)| {
            let was_escaped = std::mem::take(&mut escaped);
            escaped = *c == '\\' && !was_escaped;
            *c == closing && !was_escaped
        });
        let Some((end, _)) = end else {
            return if rest.len() <= MAX_ADDRESS { Destination::Unfinished } else { Destination::None };
        };
        rest = title.get(end + 1..).unwrap_or_default().trim_start_matches([' ', '\n']);
    }
    match rest.chars().next() {
        Some(')') => {
            let length = text.len() - rest.len() + 1;
            Destination::Address { length, address: unescaped(address) }
        }
        None => Destination::Unfinished,
        Some(_) => Destination::None,
    }
}

/// Returns an address without its backslashes and entities.
fn unescaped(address: &str) -> String {
    let mut text = String::with_capacity(address.len());
    let mut rest = address;
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match first {
            '\\' if rest.get(1..2).is_some_and(|next| next.bytes().all(|byte| byte.is_ascii_punctuation())) => {
                text.push_str(rest.get(1..2).unwrap_or_default());
                taken = 2;
            }
            '&' => match entity(rest) {
                Some((length, character)) => {
                    text.push(character);
                    taken = length;
                }
                None => text.push('&'),
            },
            character => text.push(character),
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    text
}

/// Reads an entity: a common name, or the number of a character that is safe to show.
fn entity(text: &str) -> Option<(usize, char)> {
    // Longer names are none that are known, and an ampersand is most often just one.
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "copy" => '©',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "rarr" => '→',
        "larr" => '←',
        "times" => '×',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            // A number must not bring in what a written character may not.
            char::from_u32(code).filter(|character| !is_unsafe(*character))?
        }
    };
    Some((end + 1, character))
}

#[cfg(test)]
mod tests;
