//! Decides a call by the rules and the grants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host_capability::{Capability, Grants, Resources, Scope};
use host_plugin::ProgramWalls;
use host_shell::{Analysis, Command, Hazard, HazardKind, NamedPath, Word, analyse};
use serde_json::{Map, Value};

use super::environment::ProgramEnvironment;
use super::place::Place;
use super::prefix::{Met, granted, meets};
use super::reading::shows_objects;
use super::remotes::has_remote;
use super::rule::{Rule, Tier, Who};
use super::{Because, Decision, Policy, Query, Reason, Verdict, built_in, started};
use crate::ApprovalMode;

/// What is decided about a call before its commands.
struct Call<'p, 'q> {
    query: &'q Query<'q>,
    place: Place<'q>,
    environment: &'p ProgramEnvironment,
    /// The rules whose criteria all hold, or all but `command`; the winner first.
    rules: Vec<&'p Rule>,
    /// The first of them without `command`.
    base: Option<&'p Rule>,
    /// Whether commands that only read the workspace are allowed.
    lets_read: bool,
    /// Whether files are hidden from programs, but not what git keeps of them.
    hides_files: bool,
    /// The walls without which no command is harmless.
    walls: Option<ProgramWalls>,
    /// Whether the command, as it is spawned, is granted.
    granted_whole: bool,
    /// Whether unclear parts do not matter: everything is allowed anyway, and no rule singles out commands.
    lenient: bool,
}

/// What allows a part, and how many of its words it covers.
struct Allowed {
    /// Whether a rule takes the walls away from it.
    leaves_walls: bool,
    words: usize,
    because: Because,
}

impl Policy {
    /// Decides a call.
    ///
    /// Rules are compared by tier, then priority; of two equal ones the stricter wins. Without a command, the winner
    /// decides, or else the grants. With one, each simple command in it is decided by itself, and the strictest
    /// decision applies to the call.
    pub fn decide(&self, query: &Query<'_>) -> Verdict {
        // One form of the arguments, or a pattern could be passed by a blank or by the order of keys.
        let arguments = canonical(query.arguments);
        // Sorted by tier and priority when the policy was made, so the first that fits is the strongest.
        let rules: Vec<&Rule> = self.rules.iter().filter(|rule| rule.holds(query, &arguments)).collect();
        let base = rules.iter().find(|rule| rule.command.is_empty()).copied();
        let Some(argv) = query.argv else {
            // A tool that runs commands without saying which may run one that a rule singles out.
            let picks = |rule: &&&Rule| {
                rule.source.tier > Tier::BuiltIn && !rule.command.is_empty() && rule.decision != Decision::Allow
            };
            let unsaid = rules.iter().take_while(|rule| !rule.command.is_empty()).find(picks);
            if let Some(rule) = unsaid.filter(|_| query.touches.has(Capability::Process))
                && base.is_none_or(|base| base.decision == Decision::Allow)
            {
                let because = Because::PerhapsRule { source: rule.source.clone(), text: rule.shown() };
                return verdict(vec![reason(None, Decision::Ask, because)], base);
            }
            let reason = match base {
                Some(rule) => match rule.beyond(query) {
                    Some(servers) => reason(None, Decision::Ask, Because::Private(servers)),
                    None => by_rule(rule, None),
                },
                None if query.touches.le(query.granted) => reason(None, Decision::Allow, Because::Granted),
                None => reason(None, Decision::Ask, Because::Nothing),
            };
            return verdict(vec![reason], base);
        };
        let who = Who::new(query);
        let picky = |rule: &&Rule| {
            rule.source.tier > Tier::BuiltIn
                && !rule.command.is_empty()
                && rule.decision != Decision::Allow
                && rule.is_about(&who)
        };
        // Words of a command are literal here; a shell line among them is read by the analysis.
        let words: Vec<_> = argv.iter().map(Word::literal_of).collect();
        let granted_whole = granted(query.granted, &words).is_some();
        let unconditional = match base {
            Some(rule) => rule.decision == Decision::Allow && rule.arguments.is_none(),
            None => granted_whole,
        };
        // Where everything is allowed and no rule is picky, unclear words cannot hide anything that matters.
        let lenient = unconditional && !self.rules.iter().any(|rule| picky(&rule));
        // All paths are looked up behind all links: a name says little about where it leads.
        let place = Place::new(query.workspace, &self.own);
        let (environment, walls) = (&self.environment, self.walls);
        let (lets_read, hides_files) = (self.lets_read, self.hides_files);
        let call =
            Call { query, place, environment, rules, base, lets_read, hides_files, walls, granted_whole, lenient };
        call.commands(&analyse(argv))
    }
}

impl Call<'_, '_> {
    fn commands(&self, analysis: &Analysis) -> Verdict {
        let mut reasons = Vec::new();
        let mut allowed: Vec<Option<Allowed>> = Vec::new();
        let mut denied = None;
        // Where the shell can be: each command may be run in it or in a part of it that has moved.
        let directory = self.query.directory.filter(|directory| self.place.is_unprotected(directory));
        if directory.is_none() && !self.lenient {
            reasons.push(self.folder_doubt());
        }
        // Every folder in which the shell can be by then: `cd a || cd b` leaves two.
        let mut shells = vec![self.query.directory.unwrap_or(&self.place.workspace).to_path_buf()];
        // In order, since a `cd` moves all that follow.
        for part in &analysis.commands {
            let stays = part.enters.as_ref().is_none_or(|folder| {
                let may_move = self.environment.moves_cd(folder);
                self.place.enters(&mut shells, folder) && !may_move
            });
            // How many of its words a rule for the command around it names.
            let outer = part.outer.and_then(|(at, starts)| {
                allowed.get(at)?.as_ref()?.words.checked_sub(starts).filter(|words| *words > 0)
            });
            let shown = Some(part.source.clone());
            let mut allows = None;
            match self.part(part, outer, &shells, stays) {
                PartDecision::Silent => {}
                // Each part by itself: the strictest of all decides the call.
                PartDecision::Strict(reason, rule) => {
                    denied = denied.or(rule.filter(|rule| rule.decision == Decision::Deny));
                    reasons.push(reason);
                }
                PartDecision::Allow(allowed) => {
                    reasons.push(reason(shown, Decision::Allow, allowed.because.clone()));
                    allows = Some(allowed);
                }
            }
            // A part that may only be an argument is as clear as the command in which a rule names it.
            let named = part.uncertain && outer.is_some();
            if !self.lenient && !named {
                let is_spawned = part.outer.is_none() && !part.by_shell;
                let doubt = started::doubt(part, is_spawned, &self.place, self.environment);
                let doubt = doubt.map(|why| reason(Some(part.source.clone()), Decision::Ask, Because::Obscure(why)));
                reasons.extend(self.unclear(part, allows.as_ref(), &shells, stays).into_iter().chain(doubt));
            }
            // One for each part, so that parts within others find the decision about theirs.
            allowed.push(allows);
        }
        let leaves_walls = leaves_walls(analysis, &allowed);
        // What the reader did not understand is a question, unless nothing could follow from it.
        if !self.lenient {
            let unclear = analysis.unclear.iter().cloned();
            reasons.extend(unclear.map(|why| reason(None, Decision::Ask, Because::Obscure(why))));
        }
        if let Some(more) = self.more() {
            reasons.push(reason(None, Decision::Ask, Because::UsesMore(more)));
        }
        self.whole(analysis, &mut reasons);
        Verdict { leaves_walls, ..verdict(reasons, denied.or(self.base)) }
    }

    /// Returns why a command is asked about whose folder nobody may use.
    fn folder_doubt(&self) -> Reason {
        let why = match self.query.directory {
            Some(_) => "it runs in a folder in which nothing may be changed",
            None => "the folder in which it runs cannot be found",
        };
        reason(None, Decision::Ask, Because::Obscure(why.to_owned()))
    }

    /// Adds what is decided about the call as a whole to the reasons of its commands.
    fn whole(&self, analysis: &Analysis, reasons: &mut Vec<Reason>) {
        // If a command also touches anything else, that needs a grant too, or a rule for the whole call.
        let others: Grants =
            self.query.touches.iter().filter(|scope| scope.capability() != Capability::Process).cloned().collect();
        if let Some(servers) = self.base.and_then(|rule| rule.beyond(self.query)) {
            reasons.push(reason(None, Decision::Ask, Because::Private(servers)));
        }
        match self.base {
            // If the tool is denied except for some commands, a command that may be a different one is denied too.
            Some(rule) if reasons.is_empty() || rule.decision == Decision::Deny && !analysis.unclear.is_empty() => {
                reasons.push(by_rule(rule, None));
            }
            None if !others.le(self.query.granted) => reasons.push(reason(None, Decision::Ask, Because::Nothing)),
            None if reasons.is_empty() && self.granted_whole => {
                reasons.push(reason(None, Decision::Allow, Because::Granted));
            }
            None if reasons.is_empty() => reasons.push(reason(None, Decision::Ask, Because::Nothing)),
            Some(_) | None => {}
        }
    }

    /// Returns what the command wants besides what every confined one may use, if neither a grant nor a rule with a
    /// `scope` covers it: ``reach `a.io:443` and change `/home/a/.cache/x` ``.
    fn more(&self) -> Option<String> {
        let Some(scope @ Scope::Process(programs)) = self.query.touches.scope(Capability::Process) else { return None };
        let is_granted = self.query.granted.scope(Capability::Process).is_some_and(|granted| scope.le(granted));
        let is_covered = self.rules.iter().any(|rule| rule.decision == Decision::Allow && rule.scope.is_some());
        let Resources { servers, reads, writes } = programs.resources();
        let paths = |paths: Vec<PathBuf>| paths.iter().map(|path| path.display().to_string()).collect();
        let kinds: [(&str, Vec<String>); 3] = [("reach", servers), ("change", paths(writes)), ("read", paths(reads))];
        let named = kinds.iter().filter(|(_, names)| !names.is_empty());
        let named = named.map(|(verb, names)| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("{verb} {}", names.join(", "))
        });
        let words = named.collect::<Vec<_>>().join(" and ");
        (!words.is_empty() && !is_granted && !is_covered).then_some(words)
    }

    /// Decides a part, apart from what is unclear about it; `outer` is how many of its words a rule names for the
    /// command around it, `shells` where the shell can be, and `stays` whether it stays in the workspace.
    fn part(&self, part: &Command, outer: Option<usize>, shells: &[PathBuf], stays: bool) -> PartDecision<'_> {
        let shown = || Some(part.source.clone());
        // Before any rule: no rule opens what nothing may change.
        if let Some(what) = part.writes.iter().find_map(|target| self.place.protects(target, shells)) {
            return PartDecision::Strict(reason(shown(), Decision::Deny, Because::Protected(what)), None);
        }
        let (winner, perhaps) = self.rules_about(part);
        if let Some((rule, _)) = winner
            && rule.decision != Decision::Allow
        {
            return PartDecision::Strict(by_rule(rule, shown()), Some(rule));
        }
        // A stronger rule may be about this part, and only the shell will know.
        if let Some(rule) = perhaps.filter(|_| !self.lenient) {
            let because = Because::PerhapsRule { source: rule.source.clone(), text: rule.shown() };
            return PartDecision::Strict(reason(shown(), Decision::Ask, because), None);
        }
        // `yolo` is the wish not to be asked about these either.
        if let Some(why) = part.irreversible
            && self.query.mode <= ApprovalMode::Auto
            // A rule that the user wrote for this command knows what it does.
            && winner.is_none_or(|(rule, _)| (rule.source.tier, rule.priority) <= (Tier::BuiltIn, built_in::PRIORITY))
        {
            return PartDecision::Strict(reason(shown(), Decision::Ask, Because::Destructive(why)), None);
        }
        if self.query.mode == ApprovalMode::Auto && winner.is_none() && built_in::deletes_folders(&part.words) {
            return PartDecision::Strict(reason(shown(), Decision::Ask, Because::Destructive(built_in::DELETES)), None);
        }
        if let Some((rule, words)) = winner {
            let leaves_walls = rule.leaves_walls;
            return PartDecision::Allow(Allowed { leaves_walls, words, because: by_rule(rule, None).because });
        }
        if part.transparent {
            return PartDecision::Silent;
        }
        self.by_grants(part, outer, shells, stays)
    }

    /// Returns the first rule that surely fits a part, with how many of its words it names, and the first one before
    /// that which may fit.
    fn rules_about(&self, part: &Command) -> (Option<(&Rule, usize)>, Option<&Rule>) {
        let mut perhaps = None;
        for rule in &self.rules {
            let met = match rule.command.is_empty() {
                // A wrapper is decided by what it runs.
                true if part.transparent => Met::No,
                true => Met::Yes(0),
                false => meets(rule, &part.words),
            };
            match met {
                Met::Yes(words) => return (Some((*rule, words)), perhaps),
                Met::Perhaps => perhaps = perhaps.or(Some(*rule)),
                Met::No => {}
            }
        }
        (None, perhaps)
    }

    /// Decides a part that no rule is about.
    fn by_grants(&self, part: &Command, outer: Option<usize>, shells: &[PathBuf], stays: bool) -> PartDecision<'_> {
        let unasked = || PartDecision::Strict(reason(Some(part.source.clone()), Decision::Ask, Because::Nothing), None);
        match granted(self.query.granted, &part.words) {
            Some(words) => PartDecision::Allow(Allowed { leaves_walls: false, words, because: Because::Granted }),
            // The whole command was granted word for word, so no part of it is asked about.
            None if self.granted_whole => {
                PartDecision::Allow(Allowed { leaves_walls: false, words: 0, because: Because::Granted })
            }
            // The words of a command are never all of it, so what nobody is asked about needs walls.
            None if self.walls.is_some_and(|walls| !walls.are_complete()) && outer.is_none() => unasked(),
            // Only within the workspace: elsewhere even a test for a file shows what nobody meant to be seen.
            None if stays && self.place.is_harmless(part, shells) => {
                PartDecision::Allow(Allowed { leaves_walls: false, words: 0, because: Because::Harmless })
            }
            None if self.lets_read
                && stays
                // Git keeps old versions of files that are hidden from programs.
                && !(self.hides_files && shows_objects(part))
                && self.place.lets_read(part, shells, self.environment) =>
            {
                PartDecision::Allow(Allowed { leaves_walls: false, words: usize::MAX, because: Because::Reads })
            }
            None => match outer {
                Some(words) => PartDecision::Allow(Allowed { leaves_walls: false, words, because: Because::Outer }),
                None => unasked(),
            },
        }
    }

    /// Returns what is unclear about a part, with what allows it.
    fn unclear(&self, part: &Command, allowed: Option<&Allowed>, shells: &[PathBuf], stays: bool) -> Vec<Reason> {
        let words = allowed.map_or(usize::MAX, |allowed| allowed.words);
        // A grant is a capability: of a program of which nothing is known it covers every argument.
        let is_granted = allowed.is_some_and(|allowed| matches!(allowed.because, Because::Granted));
        let leaves = (!stays).then_some("it may leave the workspace");
        // Only for a command that is allowed by its name: the name must not mean another file after a `cd`.
        let is_named = allowed.is_some_and(|allowed| allowed.words > 0);
        let program = part.words.first().filter(|_| is_named).and_then(Word::literal);
        let other = program.and_then(|program| {
            let moved = self.place.another(program, self.query.directory, shells)?;
            Some(format!("`{program}` is a different file in `{}`", moved.display()))
        });
        // A wrapper that only runs others is unclear only in its options.
        let counts = |hazard: &&Hazard| {
            // Words that a rule names are the user's own decision.
            let is_covered = hazard.at < words || is_granted && hazard.kind == HazardKind::UnknownProgram;
            !part.transparent && !is_covered && !self.is_dispelled(part, hazard, shells)
        };
        let hazards = part.hazards.iter().filter(counts);
        let why = part
            .unclear
            .iter()
            .map(String::as_str)
            .chain(leaves)
            .chain(other.as_deref())
            .chain(hazards.map(|hazard| hazard.why.as_str()));
        let obscure = why.map(|why| Because::Obscure(why.to_owned()));
        let because = obscure.chain(part.redirects.iter().cloned().map(Because::Writes));
        because.map(|because| reason(Some(part.source.clone()), Decision::Ask, because)).collect()
    }
}

impl Call<'_, '_> {
    /// Whether a look at the files shows that there is no such hazard.
    fn is_dispelled(&self, part: &Command, hazard: &Hazard, shells: &[PathBuf]) -> bool {
        let Some(word) = part.words.get(hazard.at) else { return false };
        match hazard.kind {
            HazardKind::Folder => {
                // A test may be named behind its file: `a.py::test`.
                let path = word.text.split("::").next().unwrap_or_default().to_owned();
                let path = NamedPath { path, glob: word.glob };
                let is_known = !word.tilde && !word.brace;
                is_known && shells.iter().all(|shell| self.place.runs_from(&path, shell))
            }
            HazardKind::Remote => {
                let name = word.literal().unwrap_or_default();
                // The folder of `git -C FOLDER`.
                let moved = part.words.iter().position(|word| word.is("-C")).and_then(|at| part.words.get(at + 1));
                let folder = |shell: &Path| moved.map_or(shell.to_path_buf(), |moved| shell.join(&moved.text));
                shells.iter().all(|shell| has_remote(&folder(shell), name))
            }
            HazardKind::Risk | HazardKind::UnknownWord | HazardKind::UnknownProgram => false,
        }
    }
}

/// Whether a line runs without walls. If nobody let its other commands out, none gets out.
fn leaves_walls(analysis: &Analysis, allowed: &[Option<Allowed>]) -> bool {
    let parts = || allowed.iter().zip(&analysis.commands).filter(|(_, part)| !part.transparent);
    analysis.unclear.is_empty()
        && parts().next().is_some()
        && parts().all(|(allowed, _)| allowed.as_ref().is_some_and(|allowed| allowed.leaves_walls))
}

/// The decision about a part.
enum PartDecision<'p> {
    /// None: the commands that it runs decide.
    Silent,
    Allow(Allowed),
    /// It is asked about or denied, perhaps by a rule.
    Strict(Reason, Option<&'p Rule>),
}

fn reason(part: Option<String>, decision: Decision, because: Because) -> Reason {
    Reason { part, decision, because }
}

fn by_rule(rule: &Rule, part: Option<String>) -> Reason {
    let because = Because::Rule { source: rule.source.clone(), priority: rule.priority, text: rule.shown() };
    reason(part, rule.decision, because)
}

/// Builds the verdict of the strictest reason, with the message of the rule that denies.
fn verdict(reasons: Vec<Reason>, denied: Option<&Rule>) -> Verdict {
    let decision = reasons.iter().map(|reason| reason.decision).max().unwrap_or(Decision::Ask);
    let denied = denied.filter(|rule| decision == Decision::Deny && rule.decision == Decision::Deny);
    let message = denied.and_then(|rule| rule.message.clone());
    Verdict { decision, message, leaves_walls: false, reasons }
}

/// Writes the arguments as JSON without blanks and with sorted keys, so that a pattern sees only one form of them.
pub(super) fn canonical(arguments: &Map<String, Value>) -> String {
    fn write(value: &Value, text: &mut String) {
        match value {
            Value::Array(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    // Blanks and the order of keys are left to the model, so a pattern must not depend on them.
                    write(item, text);
                }
                text.push(']');
            }
            Value::Object(members) => object(members, text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
        }
    }
    fn object(members: &Map<String, Value>, text: &mut String) {
        text.push('{');
        // Sorted here as well, since a feature of serde_json elsewhere in the build keeps the order of keys.
        for (at, (key, value)) in members.iter().collect::<BTreeMap<_, _>>().into_iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(&Value::from(key.as_str()).to_string());
            text.push(':');
            write(value, text);
        }
        text.push('}');
    }
    let mut text = String::new();
    object(arguments, &mut text);
    text
}
