//! A home with secrets, a clone from somebody hostile, and the runs of the host in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host_tests::host::{Host, folder};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{As, Control, Row, Table, User, Wanted, Way};
use crate::acp::editor::{Editor, Reply};

/// What every file with a secret has in it, and a part of its name.
pub(super) const SECRET: &str = "SECRET-OF-THE-USER";

/// What anybody may read.
pub(super) const PLAIN: &str = "a line that anybody may read";

/// Makes the clone in the current folder, and what the user has in the home. `program` makes one that leaves a mark.
const MADE: &str = r#"
program() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\n: > %s/marks/%s\n' "$HOME" "$2" > "$1"; chmod +x "$1"; }
repository() { git init -q -b main --template= "$1"; git -C "$1" add .; git -C "$1" commit -q -m x; }
mkdir ~/.ssh ~/marks ~/tools ~/elsewhere
echo SECRET-OF-THE-USER > ~/.ssh/id
: > ~/.ssh/SECRET-OF-THE-USER
echo 'a line that anybody may read' > README.md
echo SECRET-OF-THE-USER > .env
ln -s .env env
echo a/b > slashes
echo "$HOME/.ssh/*" > globs
ln -s "$HOME" up
ln -s "$HOME/elsewhere" elsewhere
rmdir .git; git init -q -b main --template= .; git add README.md .env; git commit -q -m x
git remote add here "$HOME/elsewhere/x"
printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = false\n' > evil

mkdir leak; ln -s "$HOME/.ssh/id" leak/key
ln -s .git dotgit

program toolchain/tc/bin/cargo toolchain
mkdir toolchain/deep; ln -s toolchain/deep tool
printf '[toolchain]\npath = "%s/toolchain/tc"\n' "$PWD" > toolchain/rust-toolchain.toml

mkdir -p nested/deep; echo 1 > nested/deep/file; repository nested; echo 2 > nested/deep/file
program nested/tool nested
git -C nested config diff.external "$PWD/nested/tool"
ln -s nested/deep nest

git init -q --bare --template= bare; program bare/tool bare
git config -f bare/config core.bare false
git config -f bare/config core.worktree .
git config -f bare/config core.fsmonitor "$PWD/bare/tool"

program zsh/git zsh

mkdir -p outer/decoy/.git; echo 1 > outer/decoy/file; echo 'a line that anybody may read' > outer/decoy/README.md
rmdir outer/decoy/.git; repository outer; mkdir outer/decoy/.git; echo 2 > outer/decoy/file
program outer/tool outer
git -C outer config diff.external "$PWD/outer/tool"

program node_modules/.bin/wc wc
program node_modules/.near/nl nl

git init -q --bare --template= pushed/x; program pushed/x/hooks/pre-receive pushed
git init -q --bare --template= ~/elsewhere/x; program ~/elsewhere/x/hooks/pre-receive push
printf 'test:\n\t: > %s/marks/make\n' "$HOME" > ~/elsewhere/Makefile
printf 'def test_it():\n    open("%s/marks/pytest", "w")\n' "$HOME" > ~/elsewhere/test_it.py
echo "$HOME/elsewhere/test_it.py" > named
repository ~/elsewhere
git -C ~/elsewhere remote add origin "$HOME/elsewhere/x"
git -C ~/elsewhere config push.autoSetupRemote true
program ~/elsewhere/.git/hooks/pre-push elsewhere

# What rustup does: the first file above the folder, as the system knows it, names where the compiler is.
cat > ~/tools/rustup <<'END'
#!/bin/sh
folder=$(pwd -P)
while [ "$folder" != / ]; do
    path=$(sed -n 's/^path = "\(.*\)"$/\1/p' "$folder/rust-toolchain.toml" 2>/dev/null)
    [ -z "$path" ] || exec "$path/bin/cargo" "$@"
    folder=$(dirname "$folder")
done
echo 'cargo 1.0'
END
chmod +x ~/tools/rustup; ln -s rustup ~/tools/cargo
mkdir ~/busybox; ! busybox=$(command -v busybox) || ln -s "$busybox" ~/busybox/sed
"#;

/// Rules of a user who works.
const RULES: &str = r#"
[[rule]]
tool = "shell"
command = ["git push", "find", "make test", "pytest", "cp", "tee"]
decision = "allow"
"#;

/// A folder for compiled components where a user cannot use that of the tests, so that they are compiled once.
pub(super) struct Cache(Option<TempDir>);

impl Cache {
    pub(super) fn new(by: As) -> Self {
        let own = (by == As::Nobody).then(folder);
        own.iter().for_each(|own| by.owns(own.path()));
        Self(own)
    }
}

pub(super) struct World<'c> {
    host: Host,
    user: User,
    by: As,
    cache: &'c Cache,
}

impl<'c> World<'c> {
    pub(super) fn new(user: User, by: As, cache: &'c Cache) -> Self {
        let host = Host::new(Vec::<String>::new())
            .home_file(".gitconfig", "[user]\n\tname = a\n\temail = a@example.com\n")
            .configured("any_folder = true\n");
        let host = if user == User::Habits { host.home_file(".config/host/policies/work.toml", RULES) } else { host };
        let world = Self { host, user, by, cache };
        let ended = world.shell("", &format!("set -e{MADE}")).output().expect("a shell");
        assert!(ended.status.success(), "{ended:?}");
        by.owns(world.host.repository());
        by.owns(world.host.home());
        world
    }

    /// Runs the calls in this mode, after one that reads; returns what each of them answered.
    pub(super) fn run(&self, table: &Table, rows: &[&Row], mode: &str, way: Way) -> Vec<String> {
        let plain = json!({"call": {"name": "read_file", "arguments": {"path": "README.md"}}});
        let calls: Vec<Value> =
            std::iter::once(plain).chain(rows.iter().map(|row| call(row.folder, row.line))).collect();
        let mut arguments = vec!["--approval-mode", mode];
        arguments.extend(table.arguments);
        match way {
            Way::Headless => self.headless(table, &[json!({"chunks": calls})], &arguments),
            Way::Rejected => {
                // A no cancels the calls behind it in a reply.
                let replies: Vec<Value> = calls.iter().map(|call| json!({"chunks": [call]})).collect();
                let model = self.script(&replies);
                let command = self.command(table, &[&["acp", "--model", &model], &arguments[..]].concat());
                let mut editor = Editor::of(command).introduced(json!({}));
                editor.replies.extend(calls.iter().map(|_| Reply::Kind("reject_once")));
                let session = editor.session();
                assert_eq!(editor.prompt(&session, "work"), "end_turn");
                editor.leave();
            }
        }
        self.answers()
    }

    /// Runs the rows where nothing stops them: whether each touched what it wants, and what it answered.
    pub(super) fn controls<'a>(&self, table: &Table, rows: &[&'a Row]) -> Vec<(&'a Row, bool, String)> {
        let called: Vec<&Row> = rows.iter().copied().filter(|row| row.control == Control::Call).collect();
        // One reply for each, so that one has ended before the next one begins; what it left is put aside.
        let replies: Vec<Value> = called
            .iter()
            .enumerate()
            .flat_map(|(at, row)| {
                [call(row.folder, row.line), call("", &format!("mv \"$HOME/marks\" \"$HOME/{at}\"; mkdir ~/marks"))]
            })
            .map(|call| json!({"chunks": [call]}))
            .collect();
        let mut ended = Vec::new();
        if !called.is_empty() {
            self.headless(table, &replies, &["--approval-mode", "yolo", "--confine", "off"]);
            for (at, (row, answer)) in called.into_iter().zip(self.answers().into_iter().step_by(2)).enumerate() {
                let is_touched = match row.wants {
                    Wanted::Mark(mark) => self.host.home().join(at.to_string()).join(mark).exists(),
                    Wanted::Secret => answer.contains(SECRET),
                    Wanted::Obeyed => unreachable!("`yolo` does not let a call do it"),
                };
                ended.push((row, is_touched, answer));
            }
        }
        for row in rows.iter().copied().filter(|row| row.control == Control::Line) {
            let before = self.obeyed();
            let folder = Path::new(table.folder).join(row.folder);
            let output = self.by.starts(self.shell(&folder.display().to_string(), row.line)).output().expect("a shell");
            let answer = format!("{output:?}");
            let is_touched = match row.wants {
                Wanted::Mark(mark) => self.marks().contains(mark),
                Wanted::Secret => answer.contains(SECRET),
                Wanted::Obeyed => self.obeyed() != before,
            };
            ended.push((row, is_touched, answer));
            // As it was, for the next one.
            fs::write(self.config(), &before).expect("written");
        }
        ended
    }

    /// Takes the marks that are there.
    pub(super) fn marks(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.host.home().join("marks")).expect("read");
        let paths = entries.map(|entry| entry.expect("read").path());
        let taken = paths.map(|path| {
            fs::remove_file(&path).expect("removed");
            path.file_name().expect("a name").display().to_string()
        });
        taken.collect()
    }

    /// What git obeys in the clone.
    pub(super) fn obeyed(&self) -> Vec<u8> {
        fs::read(self.config()).expect("read")
    }

    fn config(&self) -> PathBuf {
        self.host.repository().join(".git/config")
    }

    /// Whether the user has what the row needs.
    pub(super) fn has(&self, needs: Option<&str>) -> bool {
        needs.is_none_or(|line| self.by.starts(self.shell("", line)).output().expect("a shell").status.success())
    }

    fn headless(&self, table: &Table, replies: &[Value], arguments: &[&str]) {
        let model = self.script(replies);
        let command = self.command(table, &[&["run", "--model", &model], arguments, &["Work"]].concat());
        let ended = self.host.end(command);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }

    /// Writes the script of a model, which is done at its end; returns the name of the model.
    fn script(&self, replies: &[Value]) -> String {
        let path = self.host.home().join("script.jsonl");
        let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
        fs::write(&path, format!("{lines}{}\n", json!({"chunks": [{"text": "Done."}]}))).expect("written");
        format!("scripted:{}", path.display())
    }

    fn command(&self, table: &Table, arguments: &[&str]) -> Command {
        let mut command = self.host.command_of(arguments);
        command.current_dir(self.host.repository().join(table.folder));
        command.envs(self.variables());
        command.envs(self.cache.0.iter().map(|own| ("XDG_CACHE_HOME", own.path())));
        self.by.starts(command)
    }

    /// A line in a shell without the host.
    fn shell(&self, folder: &str, line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().env("HOME", self.host.home()).env("GIT_CONFIG_NOSYSTEM", "1");
        command.envs(self.variables()).current_dir(self.host.repository().join(folder));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The variables of the user.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let (home, clone) = (self.host.home().display(), self.host.repository().display());
        let usual = format!("{home}/tools:/usr/local/bin:/usr/bin:/bin");
        match self.user {
            User::Usual => vec![("PATH", usual)],
            User::Habits => {
                let path = format!("{clone}/node_modules/.bin:node_modules/.near:{home}/busybox:{usual}");
                vec![("PATH", path), ("CDPATH", home.to_string())]
            }
        }
    }

    /// What the calls of the one session answered, which is forgotten.
    fn answers(&self) -> Vec<String> {
        let lines = self.host.session();
        let settled = lines.iter().filter(|line| line["type"] == "call_settled");
        let mut answers: Vec<(u32, String)> = settled
            .map(|line| {
                // The call of a reply, or the reply of a call: one of the two numbers is 0.
                let id = line["call_id"].as_str().expect("an id");
                let (_, numbers) = id.split_once('#').expect("numbers");
                let (turn, at) = numbers.split_once('-').expect("two");
                let number = |text: &str| text.parse::<u32>().expect("a number");
                (number(turn) + number(at), line["parts"].to_string())
            })
            .collect();
        answers.sort();
        fs::remove_dir_all(self.host.home().join(".local/state/host/sessions")).expect("removed");
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// A call of `shell` in this folder.
fn call(folder: &str, line: &str) -> Value {
    let mut arguments = json!({"command": line});
    if !folder.is_empty() {
        arguments["directory"] = json!(folder);
    }
    json!({"call": {"name": "shell", "arguments": arguments}})
}
