//! Files with rules: strict, so that an unreadable rule is an error and not a hole.

mod form;

use std::path::PathBuf;

use form::{Example, RawFile, RawRule};
use host_capability::{Resources, Scope};
use host_shell::{Word, analyse_line, read};
use serde_json::Value;
use toml::Spanned;

use super::prefix::{Met, meets};
use super::rule::MAX_PRIORITY;
use super::{ArgumentsPattern, CommandPrefix, Decision, Policy, Rule, RuleSource, Tier, decide};

/// The largest file, in bytes: a project's file is read before the project is trusted.
const FILE_BYTES: usize = 256 << 10;

/// The most rules of a file: each is compared with each command of a call.
const RULES: usize = 1000;

/// The source of a file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// The author.
    pub tier: Tier,
    /// Its path, for messages; `None` for a text that is not in a file.
    pub path: Option<PathBuf>,
}

/// The error of a file with rules that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{line}:{column}: {problem}", file.as_ref().map(|file| format!("{}:", file.display())).unwrap_or_default())]
pub struct PolicyError {
    /// The file.
    pub file: Option<PathBuf>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The reason.
    pub problem: PolicyProblem,
}

/// A problem in a file of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyProblem {
    /// It is not TOML, or has an unknown key or value.
    #[error("{message}{}", host_text::did_you_mean(nearest).map(|help| format!("; {help}")).unwrap_or_default())]
    Form {
        /// The parser's message.
        message: String,
        /// The name nearest to an unknown one.
        nearest: Option<String>,
    },
    /// It is too large.
    #[error("it has {bytes} bytes, over the limit of {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It has too many rules.
    #[error("it has {rules} rules, over the limit of {limit}")]
    TooMany {
        /// The number of its rules.
        rules: usize,
        /// The limit.
        limit: usize,
    },
    /// A value is invalid.
    #[error("invalid `{key}`: {why}")]
    Value {
        /// The key.
        key: &'static str,
        /// The reason.
        why: String,
    },
    /// An example contradicts its rule.
    #[error("the rule {} its example `{example}`", if *matches { "does not match" } else { "matches" })]
    Example {
        /// The example.
        example: String,
        /// Whether it is one of those that should match.
        matches: bool,
    },
}

impl Policy {
    /// Reads the rules of a file, and checks each against its own examples.
    ///
    /// # Errors
    ///
    /// With the place of the first problem: invalid TOML, an unknown key or value, an invalid criterion, an example
    /// that contradicts its rule, or too many bytes or rules.
    pub fn parse(text: &str, source: PolicyFile) -> Result<Vec<Rule>, PolicyError> {
        let error = |at: usize, problem| {
            // The place is found from the position in the text: `toml` knows no columns of characters.
            let before = text.get(..at).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            PolicyError { file: source.path.clone(), line, column, problem }
        };
        // A file of a repository can be of any size, and is read at each start.
        if text.len() > FILE_BYTES {
            return Err(error(0, PolicyProblem::TooLarge { bytes: text.len(), limit: FILE_BYTES }));
        }
        let file: RawFile = toml::from_str(text).map_err(|broken| {
            let message = host_text::with_plain_types(broken.message());
            // An unknown key is an error, since a misspelled criterion would make a rule wider.
            let nearest = host_text::expected_instead(&message).map(str::to_owned);
            error(broken.span().map_or(0, |span| span.start), PolicyProblem::Form { message, nearest })
        })?;
        if file.rule.len() > RULES {
            return Err(error(0, PolicyProblem::TooMany { rules: file.rule.len(), limit: RULES }));
        }
        let read = |raw: Spanned<RawRule>| {
            // Each rule keeps its line: a denial says where it stands.
            let at = raw.span().start;
            let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
            let place = RuleSource { tier: source.tier, file: source.path.clone(), line };
            rule(raw.into_inner(), place).map_err(|problem| error(at, problem))
        };
        file.rule.into_iter().map(read).collect()
    }
}

fn value(key: &'static str, why: String) -> PolicyProblem {
    PolicyProblem::Value { key, why }
}

/// Checks what the keys of a rule say together, and that the file it is in may say so.
fn check_keys(raw: &RawRule, source: &RuleSource) -> Result<(), PolicyProblem> {
    // A star within a name would look as if it worked.
    if let Some(bad) = raw.tool.0.iter().find(|tool| tool.is_empty() || tool.trim_end_matches('*').contains('*')) {
        return Err(value("tool", format!("`{bad}` is not a name; a `*` is allowed only at its end")));
    }
    if raw.workspace.as_deref().is_some_and(|path| !path.is_absolute()) {
        return Err(value("workspace", "it is not an absolute path".to_owned()));
    }
    if raw.message.is_some() && raw.decision != Decision::Deny {
        return Err(value(
            "message",
            format!("only a rule that denies shows a message, and this one says {}", raw.decision),
        ));
    }
    // Trusting a project must make nobody less safe: its rules can only be stricter.
    if raw.decision == Decision::Allow && matches!(source.tier, Tier::Project | Tier::Bundle) {
        let why = format!(
            "a rule of a {} can only ask or deny; only the user decides what runs without a question",
            source.tier
        );
        return Err(value("decision", why));
    }
    if raw.decision != Decision::Allow && (!raw.net.0.is_empty() || raw.walls.is_some()) {
        let key = if raw.walls.is_some() { "walls" } else { "net" };
        return Err(value(key, format!("only a rule that allows opens the walls, and this one says {}", raw.decision)));
    }
    let servers = Resources { servers: raw.net.0.clone(), ..Resources::default() };
    // Checked as a grant, so that a rule cannot name a server that no grant could.
    Scope::for_command_using(&["x".to_owned()], &servers)
        .map_err(|error| value("net", format!("{error}; {}", error.help())))?;
    Ok(())
}

fn rule(raw: RawRule, source: RuleSource) -> Result<Rule, PolicyProblem> {
    check_keys(&raw, &source)?;
    let command = raw.command.0.iter().map(|text| prefix(text)).collect::<Result<Vec<_>, _>>();
    let priority = u16::try_from(raw.priority).ok().filter(|priority| *priority <= MAX_PRIORITY);
    let rule = Rule {
        net: raw.net.0,
        leaves_walls: raw.walls == Some(false),
        tool: raw.tool.0,
        plugin: raw.plugin,
        digest: raw.digest.0,
        scope: raw.scope,
        workspace: raw.workspace,
        arguments: match raw.arguments {
            Some(pattern) => Some(ArgumentsPattern::new(&pattern).map_err(|why| value("arguments", why))?),
            None => None,
        },
        command: command.map_err(|why| value("command", why))?,
        capability: raw.capability.0,
        agent: raw.agent.0,
        mode: raw.mode.0,
        decision: raw.decision,
        priority: priority
            .ok_or_else(|| value("priority", format!("{} is out of range: it must be from 0 to 999", raw.priority)))?,
        message: raw.message,
        source,
    };
    // A rule that does not do what its author's examples say is an error and no surprise later.
    for (examples, matches) in [(raw.matches.0, true), (raw.no_match.0, false)] {
        for example in examples {
            check(&rule, &example, matches)?;
        }
    }
    Ok(rule)
}

/// Reads the first words of a command, and whether a `*` follows them.
fn prefix(text: &str) -> Result<CommandPrefix, String> {
    let line = read(text);
    let is_any = |word: &Word| word.glob && word.text == "*";
    let plain = |word: &Word| word.literal().filter(|text| !text.is_empty()).map(str::to_owned);
    match line.commands.as_slice() {
        [only] if line.unclear.is_empty() && only.assignments.is_empty() && only.redirects.is_empty() => {
            let (words, then_any) = match only.words.split_last() {
                Some((last, before)) if is_any(last) => (before, true),
                _ => (only.words.as_slice(), false),
            };
            let words: Option<Vec<String>> = words.iter().map(plain).collect();
            words
                .filter(|words| !words.is_empty())
                .map(|words| CommandPrefix { words, then_any })
                .ok_or_else(|| format!("`{text}` has a word that is not literal; write the first words alone, or a `*` behind them for any arguments"))
        }
        _ => Err(format!("`{text}` is not a plain command: quote everything that is not a word")),
    }
}

fn check(rule: &Rule, example: &Example, matches: bool) -> Result<(), PolicyProblem> {
    let shown = match example {
        Example::Line(line) => line.clone(),
        Example::Call { tool, arguments } => {
            format!("{} {}", tool.as_deref().unwrap_or("any tool"), decide::canonical(arguments)).trim().to_owned()
        }
    };
    // As the policy reads lines: in any command of the line, also behind `&&` or in `$(…)`.
    let runs = |line: &str| {
        let commands = analyse_line(line).commands;
        rule.command.is_empty() || commands.iter().any(|command| matches!(meets(rule, &command.words), Met::Yes(_)))
    };
    let found = match example {
        Example::Line(_) if rule.command.is_empty() => {
            let why = "the examples of a rule without `command` are tables: { tool = …, arguments = { … } }".to_owned();
            return Err(PolicyProblem::Value { key: if matches { "match" } else { "no-match" }, why });
        }
        Example::Line(line) => runs(line),
        Example::Call { tool, arguments } => {
            let line = arguments.get("command").and_then(Value::as_str);
            tool.as_deref().is_none_or(|tool| rule.is_of(tool))
                && rule.arguments.as_ref().is_none_or(|pattern| pattern.matches(&decide::canonical(arguments)))
                && (rule.command.is_empty() || line.is_some_and(runs))
        }
    };
    if found == matches { Ok(()) } else { Err(PolicyProblem::Example { example: shown, matches }) }
}
