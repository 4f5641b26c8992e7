//! Events of a text as rows with colours, weights and links; without colour, with the marks that were written.

use anstyle::{AnsiColor, Effects, Style};
use host_text::{exact, visible_line};

use super::inline::{Event, Inline, MAX_ADDRESS};
use crate::wrap::{LINK, LINK_END};

/// How text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Emphasis,
    Strong,
    Strike,
}

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) colour: bool,
    /// Whether it knows hyperlinks, or ignores them.
    pub(super) hyperlinks: bool,
    /// What all text looks like.
    pub(super) base: Style,
}

const ADDRESS: Style = Style::new().effects(Effects::DIMMED.insert(Effects::UNDERLINE));
const CODE: Style = AnsiColor::Cyan.on_default();

impl Look {
    /// Returns a text in this style.
    pub(super) fn paint(self, text: &str, style: Style) -> String {
        if !self.colour || text.is_empty() || style.is_plain() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }

    /// Returns a text dimmed.
    pub(super) fn dim(self, text: &str) -> String {
        self.paint(text, Style::new().dimmed())
    }

    /// Returns a parsed text as lines, on top of this style.
    pub(super) fn lines(self, inline: &Inline, style: Style) -> Vec<String> {
        let mut painter = Painter {
            look: self,
            base: style,
            open: Vec::new(),
            rows: vec![String::new()],
            shown: Style::new(),
            link: None,
        };
        inline.events.iter().for_each(|event| painter.event(event));
        painter.plain();
        painter.rows
    }
}

struct Painter {
    look: Look,
    base: Style,
    open: Vec<Kind>,
    rows: Vec<String>,
    /// The style that is set at the end of the last row.
    shown: Style,
    /// The text of the link so far.
    link: Option<(bool, String)>,
}

impl Painter {
    fn row(&mut self) -> &mut String {
        if self.rows.is_empty() {
            self.rows.push(String::new());
        }
        // The line above adds one to none.
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Text(text) => {
                // It was made visible before it was parsed. Without the marks between its characters, a joiner or
                // selector may have come to stand behind another one.
                let text = visible_line(text);
                let style = self.style();
                self.push(&text, style);
            }
            Event::Code(code) => match self.look.colour {
                true => {
                    let style = over(self.style(), CODE);
                    self.push(code, style);
                }
                false => {
                    let code = host_text::inline_code(code);
                    self.push(&code, Style::new());
                }
            },
            Event::Address(address) => self.address(address),
            Event::Begin(kind) => {
                self.mark(*kind);
                self.open.push(*kind);
            }
            Event::End(kind) => {
                // Marks of different kinds can overlap: the innermost of this kind ends.
                if let Some(at) = self.open.iter().rposition(|open| open == kind) {
                    self.open.remove(at);
                }
                self.mark(*kind);
            }
            Event::LinkBegins { image } => {
                self.link = Some((*image, String::new()));
                if *image {
                    let style = self.base;
                    self.push("[image: ", style);
                }
            }
            Event::LinkEnds { address } => {
                let (is_image, text) = self.link.take().unwrap_or_default();
                if is_image {
                    // A sentence often has the word before it already.
                    self.push("]", self.base);
                }
                // A link that shows its address is not followed by it once more.
                let is_same = text == *address || format!("mailto:{text}") == *address;
                if is_same {
                    return;
                }
                let style = self.base;
                let space = if text.is_empty() && !is_image { "" } else { " " };
                if address.is_empty() {
                    return;
                }
                // The address stands in the text, since a link could show another one than it leads to.
                self.push(&format!("{space}("), style);
                self.address(address);
                self.push(")", style);
            }
            Event::Break => {
                self.plain();
                self.rows.push(String::new());
            }
        }
    }

    /// Shows the mark of what begins or ends, where it cannot be seen otherwise.
    fn mark(&mut self, kind: Kind) {
        if !self.look.colour {
            self.row().push_str(match kind {
                Kind::Emphasis => "*",
                Kind::Strong => "**",
                Kind::Strike => "~~",
            });
        }
    }

    /// Shows an address exactly as it is, and makes a link of it where nothing in it can be mistaken.
    fn address(&mut self, address: &str) {
        let style = over(self.base, ADDRESS);
        let target = self.look.hyperlinks.then(|| target(address)).flatten();
        if let Some(target) = target {
            self.plain();
            self.row().push_str(&format!("{LINK}{target}\u{1b}\\"));
        }
        self.push(&exact(address), style);
        if target.is_some() {
            self.plain();
            self.row().push_str(LINK_END);
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        if let Some((_, shown)) = &mut self.link {
            shown.push_str(text);
        }
        if self.look.colour && style != self.shown {
            self.plain();
            let begin = style.render().to_string();
            self.row().push_str(&begin);
            self.shown = style;
        }
        self.row().push_str(text);
    }

    fn plain(&mut self) {
        if !self.shown.is_plain() {
            self.shown = Style::new();
            self.row().push_str("\u{1b}[0m");
        }
    }

    fn style(&self) -> Style {
        let mut effects = self.base.get_effects();
        for kind in &self.open {
            effects |= match kind {
                Kind::Emphasis => Effects::ITALIC,
                Kind::Strong => Effects::BOLD,
                Kind::Strike => Effects::STRIKETHROUGH,
            };
        }
        if self.link.is_some() {
            effects |= Effects::UNDERLINE;
        }
        self.base.effects(effects)
    }
}

/// Returns a style on top of another.
fn over(below: Style, above: Style) -> Style {
    below.effects(below.get_effects() | above.get_effects()).fg_color(above.get_fg_color().or(below.get_fg_color()))
}

/// Returns the target of a link, which is the text that is shown for it, whole; `None` for an address that a terminal
/// should not open with one click, that contains anything other than visible ASCII, or that begins with another name
/// than that of its server, as `https://bank.example@evil.example/` does.
fn target(address: &str) -> Option<&str> {
    let is_web = ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme));
    // A backslash is in no address: it shows that a character was escaped.
    let is_exact = address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let server = address.split('/').nth(2).unwrap_or_default();
    let names_another = server.contains('@') || server.is_empty();
    (is_web && is_exact && !names_another && address.len() <= MAX_ADDRESS).then_some(address)
}
