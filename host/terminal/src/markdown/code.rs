//! Colours for code: comments, texts, numbers, and the words of a language.
//!
//! A line is read from its beginning to its end with what the line before left open: a comment, or a text of several
//! lines. Languages are rows of a table. What a row does not know is shown without colour, never wrongly cut: the text
//! is what the model wrote in any case.
//!
//! Deliberately not here: grammars. docs/decisions/0021-own-markdown.md has the figures.

use anstyle::{AnsiColor, Style};

use super::paint::Look;

const COMMENT: Style = Style::new().dimmed();
const TEXT: Style = AnsiColor::Green.on_default();
const NUMBER: Style = AnsiColor::Cyan.on_default();
const KEYWORD: Style = AnsiColor::Magenta.on_default();
const NAME: Style = AnsiColor::Blue.on_default();

/// A language.
#[derive(Debug)]
struct Language {
    /// The words behind a fence that name it, in small letters.
    names: &'static [&'static str],
    /// What begins a comment that ends with its line.
    comments: &'static [&'static str],
    /// The beginnings and ends of comments and texts of several lines.
    blocks: &'static [(&'static str, &'static str, Block)],
    /// The quotes of texts that end with their line.
    quotes: &'static [char],
    keywords: &'static str,
    /// What names are coloured.
    marks: Names,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Comment,
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    None,
    /// What stands before a colon or an equals sign at the beginning of a line.
    Keys,
    /// What stands behind `<` or `</`.
    Tags,
    /// What stands behind `$`.
    Variables,
}

const C_COMMENT: (&str, &str, Block) = ("/*", "*/", Block::Comment);

const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        comments: &["//"],
        blocks: &[C_COMMENT, ("r#\"", "\"#", Block::Text)],
        quotes: &['"'],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod \
                   move mut pub ref return self Self static struct super trait true type unsafe use where while",
        marks: Names::None,
    },
    Language {
        names: &["python", "py", "python3"],
        comments: &["#"],
        blocks: &[("\"\"\"", "\"\"\"", Block::Text), ("'''", "'''", Block::Text)],
        quotes: &['"', '\''],
        keywords: "False None True and as assert async await break case class continue def del elif else except finally for \
                   from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
        marks: Names::None,
    },
    Language {
        names: &["javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx"],
        comments: &["//"],
        blocks: &[C_COMMENT, ("`", "`", Block::Text)],
        quotes: &['"', '\''],
        keywords: "abstract any as async await boolean break case catch class const continue debugger declare default delete \
                   do else enum export extends false finally for from function get if implements import in instanceof \
                   interface keyof let namespace never new null number of private protected public readonly return satisfies \
                   set static string super switch this throw true try type typeof undefined unknown var void while yield",
        marks: Names::None,
    },
    Language {
        names: &["go", "golang"],
        comments: &["//"],
        blocks: &[C_COMMENT, ("`", "`", Block::Text)],
        quotes: &['"', '\''],
        keywords: "break case chan const continue default defer else fallthrough false for func go goto if import interface \
                   map nil package range return select struct switch true type var",
        marks: Names::None,
    },
    Language {
        names: &["c", "h", "cpp", "c++", "cc", "cxx", "hpp", "objc", "cuda", "glsl", "arduino", "ino"],
        comments: &["//"],
        blocks: &[C_COMMENT],
        quotes: &['"', '\''],
        keywords: "#define #elif #else #endif #if #ifdef #ifndef #include #pragma alignas auto bool break case catch char class \
                   concept const constexpr continue default delete do double else enum explicit extern false final float for \
                   friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected \
                   public register requires return short signed sizeof static struct switch template this throw true try \
                   typedef typename union unsigned using virtual void volatile while",
        marks: Names::None,
    },
    Language {
        names: &["java", "kotlin", "kt", "kts", "scala", "groovy", "gradle", "csharp", "cs", "c#", "swift", "dart"],
        comments: &["//"],
        blocks: &[("\"\"\"", "\"\"\"", Block::Text), C_COMMENT],
        quotes: &['"', '\''],
        keywords: "abstract actor as async await base bool boolean break byte case catch char class const constructor continue \
                   data decimal default defer def delegate do double else enum event extends extension false final finally \
                   fixed float for foreach fun func get guard if implements implicit import in init inner instanceof int \
                   interface internal is it lateinit lazy let lock long match mut namespace native new nil null object open \
                   operator out override package params partial private protected protocol public readonly record ref repeat \
                   return sealed self set short static string struct super suspend switch synchronized this throw throws trait \
                   true try type typealias typeof unless using val var virtual void volatile when where while with yield",
        marks: Names::None,
    },
    Language {
        names: &["bash", "sh", "shell", "zsh", "fish", "console", "shellsession", "shell-session"],
        comments: &["#"],
        blocks: &[],
        quotes: &['"', '\''],
        keywords: "alias case cd do done echo elif else esac eval exec exit export fi for function if in local printf read \
                   readonly return set shift source sudo then trap unset until while",
        marks: Names::Variables,
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs", "crystal"],
        comments: &["#"],
        blocks: &[("=begin", "=end", Block::Comment)],
        quotes: &['"', '\''],
        keywords: "alias and begin break case class def defmodule defp do else elsif end ensure extend false fn for if import \
                   in include module next nil not or private protected public raise redo require rescue retry return self \
                   super then true undef unless until use when while with yield",
        marks: Names::None,
    },
    Language {
        names: &["php"],
        comments: &["//", "#"],
        blocks: &[C_COMMENT],
        quotes: &['"', '\''],
        keywords: "abstract and array as break case catch class clone const continue declare default do echo else elseif \
                   extends false final finally fn for foreach function global if implements instanceof interface match \
                   namespace new null or private protected public readonly require return static switch throw trait true try \
                   use var while yield",
        marks: Names::Variables,
    },
    Language {
        names: &["sql", "postgresql", "postgres", "mysql", "sqlite", "plsql"],
        comments: &["--"],
        blocks: &[C_COMMENT],
        quotes: &['\'', '"'],
        keywords: "add all alter and as asc begin between by case cast check column commit constraint create cross database \
                   default delete desc distinct drop else end exists false foreign from full group having if in index inner \
                   insert into is join key left like limit not null offset on or order outer primary references returning \
                   right rollback select set table then true union unique update using values view when where with",
        marks: Names::None,
    },
    Language {
        names: &["json", "json5", "jsonc", "jsonl"],
        comments: &["//"],
        blocks: &[C_COMMENT],
        quotes: &['"'],
        keywords: "true false null",
        marks: Names::Keys,
    },
    Language {
        names: &["yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "env", "dotenv"],
        comments: &["#", ";"],
        blocks: &[("\"\"\"", "\"\"\"", Block::Text)],
        quotes: &['"', '\''],
        keywords: "true false null yes no on off",
        marks: Names::Keys,
    },
    Language {
        names: &["html", "xml", "svg", "vue", "svelte", "xhtml"],
        comments: &[],
        blocks: &[("<!--", "-->", Block::Comment)],
        quotes: &['"', '\''],
        keywords: "",
        marks: Names::Tags,
    },
    Language {
        names: &["css", "scss", "sass", "less"],
        comments: &["//"],
        blocks: &[C_COMMENT],
        quotes: &['"', '\''],
        keywords: "@charset @container @font-face @import @include @keyframes @layer @media @mixin @supports @use important",
        marks: Names::Keys,
    },
    Language {
        names: &["dockerfile", "docker", "containerfile"],
        comments: &["#"],
        blocks: &[],
        quotes: &['"', '\''],
        keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME \
                   WORKDIR",
        marks: Names::Variables,
    },
    Language {
        names: &[
            "makefile", "make", "cmake", "just", "justfile", "nix", "perl", "pl", "r", "julia", "jl", "nim", "tcl",
        ],
        comments: &["#"],
        blocks: &[],
        quotes: &['"', '\''],
        keywords: "and assert begin do else elseif elsif end endif for foreach function if ifdef ifeq ifndef ifneq import in \
                   include inherit let library local my next or our proc rec return set sub then undef unless use using var \
                   while with",
        marks: Names::Variables,
    },
    Language {
        names: &["lua", "haskell", "hs", "elm", "ada"],
        comments: &["--"],
        blocks: &[("--[[", "]]", Block::Comment), ("{-", "-}", Block::Comment)],
        quotes: &['"'],
        keywords: "and as begin break case class data deriving do else elseif end false for function goto if import in \
                   infix infixl infixr instance is let local module newtype nil not of or procedure qualified repeat return \
                   then true type until where while",
        marks: Names::None,
    },
    Language {
        names: &[
            "zig",
            "wit",
            "proto",
            "protobuf",
            "solidity",
            "sol",
            "graphql",
            "hcl",
            "terraform",
            "tf",
            "v",
            "odin",
        ],
        comments: &["//", "#"],
        blocks: &[C_COMMENT],
        quotes: &['"'],
        keywords: "and async await bool break catch comptime const constructor continue contract defer else enum errdefer error \
                   export extern false fn for func function if import inline input interface list map message mutation \
                   option or orelse package private pub public query record repeated required resource result return returns \
                   rpc scalar schema service string struct subscription switch syntax test true try type undefined union \
                   unreachable use usize var variable variant void while world",
        marks: Names::None,
    },
];

/// Colours the lines of one block of code.
#[derive(Clone, Debug, Default)]
pub(super) struct Highlighter {
    language: Option<&'static Language>,
    is_difference: bool,
    /// What the line before left open: how it ends, and what it is.
    open: Option<(&'static str, Block)>,
}

impl Highlighter {
    /// The highlighter for what stands behind a fence.
    pub(super) fn new(info: &str) -> Self {
        let name = info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':')).next().unwrap_or_default();
        let name = name.trim_start_matches('.').to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()));
        Self { language, is_difference: matches!(name.as_str(), "diff" | "patch"), open: None }
    }

    /// Returns a line with its colours.
    pub(super) fn line(&mut self, line: &str, look: Look) -> String {
        if !look.colour {
            return line.to_owned();
        }
        if self.is_difference {
            let style = match line.bytes().next() {
                Some(b'+') => AnsiColor::Green.on_default(),
                Some(b'-') => AnsiColor::Red.on_default(),
                Some(b'@') => AnsiColor::Cyan.on_default(),
                _ => Style::new(),
            };
            return look.paint(line, style);
        }
        let Some(language) = self.language else { return line.to_owned() };
        let mut shown = String::with_capacity(line.len() + 32);
        let mut rest = line;
        // What stands in front decides: `#` in a word is not a comment.
        let mut before = None;
        while !rest.is_empty() {
            let (length, style) = self.token(language, rest, line, before);
            let (token, behind) = rest.split_at(length.clamp(1, rest.len()));
            shown.push_str(&look.paint(token, style));
            before = token.chars().next_back();
            rest = behind;
        }
        shown
    }

    /// Returns the length and the style of what is next on the line, behind this character.
    fn token(&mut self, language: &'static Language, rest: &str, line: &str, before: Option<char>) -> (usize, Style) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        // `'` in `don't` begins no text.
        let can_begin = !before.is_some_and(is_word);
        if let Some(token) = self.of_block(language, rest, can_begin) {
            return token;
        }
        let first = rest.chars().next().unwrap_or(' ');
        // In a shell and in YAML, `#` and `;` begin a comment only behind a blank.
        let begins_comment = |mark: &&str| {
            rest.starts_with(*mark)
                && (mark.len() > 1 || before.is_none_or(char::is_whitespace))
                && !is_directive(language, rest)
        };
        if language.comments.iter().any(begins_comment) {
            return (rest.len(), COMMENT);
        }
        if language.quotes.contains(&first) && !(first == '\'' && before.is_some_and(is_word)) {
            let length = text_length(rest, first);
            let is_key = language.marks == Names::Keys
                && rest.get(length..).is_some_and(|behind| behind.trim_start().starts_with(':'));
            return (length, if is_key { NAME } else { TEXT });
        }
        if first == '$' && language.marks == Names::Variables {
            let name = rest.get(1..).unwrap_or_default();
            let length = name.find(|c: char| !is_word(c) && c != '{' && c != '}').unwrap_or(name.len());
            return (1 + length, NAME);
        }
        if first == '<' && language.marks == Names::Tags {
            let length = rest.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(rest.len());
            return (length, NAME);
        }
        if first.is_ascii_digit() && !before.is_some_and(is_word) {
            let length = rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len());
            return (length, NUMBER);
        }
        if is_word(first) || matches!(first, '#' | '@') {
            let inner = rest.get(first.len_utf8()..).unwrap_or_default();
            let length = first.len_utf8() + inner.find(|c: char| !is_word(c)).unwrap_or(inner.len());
            let word = rest.get(..length).unwrap_or_default();
            return (length, style_of_word(language, word, rest.get(length..).unwrap_or_default(), line));
        }
        // Everything up to what may begin something.
        let is_plain = |c: char| {
            !is_word(c)
                && !language.quotes.contains(&c)
                && !matches!(c, '#' | '@' | '$' | '<' | '/' | '-' | '`' | ';' | '{' | '=')
        };
        let length = rest.find(|c: char| !is_plain(c)).unwrap_or(rest.len());
        (length.max(first.len_utf8()), Style::new())
    }

    /// Returns the length and the style of what is next if it belongs to a comment or a text of several lines, one that
    /// is open or one that begins here.
    fn of_block(&mut self, language: &'static Language, rest: &str, can_begin: bool) -> Option<(usize, Style)> {
        // It goes on until its end, whatever the line looks like.
        if let Some((end, block)) = self.open {
            let length = rest.find(end).map(|at| at + end.len());
            if length.is_some() {
                self.open = None;
            }
            return Some((length.unwrap_or(rest.len()), style_of(block)));
        }
        let mut blocks = language.blocks.iter().filter(|_| can_begin);
        let (inner, (begin, end, block)) =
            blocks.find_map(|block| rest.strip_prefix(block.0).map(|inner| (inner, block)))?;
        let length = inner.find(end).map(|at| begin.len() + at + end.len());
        if length.is_none() {
            self.open = Some((end, *block));
        }
        Some((length.unwrap_or(rest.len()), style_of(*block)))
    }
}

fn style_of(block: Block) -> Style {
    match block {
        Block::Comment => COMMENT,
        Block::Text => TEXT,
    }
}

fn style_of_word(language: &Language, word: &str, behind: &str, line: &str) -> Style {
    let is_keyword = |word: &str| language.keywords.split_ascii_whitespace().any(|keyword| keyword == word);
    let ignores_case = language.names.contains(&"sql");
    if is_keyword(word) || ignores_case && is_keyword(&word.to_ascii_lowercase()) {
        return KEYWORD;
    }
    let is_first = line.trim_start().trim_start_matches("- ").starts_with(word);
    let is_key = language.marks == Names::Keys && is_first && behind.trim_start().starts_with([':', '=']);
    if is_key { NAME } else { Style::new() }
}

/// Whether a `#` begins a word of the language.
fn is_directive(language: &Language, rest: &str) -> bool {
    let word = rest.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    word.len() > 1 && language.keywords.split_ascii_whitespace().any(|keyword| keyword == word)
}

/// Returns the length of a text that ends on its line, with its quotes.
fn text_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        if character == quote && !escaped {
            return at + character.len_utf8();
        }
        escaped = character == '\\' && !escaped;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOOK: Look = Look { colour: true, hyperlinks: false, base: Style::new() };

    fn coloured(language: &str, lines: &[&str]) -> String {
        let mut highlighter = Highlighter::new(language);
        let shown: Vec<String> = lines.iter().map(|line| highlighter.line(line, LOOK)).collect();
        let codes = [
            ("\u{1b}[2m", "c‹"),
            ("\u{1b}[32m", "t‹"),
            ("\u{1b}[36m", "n‹"),
            ("\u{1b}[35m", "k‹"),
            ("\u{1b}[34m", "v‹"),
        ];
        let text = shown.join("\n").replace("\u{1b}[0m", "›");
        codes.iter().fold(text, |text, (code, mark)| text.replace(code, mark))
    }

    #[test]
    fn code_has_the_colours_of_its_language() {
        for (language, lines, expected) in [
            (
                "rust",
                vec!["let x = 1; // one", "let s = \"a\\\"b\";"],
                "k‹let› x = n‹1›; c‹// one›\nk‹let› s = t‹\"a\\\"b\"›;",
            ),
            ("rust", vec!["/* a", "b */ fn"], "c‹/* a›\nc‹b */› k‹fn›"),
            ("rust", vec!["fn f<'a>(x: &'a u8)"], "k‹fn› f<'a>(x: &'a u8)"),
            ("Python", vec!["x = \"\"\"a", "b\"\"\" # c"], "x = t‹\"\"\"a›\nt‹b\"\"\"› c‹# c›"),
            ("sh", vec!["echo $HOME#x '#' # y"], "k‹echo› v‹$HOME›#x t‹'#'› c‹# y›"),
            ("json", vec!["{\"a\": \"b\", \"c\": true}"], "{v‹\"a\"›: t‹\"b\"›, v‹\"c\"›: k‹true›}"),
            ("toml", vec!["name = \"x\" # y"], "v‹name› = t‹\"x\"› c‹# y›"),
            ("html", vec!["<p class=\"x\">a</p>"], "v‹<p› class=t‹\"x\"›>av‹</p›>"),
            ("c", vec!["#include <a.h>"], "k‹#include› <a.h>"),
            ("sql", vec!["SELECT 1 -- x"], "k‹SELECT› n‹1› c‹-- x›"),
            ("diff", vec!["+a", " b"], "t‹+a›\n b"),
            ("unknown", vec!["let x"], "let x"),
        ] {
            assert_eq!(coloured(language, &lines), expected, "{language}");
        }
    }

    proptest! {
        #[test]
        fn code_is_not_changed_by_its_colours(lines in "([a-z'\"#/*<$@=\\-{}`é; ]|let|\n){0,80}", language in 0..LANGUAGES.len()) {
            let mut highlighter = Highlighter::new(LANGUAGES[language].names[0]);
            for line in lines.lines() {
                let mut plain = highlighter.line(line, LOOK);
                for code in ["0", "2", "32", "34", "35", "36"] {
                    plain = plain.replace(&format!("\u{1b}[{code}m"), "");
                }
                prop_assert_eq!(plain, line);
            }
        }
    }
}
