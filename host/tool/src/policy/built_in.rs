//! The built-in rules: the lowest tier, so that every other rule wins over them.

use host_shell::programs::{self, Danger};
use host_shell::{Word, base_name};

use super::{Decision, Policy, Rule, RuleSource, Tier};
use crate::ApprovalMode;

/// The priority of the built-in rules, above the default of a rule without one.
pub(super) const PRIORITY: u16 = 900;

/// The modes in which the built-in rules hold: all but `yolo`.
const MODES: [ApprovalMode; 4] =
    [ApprovalMode::Plan, ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Auto];

impl Policy {
    /// Returns the built-in rules: commands that run as another user, switch the machine off or overwrite disks are
    /// asked about even if every command is granted.
    ///
    /// Decisions that need more than the first words of a command are made in code: destroying what git stores is asked
    /// about, and nothing changes the folders of version control and of the host, and the files that a shell starts
    /// with.
    pub fn built_in() -> Vec<Rule> {
        [Danger::OtherUser, Danger::PowerOff, Danger::Disks].map(ask_about).to_vec()
    }
}

/// Why deleting a folder is asked about in the mode that runs confined programs without a question: the workspace is
/// theirs to change, and the user's work in it is not all in version control.
pub(super) const DELETES: &str = "it deletes folders with all that is in them";

/// Whether the command deletes folders with what is in them, as far as its words show.
pub(super) fn deletes_folders(words: &[Word]) -> bool {
    let options = || words.iter().skip(1).map(|word| word.text.as_str());
    match base_name(words) {
        "rm" => options().any(|word| {
            let short =
                word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(['r', 'R']));
            short || word.len() > 2 && "--recursive".starts_with(word)
        }),
        "find" => options().any(|word| word == "-delete"),
        _ => false,
    }
}

/// Creates the rule that asks about the commands with this danger.
fn ask_about(danger: Danger) -> Rule {
    let commands = programs::all().flat_map(|program| {
        let words = program.dangers.iter().filter(move |(_, its)| *its == danger).map(|(words, _)| *words);
        words.flat_map(|words| program.names.iter().map(move |name| [&[*name], words].concat()))
    });
    Rule {
        command: commands.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>().into()).collect(),
        mode: MODES.to_vec(),
        priority: PRIORITY,
        ..Rule::new(Decision::Ask, RuleSource::from_tier(Tier::BuiltIn))
    }
}
