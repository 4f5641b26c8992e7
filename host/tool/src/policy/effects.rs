//! What a command would do besides reading and printing, for a user who decides about it.
//!
//! Promises: nothing here allows or denies anything; what the words do not show is not listed, and the whole command is
//! shown beside it. Deliberately not here: how an effect is worded.

use std::path::{Component, Path, PathBuf};

use host_capability::Resources;
use host_shell::programs::{Danger, Program};
use host_shell::{Command, Word, analyse, base_name};

/// One thing that a command does or may use, the most dangerous kinds first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It overwrites disks, switches the machine off or acts as another user: the program.
    Machine(Danger, String),
    /// It destroys what nothing brings back.
    Destroys {
        /// The command.
        command: String,
        /// What that does: `it discards changes`.
        why: &'static str,
    },
    /// It deletes this file or folder.
    Deletes(String),
    /// It goes to this folder, outside of the workspace.
    Leaves(String),
    /// It writes this file or folder outside of the workspace.
    WritesOutside(String),
    /// It writes this file or folder.
    Writes(String),
    /// It may reach this server, `HOST:PORT`.
    Reaches(String),
    /// It is confined, and reaches no server.
    ReachesNothing,
    /// It may change this besides what every confined command may.
    Changes(String),
    /// It may read this besides what every confined command may.
    Reads(String),
    /// It runs this program or script, of which nothing is known.
    Runs(String),
}

/// Returns what a command would do, as far as its words show, most dangerous first, each kind in the order of the
/// command. `uses` is what it may use besides what every confined command may; `None` if it is not confined.
pub fn effects(argv: &[String], uses: Option<&Resources>, workspace: &Path) -> Vec<Effect> {
    let mut found: Vec<Effect> =
        analyse(argv).commands.iter().flat_map(|command| of_command(command, workspace)).collect();
    if let Some(Resources { servers, reads, writes }) = uses {
        let shown = |path: &PathBuf| path.display().to_string();
        found.extend(servers.iter().cloned().map(Effect::Reaches));
        found.extend(servers.is_empty().then_some(Effect::ReachesNothing));
        found.extend(writes.iter().map(shown).map(Effect::Changes));
        found.extend(reads.iter().map(shown).map(Effect::Reads));
    }
    // What is said twice is said where it comes first.
    let mut effects: Vec<Effect> = Vec::new();
    found.into_iter().for_each(|effect| {
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    });
    effects.sort_by_key(Effect::rank);
    effects
}

impl Effect {
    /// The place of its kind among the others.
    fn rank(&self) -> u8 {
        match self {
            Self::Machine(..) => 0,
            Self::Destroys { .. } => 1,
            Self::Deletes(_) => 2,
            Self::Leaves(_) => 3,
            Self::WritesOutside(_) => 4,
            Self::Writes(_) => 5,
            Self::Reaches(_) | Self::ReachesNothing => 6,
            Self::Changes(_) => 7,
            Self::Reads(_) => 8,
            Self::Runs(_) => 9,
        }
    }
}

fn of_command(command: &Command, workspace: &Path) -> Vec<Effect> {
    let words = &command.words;
    let program = Program::find(base_name(words));
    let does = |(behind, danger): &(&[&str], Danger)| {
        let given = words.get(1..).unwrap_or_default();
        let is_it = given.len() >= behind.len() && behind.iter().zip(given).all(|(wanted, word)| word.is(wanted));
        is_it.then(|| Effect::Machine(*danger, base_name(words).to_owned()))
    };
    let machine = program.dangers.iter().filter_map(does);
    let destroys = command.irreversible.map(|why| Effect::Destroys { command: command.source.clone(), why });
    let deletes = command.deletes.iter().cloned().map(Effect::Deletes);
    let leaves = command.enters.iter().filter(|folder| is_outside(folder, workspace));
    let leaves = leaves.cloned().map(Effect::Leaves);
    let writes = command.writes.iter().map(|named| &named.path).filter(|path| !command.deletes.contains(path));
    let writes = writes.map(|path| match is_outside(path, workspace) {
        true => Effect::WritesOutside(path.clone()),
        false => Effect::Writes(path.clone()),
    });
    // A word that may only be an argument is shown in the command around it.
    let runs = (!command.uncertain).then(|| runs(words, program)).flatten().map(Effect::Runs);
    machine.chain(destroys).chain(deletes).chain(leaves).chain(writes).chain(runs).collect()
}

/// Returns what a command runs that nothing is known of: its program, or the script of an interpreter.
fn runs(words: &[Word], program: &Program) -> Option<String> {
    let first = words.first()?;
    if program.interprets && words.len() > 1 {
        return Some(words.iter().take(2).map(ToString::to_string).collect::<Vec<_>>().join(" "));
    }
    let is_file = first.text.contains('/') && !matches!(first.text.rsplit_once('/'), Some(("/bin" | "/usr/bin", _)));
    let is_unknown = first.literal().is_none() || program.is_unknown() && program.names.is_empty();
    (is_file || is_unknown).then(|| first.to_string())
}

/// Whether a path leads out of the workspace, by its words alone.
fn is_outside(path: &str, workspace: &Path) -> bool {
    let path = Path::new(path);
    let beneath = path.strip_prefix(workspace).unwrap_or(path);
    let mut depth = 0_usize;
    for part in beneath.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => return true,
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
        }
    }
    path.to_str().is_some_and(|path| path.starts_with('~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, uses: Option<&Resources>) -> Vec<Effect> {
        let argv = ["sh", "-c", line].map(str::to_owned);
        effects(&argv, uses, Path::new("/w"))
    }

    #[test]
    fn policy_effects_of_a_line_come_in_the_order_of_their_danger() {
        use Effect::*;
        let text = str::to_owned;
        let destroys = |command: &str, why| Destroys { command: text(command), why };
        for (line, expected) in [
            ("cargo test && ls src | head", vec![]),
            (
                "cargo build && ./target/release/fuel | head -5 > out.txt; rm -rf target",
                vec![Deletes(text("target")), Writes(text("out.txt")), Runs(text("./target/release/fuel"))],
            ),
            ("rm -f -- -x a; rm a", vec![Deletes(text("-x")), Deletes(text("a"))]),
            ("find . -name '*.o' -delete", vec![Deletes(text("."))]),
            ("find -H src lib -type f -delete", vec![Deletes(text("src")), Deletes(text("lib"))]),
            ("find . -name x", vec![]),
            ("git rm -q a && git rm --cached b", vec![Deletes(text("a"))]),
            ("git reset --hard", vec![destroys("git reset --hard", "it discards changes")]),
            ("cd .. && make", vec![Leaves(text(".."))]),
            ("cd src && make && cd /w/src", vec![]),
            (
                "echo x > /etc/motd; echo x > /w/a; tee ../b ~/c",
                vec![
                    WritesOutside(text("/etc/motd")),
                    WritesOutside(text("../b")),
                    WritesOutside(text("~/c")),
                    Writes(text("/w/a")),
                ],
            ),
            (
                "sudo mkfs /dev/sda",
                vec![Machine(Danger::OtherUser, text("sudo")), Machine(Danger::Disks, text("mkfs"))],
            ),
            (
                "python3 x.py --all; ./a; /usr/bin/ls; frobnicate",
                vec![Runs(text("python3 x.py")), Runs(text("./a")), Runs(text("frobnicate"))],
            ),
            ("rm \"$x\"", vec![Deletes(text("\0"))]),
        ] {
            assert_eq!(of(line, None), expected, "{line}");
        }
    }

    #[test]
    fn policy_effects_name_what_a_confined_command_may_use() {
        let none = Resources::default();
        assert_eq!(of("cargo test", Some(&none)), [Effect::ReachesNothing]);
        let some = Resources {
            servers: vec!["index.crates.io:443".to_owned()],
            reads: vec!["/r".into()],
            writes: vec!["/home/a/.cargo/registry".into()],
        };
        let expected = [
            Effect::Reaches("index.crates.io:443".to_owned()),
            Effect::Changes("/home/a/.cargo/registry".to_owned()),
            Effect::Reads("/r".to_owned()),
        ];
        assert_eq!(of("cargo test", Some(&some)), expected);
    }
}
