//! Keys as in vim: a normal mode, in which letters move and change, and an insert mode.
//!
//! What users do all day and no more: motions `h j k l w b e 0 ^ $ f F t T gg G`, the operators `d c y` with them and
//! doubled, `x X s S D C r p P u`, `i a I A o O`, and counts. Esc leaves the insert mode. The cursor of the normal mode
//! is on a character, never behind the last one of its line. Deliberately not here: registers, visual mode, repeating
//! with `.`, and ex commands.

use unicode_segmentation::UnicodeSegmentation;

use super::{Edited, Editor, MAX_TEXT};
use crate::keys::Key;

/// The highest count. Protects the time that a key takes.
const MAX_COUNT: usize = 1_000;

/// What was pressed so far of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Vim {
    pub(super) mode: Mode,
    /// 0 if none was pressed.
    count: usize,
    operator: Option<(Operator, usize)>,
    waits: Option<Waits>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Insert,
    Normal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

/// A command that needs another character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Find { forwards: bool, until: bool },
    Replace,
    First,
}

/// Where a motion leads, and what an operator takes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    /// Up to the position.
    To(usize),
    /// The character at the position too.
    Through(usize),
    /// Whole lines.
    Lines(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Other,
}

fn class(cluster: &str) -> Class {
    match cluster.chars().next() {
        Some(c) if c.is_whitespace() => Class::Blank,
        Some(c) if c.is_alphanumeric() || c == '_' => Class::Word,
        Some(_) | None => Class::Other,
    }
}

impl Editor {
    /// Applies a key as vim does. `None`: the key means what it means without vim.
    pub(super) fn vim_key(&mut self, key: &Key) -> Option<Edited> {
        let vim = self.vim.as_mut()?;
        match (vim.mode, key) {
            (Mode::Insert, Key::Escape) => {
                vim.mode = Mode::Normal;
                self.undo.pause();
                if self.at > self.line_start() {
                    // As in vim: the cursor of the normal mode is on a character.
                    self.at = self.left();
                }
                Some(Edited::Yes)
            }
            (Mode::Insert, _) => None,
            (Mode::Normal, Key::Escape) => {
                self.vim_forget();
                Some(Edited::Yes)
            }
            (Mode::Normal, Key::Char(character)) => Some(self.command(*character)),
            (Mode::Normal, Key::Backspace) => Some(self.command('h')),
            (Mode::Normal, Key::Up) => Some(self.command('k')),
            (Mode::Normal, Key::Down) => Some(self.command('j')),
            // A key without a meaning in vim ends a half-written command and keeps its usual meaning.
            (Mode::Normal, _) => {
                self.vim_forget();
                None
            }
        }
    }

    /// Forgets what was pressed so far of a command.
    pub(super) fn vim_forget(&mut self) {
        if let Some(vim) = &mut self.vim {
            *vim = Vim { mode: vim.mode, ..Vim::default() };
        }
    }

    /// Puts the cursor of the normal mode on a character.
    pub(super) fn vim_clamp(&mut self) {
        let is_normal = self.vim.as_ref().is_some_and(|vim| vim.mode == Mode::Normal);
        if is_normal && self.at == self.line_end() && self.at > self.line_start() {
            self.at = self.left();
        }
    }

    /// Whether keys are commands at the moment.
    pub(super) fn is_commanded(&self) -> bool {
        self.vim.as_ref().is_some_and(|vim| vim.mode == Mode::Normal)
    }

    /// Applies a character of the normal mode.
    fn command(&mut self, character: char) -> Edited {
        let Some(vim) = &mut self.vim else { return Edited::No };
        if let Some(waits) = vim.waits.take() {
            self.waited(waits, character);
            return Edited::Yes;
        }
        // A zero at the beginning is a motion.
        if let Some(digit) = character.to_digit(10).filter(|digit| *digit > 0 || vim.count > 0) {
            // `999999999p` would take the memory.
            vim.count = (vim.count * 10 + digit as usize).min(MAX_COUNT);
            return Edited::Yes;
        }
        let count = vim.count;
        let times = count.max(1);
        if let Some((operator, _)) = vim.operator {
            match (operator, character) {
                (Operator::Delete, 'd') | (Operator::Change, 'c') | (Operator::Yank, 'y') => {
                    return self.span(Span::Lines(self.lines_down(self.vim_times() - 1)));
                }
                _ => {}
            }
        }
        match character {
            'd' => return self.operator(Operator::Delete),
            'c' => return self.operator(Operator::Change),
            'y' => return self.operator(Operator::Yank),
            'f' | 'F' | 't' | 'T' => {
                let waits = Waits::Find { forwards: character.is_lowercase(), until: matches!(character, 't' | 'T') };
                return self.wait(waits);
            }
            'g' => return self.wait(Waits::First),
            'j' | 'k' => return self.vertical(character == 'j'),
            'h' | 'l' | 'w' | 'b' | 'e' | '0' | '^' | '$' | 'G' => {
                let span = self.motion(character, self.vim_times(), count);
                return self.span(span);
            }
            _ => {}
        }
        let has_operator = vim.operator.is_some();
        self.vim_forget();
        if has_operator {
            // Not a motion: the operator is given up.
            return Edited::Yes;
        }
        match character {
            'i' => self.inserts(self.at),
            'a' => self.inserts(if self.at < self.line_end() { self.right() } else { self.at }),
            'I' => self.inserts(self.first_of_line()),
            'A' => self.inserts(self.line_end()),
            'o' => {
                self.inserts(self.line_end());
                self.insert("\n");
            }
            'O' => {
                self.inserts(self.line_start());
                self.insert("\n");
                self.at = self.left();
            }
            'x' => self.take(self.at, self.clusters(times, true), Operator::Delete),
            'X' => self.take(self.clusters(times, false), self.at, Operator::Delete),
            's' => self.take(self.at, self.clusters(times, true), Operator::Change),
            'S' => drop(self.with_operator(Operator::Change, Span::Lines(self.lines_down(times - 1)))),
            'D' => self.take(self.at, self.line_end(), Operator::Delete),
            'C' => self.take(self.at, self.line_end(), Operator::Change),
            'r' => drop(self.wait_times(Waits::Replace, count)),
            'p' => self.put(true, times),
            'P' => self.put(false, times),
            'u' => (0..times).for_each(|_| self.undo_once()),
            _ => {}
        }
        Edited::Yes
    }

    /// The count of the motion times that of the operator.
    fn vim_times(&self) -> usize {
        let Some(vim) = &self.vim else { return 1 };
        let before = vim.operator.map_or(1, |(_, count)| count.max(1));
        (vim.count.max(1) * before).min(MAX_COUNT)
    }

    fn operator(&mut self, operator: Operator) -> Edited {
        if let Some(vim) = &mut self.vim {
            // A second operator gives the first one up.
            vim.operator = if vim.operator.is_none() { Some((operator, vim.count)) } else { None };
            vim.count = 0;
        }
        Edited::Yes
    }

    fn wait(&mut self, waits: Waits) -> Edited {
        if let Some(vim) = &mut self.vim {
            vim.waits = Some(waits);
        }
        Edited::Yes
    }

    fn wait_times(&mut self, waits: Waits, count: usize) -> Edited {
        if let Some(vim) = &mut self.vim {
            vim.count = count;
        }
        self.wait(waits)
    }

    /// Applies a command with the character that it waited for.
    fn waited(&mut self, waits: Waits, character: char) {
        let times = self.vim_times();
        match waits {
            Waits::Find { forwards, until } => match self.found(character, forwards, until, times) {
                Some(at) if forwards => drop(self.span(Span::Through(at))),
                Some(at) => drop(self.span(Span::To(at))),
                None => self.vim_forget(),
            },
            Waits::Replace => {
                self.vim_forget();
                let end = self.clusters(times, true);
                let replaced = self.text.get(self.at..end).unwrap_or_default().graphemes(true).count();
                // As in vim, replacing more characters than there are does nothing at all.
                if replaced == times {
                    let at = self.at;
                    self.keep();
                    self.text.replace_range(at..end, &String::from(character).repeat(times));
                    self.at = self.text.len().min(at + character.len_utf8() * (times - 1));
                    // The new character may have joined with its neighbour.
                    self.leave_cluster();
                }
            }
            Waits::First if character == 'g' => drop(self.span(Span::Lines(0))),
            Waits::First => self.vim_forget(),
        }
    }

    /// Moves along a motion, or applies the operator that waits for it.
    fn span(&mut self, span: Span) -> Edited {
        let operator = self.vim.as_ref().and_then(|vim| vim.operator);
        self.vim_forget();
        match operator {
            Some((operator, _)) => self.with_operator(operator, span),
            None => {
                self.at = match span {
                    Span::To(at) | Span::Through(at) => at,
                    Span::Lines(at) => {
                        self.at = at;
                        self.first_of_line()
                    }
                };
                self.vim_clamp();
                Edited::Yes
            }
        }
    }

    fn with_operator(&mut self, operator: Operator, span: Span) -> Edited {
        let (from, to) = match span {
            Span::To(at) => (self.at.min(at), self.at.max(at)),
            Span::Through(at) => {
                let (from, last) = (self.at.min(at), self.at.max(at));
                let cluster = self.text.get(last..).and_then(|rest| rest.graphemes(true).next());
                (from, last + cluster.filter(|cluster| *cluster != "\n").map_or(0, str::len))
            }
            Span::Lines(at) => return self.with_lines(operator, at),
        };
        self.take(from, to, operator);
        Edited::Yes
    }

    /// Applies an operator to the lines from that of the cursor to that of a position.
    fn with_lines(&mut self, operator: Operator, at: usize) -> Edited {
        let (first, last) = (self.at.min(at), self.at.max(at));
        let begin = self.text.get(..first).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let end = self.text.get(last..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |at| last + at);
        let lines = self.text.get(begin..end).unwrap_or_default().to_owned();
        match operator {
            Operator::Yank => self.at = begin,
            Operator::Change => {
                self.delete(begin, end);
                self.inserts(self.at);
            }
            Operator::Delete => {
                // The line end behind goes too; behind the last line there is none, so the one before it goes.
                let (from, to) = match (end < self.text.len(), begin > 0) {
                    (true, _) => (begin, end + 1),
                    (false, true) => (begin - 1, end),
                    (false, false) => (begin, end),
                };
                self.delete(from, to);
                self.at = self.first_of_line();
            }
        }
        // With its line end, so that putting it back makes a line.
        self.deleted = lines + "\n";
        self.deleted_lines = true;
        self.vim_clamp();
        Edited::Yes
    }

    /// Applies an operator to a part of the text.
    fn take(&mut self, from: usize, to: usize, operator: Operator) {
        if from < to {
            let taken = self.text.get(from..to).unwrap_or_default().to_owned();
            match operator {
                Operator::Yank => self.at = from,
                Operator::Delete | Operator::Change => self.delete(from, to),
            }
            self.deleted = taken;
            self.deleted_lines = false;
        }
        match operator {
            Operator::Change => self.inserts(self.at),
            Operator::Delete | Operator::Yank => self.vim_clamp(),
        }
    }

    /// Puts back what was deleted or copied last.
    fn put(&mut self, behind: bool, times: usize) {
        // What does not fit is not inserted, so it need not be made.
        let text = self.deleted.repeat(times.min(MAX_TEXT / self.deleted.len().max(1)));
        if text.is_empty() {
            return;
        }
        if self.deleted_lines {
            let text = text.trim_end_matches('\n').to_owned();
            let begin = if behind { self.line_end() } else { self.line_start() };
            self.at = begin;
            self.insert(&if behind { format!("\n{text}") } else { format!("{text}\n") });
            self.at = (begin + usize::from(behind)).min(self.text.len());
            self.at = self.first_of_line();
        } else {
            if behind && self.at < self.line_end() {
                self.at = self.right();
            }
            self.insert(&text);
            self.at = self.left();
        }
        self.vim_clamp();
    }

    /// Begins to insert at a position.
    fn inserts(&mut self, at: usize) {
        self.at = at;
        self.undo.pause();
        if let Some(vim) = &mut self.vim {
            *vim = Vim::default();
        }
    }

    /// Moves up or down; with an operator, takes the lines.
    fn vertical(&mut self, down: bool) -> Edited {
        let times = self.vim_times();
        if self.vim.as_ref().is_some_and(|vim| vim.operator.is_some()) {
            let at = if down { self.lines_down(times) } else { self.lines_up(times) };
            return self.span(Span::Lines(at));
        }
        self.vim_forget();
        for moved in 0..times {
            match (down, self.line_start(), self.line_end()) {
                (true, _, end) if end < self.text.len() => self.move_to_line(end + 1),
                (false, start, _) if start > 0 => self.move_to_line(start - 1),
                (true, _, _) if moved == 0 => return Edited::Below,
                (false, _, _) if moved == 0 => return Edited::Above,
                _ => break,
            }
        }
        self.vim_clamp();
        Edited::Yes
    }

    /// A position in the line so many lines below.
    fn lines_down(&self, times: usize) -> usize {
        let ends = self.text.get(self.at..).unwrap_or_default().match_indices('\n').map(|(at, _)| self.at + at + 1);
        ends.take(times).last().unwrap_or(self.at)
    }

    fn lines_up(&self, times: usize) -> usize {
        let ends = self.before().rmatch_indices('\n').map(|(at, _)| at);
        ends.take(times).last().unwrap_or(self.at)
    }

    /// The first character of the line that is not blank.
    fn first_of_line(&self) -> usize {
        let (start, end) = (self.line_start(), self.line_end());
        let line = self.text.get(start..end).unwrap_or_default();
        start + (line.len() - line.trim_start().len())
    }

    /// The position so many characters away, within the line.
    fn clusters(&self, times: usize, forwards: bool) -> usize {
        let (start, end) = (self.line_start(), self.line_end());
        if forwards {
            let rest = self.text.get(self.at..end).unwrap_or_default();
            self.at + rest.graphemes(true).take(times).map(str::len).sum::<usize>()
        } else {
            let before = self.text.get(start..self.at).unwrap_or_default();
            self.at - before.graphemes(true).rev().take(times).map(str::len).sum::<usize>()
        }
    }

    /// Where a character is found in the line; with `until`, the place beside it.
    fn found(&self, wanted: char, forwards: bool, until: bool, times: usize) -> Option<usize> {
        let line = self.text.get(self.line_start()..self.line_end())?;
        let start = self.line_start();
        let mut cells = line.grapheme_indices(true).map(|(at, cluster)| (start + at, cluster));
        let is_wanted = |cluster: &str| cluster.starts_with(wanted);
        if forwards {
            let mut before = self.at;
            let mut left = times;
            for (at, cluster) in cells.by_ref().skip_while(|(at, _)| *at <= self.at) {
                if is_wanted(cluster) {
                    left -= 1;
                    if left == 0 {
                        return Some(if until { before } else { at });
                    }
                }
                before = at;
            }
            None
        } else {
            let cells: Vec<(usize, &str)> = cells.take_while(|(at, _)| *at < self.at).collect();
            let (at, cluster) = cells.iter().rev().filter(|(_, cluster)| is_wanted(cluster)).nth(times - 1)?;
            Some(if until { at + cluster.len() } else { *at })
        }
    }

    /// Where a motion leads. `count` is 0 if none was pressed.
    fn motion(&self, character: char, times: usize, count: usize) -> Span {
        let operator = self.vim.as_ref().and_then(|vim| vim.operator).map(|(operator, _)| operator);
        match character {
            'h' => Span::To(self.clusters(times, false)),
            'l' => Span::To(self.clusters(times, true)),
            '0' => Span::To(self.line_start()),
            '^' => Span::To(self.first_of_line()),
            '$' => Span::To({
                let down = self.lines_down(times - 1);
                self.text.get(down..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |at| down + at)
            }),
            'G' if count > 0 => {
                let starts = std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1));
                Span::Lines(starts.take(count).last().unwrap_or(0))
            }
            'G' => Span::Lines(self.text.len()),
            // As in vim, changing a word leaves the blanks behind it.
            'w' if operator == Some(Operator::Change) && self.class_here() != Some(Class::Blank) => {
                Span::Through(self.word_end(times, true))
            }
            'w' => {
                let to = self.word_begin(times);
                // An operator does not join the last word of a line to the next line.
                let end = self.line_end();
                Span::To(if operator.is_some() && times == 1 && to > end { end.max(self.at) } else { to })
            }
            'e' => Span::Through(self.word_end(times, false)),
            _ => Span::To(self.word_back(times)),
        }
    }

    fn class_here(&self) -> Option<Class> {
        self.after().graphemes(true).next().map(class)
    }

    /// The beginning of a word behind the cursor.
    fn word_begin(&self, times: usize) -> usize {
        let cells: Vec<(usize, &str)> = self.after().grapheme_indices(true).collect();
        let class_at = |at: usize| cells.get(at).map(|(_, cluster)| class(cluster));
        let mut at = 0;
        for _ in 0..times {
            let here = class_at(at);
            while at < cells.len() && class_at(at) == here && here != Some(Class::Blank) {
                at += 1;
            }
            while class_at(at) == Some(Class::Blank) {
                at += 1;
            }
        }
        cells.get(at).map_or(self.text.len(), |(place, _)| self.at + place)
    }

    /// The last character of a word; with `stays`, the cursor may be on it already.
    fn word_end(&self, times: usize, stays: bool) -> usize {
        let cells: Vec<(usize, &str)> = self.after().grapheme_indices(true).collect();
        let class_at = |at: usize| cells.get(at).map(|(_, cluster)| class(cluster));
        let mut at = 0;
        for time in 0..times {
            at += usize::from(!(stays && time == 0));
            while class_at(at) == Some(Class::Blank) {
                at += 1;
            }
            let here = class_at(at);
            while here.is_some() && class_at(at + 1) == here {
                at += 1;
            }
        }
        let last = at.min(cells.len().saturating_sub(1));
        cells.get(last).map_or(self.at, |(place, _)| self.at + place)
    }

    /// The beginning of a word before the cursor.
    fn word_back(&self, times: usize) -> usize {
        let cells: Vec<(usize, &str)> = self.before().grapheme_indices(true).collect();
        let class_before =
            |at: usize| at.checked_sub(1).and_then(|at| cells.get(at)).map(|(_, cluster)| class(cluster));
        let mut at = cells.len();
        for _ in 0..times {
            while class_before(at) == Some(Class::Blank) {
                at -= 1;
            }
            let here = class_before(at);
            while at > 0 && class_before(at) == here {
                at -= 1;
            }
        }
        cells.get(at).map_or(self.at, |(place, _)| *place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Plays keys in the normal mode, the cursor on the character behind the `|`; `⎋` is Esc.
    fn played(text: &str, keys: &str) -> String {
        let mut editor = Editor::with_vim();
        editor.set(text.replace('|', ""));
        editor.at = text.find('|').expect("there is a cursor");
        if let Some(vim) = &mut editor.vim {
            vim.mode = Mode::Normal;
        }
        for key in keys.chars() {
            editor.key(&if key == '⎋' { Key::Escape } else { Key::Char(key) });
        }
        format!("{}|{}", editor.before(), editor.after())
    }

    #[test]
    fn vim_keys_do_what_they_do_in_vim() {
        for (text, keys, expected) in [
            ("on|e two", "h", "o|ne two"),
            ("on|e two", "2h", "|one two"),
            ("o|ne", "9l", "on|e"),
            ("|one two three", "w", "one |two three"),
            ("|one two three", "2w", "one two |three"),
            ("|a.b c", "w", "a|.b c"),
            ("one two thr|ee", "b", "one two |three"),
            ("one two |three", "bb", "|one two three"),
            ("|one two", "e", "on|e two"),
            ("on|e two", "e", "one tw|o"),
            ("one t|wo", "0", "|one two"),
            ("  one t|wo", "^", "  |one two"),
            ("o|ne two", "$", "one tw|o"),
            ("|a,b,c", "f,", "a|,b,c"),
            ("|a,b,c", "2f,", "a,b|,c"),
            ("|a,b,c", "tc", "a,b|,c"),
            ("a,b,|c", "F,", "a,b|,c"),
            ("a,b,|c", "Ta", "a|,b,c"),
            ("|a", "fz", "|a"),
            ("o|ne", "iX⎋", "o|Xne"),
            ("o|ne", "aX⎋", "on|Xe"),
            ("  o|ne", "IX⎋", "  |Xone"),
            ("o|ne", "AX⎋", "one|X"),
            ("o|ne\ntwo", "oX⎋", "one\n|X\ntwo"),
            ("o|ne", "OX⎋", "|X\none"),
            ("o|ne", "x", "o|e"),
            ("o|ne", "5x", "|o"),
            ("on|e", "X", "o|e"),
            ("o|ne", "sX⎋", "o|Xe"),
            ("a\nb|b\nc", "dd", "a\n|c"),
            ("a\n|b", "dd", "|a"),
            ("|a", "dd", "|"),
            ("|a\nb\nc", "2dd", "|c"),
            ("|one two three", "dw", "|two three"),
            ("|one two three", "d2w", "|three"),
            ("|one two three", "2dw", "|three"),
            ("one |two\nthree", "dw", "one| \nthree"),
            ("|one two", "cwX⎋", "|X two"),
            ("one| two", "de", "on|e"),
            ("one t|wo", "db", "one |wo"),
            ("one t|wo", "d0", "|wo"),
            ("o|ne two", "D", "|o"),
            ("o|ne two", "d$", "|o"),
            ("o|ne two", "CX⎋", "o|X"),
            ("one t|wo\nx", "ccX⎋", "|X\nx"),
            ("|a(b)c", "df)", "|c"),
            ("|a(b)c", "dt)", "|)c"),
            ("|a\nb\nc", "dj", "|c"),
            ("a\nb\n|c", "dk", "|a"),
            ("|one\ntwo", "yyp", "one\n|one\ntwo"),
            ("o|ne\ntwo", "yyP", "|one\none\ntwo"),
            ("|one two", "ywP", "one| one two"),
            ("|ab", "xp", "b|a"),
            ("|ab", "x3p", "baa|a"),
            ("|one two", "dwu", "|one two"),
            ("|one", "xxuu", "|one"),
            ("|abc", "rx", "|xbc"),
            ("|abc", "2rx", "x|xc"),
            ("|abc", "9rx", "|abc"),
            ("|a\nb\nc", "j", "a\n|b\nc"),
            ("a\nb\n|c", "2k", "|a\nb\nc"),
            ("|a\nb\nc", "G", "a\nb\n|c"),
            ("a\nb\n|c", "gg", "|a\nb\nc"),
            ("|a\nb\nc", "2G", "a\n|b\nc"),
            ("|one", "d⎋x", "|ne"),
            ("|one", "dzx", "|ne"),
            ("|日本語", "x", "|本語"),
            ("日|本", "$", "日|本"),
        ] {
            assert_eq!(played(text, keys), expected, "{text:?} {keys:?}");
        }
    }

    #[test]
    fn vim_begins_in_insert_mode_and_goes_beyond_the_text_at_its_ends() {
        let mut editor = Editor::with_vim();
        assert_eq!((editor.key(&Key::Char('j')), editor.text.as_str()), (Edited::Yes, "j"));
        assert_eq!(editor.key(&Key::Escape), Edited::Yes);
        assert!(editor.is_commanded());
        assert_eq!((editor.key(&Key::Char('j')), editor.key(&Key::Char('k'))), (Edited::Below, Edited::Above));
        assert_eq!(editor.key(&Key::Enter), Edited::No);
    }

    proptest! {
        #[test]
        fn no_keys_of_vim_break_it(text in "[a-z .\n日é]{0,30}", keys in "[hjklwbe0$^fFtTgGdcyxXsSDCrpPuiaIAoO0-9 a⎋]{0,40}") {
            let mut editor = Editor::with_vim();
            editor.set(text);
            editor.key(&Key::Escape);
            for key in keys.chars() {
                editor.key(&if key == '⎋' { Key::Escape } else { Key::Char(key) });
                let mut boundaries = editor.text.grapheme_indices(true).map(|(at, _)| at);
                prop_assert!(editor.at == editor.text.len() || boundaries.any(|at| at == editor.at));
                prop_assert!(editor.text.len() <= 1 << 20);
            }
        }
    }
}
