//! Lines for a shell, made of parts by a generator that gives the same lines for the same seed.

use super::scratch::{VARIABLES, Variables};

/// A line, with where it runs.
#[derive(Clone, Debug)]
pub(super) struct Generated {
    pub(super) line: String,
    /// Relative to the workspace.
    pub(super) directory: &'static str,
    pub(super) variables: Variables,
}

const DIRECTORIES: [&str; 18] = [
    ".", ".", ".", ".", ".", ".", ".", ".", "src", "src/deep", "l", "n", "nested", "sub", ".git", "up", "away",
    "../home",
];

/// Operands that stay in the workspace; `@` is the folder with everything in it.
const INSIDE: [&str; 22] = [
    "README.md",
    "src/main.rs",
    "src/lib.rs",
    "src",
    ".",
    "docs/a.md",
    "src/*.rs",
    "./src",
    "inner",
    "'a b.txt'",
    "-",
    "docs/?.md",
    "src/deep",
    "package.json",
    "HEAD",
    "main",
    "TODO",
    "fn",
    "@/w/README.md",
    "@/w/src",
    "s*c",
    "missing",
];

/// Operands that lead out, become something else, or are options.
const OUTSIDE: [&str; 44] = [
    "out",
    "leaks/out",
    "leaks/*",
    "*",
    "./*",
    "o*t",
    "up/home/secret",
    "up",
    "../home/secret",
    "../home",
    "~/secret",
    "~/.ssh/*",
    "~",
    "\"$HOME/secret\"",
    "$HOME/.ssh/*",
    "@/home/secret",
    "@/home/.ssh/*",
    "@/home",
    "l/../../../home/secret",
    "$(cat paths)",
    "$(cat globs)",
    "`cat paths`",
    "\"$(cat paths)\"",
    "dangling",
    "nested/deep/a",
    "-o",
    "--output=made",
    "-exec cat ../home/secret ;",
    "{README.md,out}",
    "/proc/self/environ",
    "/proc/self/root/@/home/secret",
    "src/../../home/secret",
    "away/a.rs",
    "-f ../home/secret",
    "--files0-from=paths",
    "-r",
    "-L",
    "--",
    "-R",
    "-a",
    "--no-index",
    "--ext-diff",
    "up/home/.ssh/*",
    "@/w/../home/secret",
];

const READERS: [&str; 44] = [
    "cat",
    "head -2",
    "tail -n 1",
    "ls",
    "ls -la",
    "ls -R",
    "grep -r canary",
    "grep -rn fn",
    "grep -h canary",
    "wc -l",
    "sort",
    "uniq",
    "nl",
    "tac",
    "cut -c1-20",
    "find",
    "find . -name",
    "find src -type f",
    "stat -c %s",
    "file -b",
    "od -c",
    "xxd",
    "base64",
    "md5sum",
    "diff",
    "diff -u README.md",
    "cmp README.md",
    "comm -12 README.md",
    "paste README.md",
    "fold -w 40",
    "sed -n p",
    "sed -n 1,3p",
    "sed 's/[a-z]/x/'",
    "awk '{print}'",
    "jq .",
    "du -a",
    "realpath",
    "readlink -f",
    "fmt",
    "column -t",
    "expand",
    "rev",
    "tr a b <",
    "strings",
];

const GIT: [&str; 26] = [
    "git status",
    "git status -s",
    "git log --oneline -2",
    "git log -p -1",
    "git diff",
    "git diff --stat",
    "git show",
    "git show HEAD:src/main.rs",
    "git blame src/main.rs",
    "git branch",
    "git ls-files",
    "git grep canary",
    "git describe",
    "git rev-parse HEAD",
    "git -C src status",
    "git -C n diff",
    "git -C nested diff",
    "git --git-dir=sub status",
    "git log --output=made",
    "git diff --no-index README.md",
    "git stash list",
    "git -c core.pager=./tc/bin/evil log",
    "git --no-pager diff",
    "git tag",
    "git remote -v",
    "git diff --ext-diff",
];

const OTHERS: [&str; 46] = [
    "cargo --version",
    "cargo -V",
    "node --version",
    "python3 --version",
    "git --version",
    "make --version",
    "echo",
    "echo a",
    "printf '%s\\n'",
    "test -f",
    "[ -e README.md ] && echo",
    "type",
    "which",
    "command -v",
    "pwd;:",
    "read x <",
    "export -p",
    "set",
    "env",
    "printenv",
    "id",
    "date",
    "seq 3;:",
    "basename",
    "tee",
    "tee made",
    "touch made",
    "cp README.md",
    "rm",
    "ln -s",
    "mkdir",
    "sh",
    "bash",
    "./cat",
    "./git status",
    "node",
    "python3",
    "make",
    "zsh -c",
    "busybox cat",
    "hash",
    "umask",
    "ulimit -a",
    "readonly -p",
    "times",
    "jobs",
];

/// Wrappers; `#` is the line as one word, `@` is it as it is.
const AROUND: [&str; 66] = [
    "@",
    "@",
    "@",
    "@",
    "@",
    "@",
    "cd src && @",
    "cd l && @",
    "cd n && @",
    "cd nested; @",
    "cd sub && @",
    "cd docs; @",
    "cd up && @",
    "cd .ssh && @",
    "cd src; cd deep; @",
    "(cd src; @)",
    "{ @; }",
    "( @ )",
    "@ | head -3",
    "@ | sort",
    "echo x | @",
    "cat paths | xargs @",
    "xargs -a paths @",
    "xargs -a ../home/secret echo; @",
    "xargs --arg-file=README.md @",
    "env @",
    "env -i @",
    "env - @",
    "env -u GIT_CONFIG_COUNT @",
    "env -uGIT_CONFIG_COUNT @",
    "env LC_ALL=C @",
    "env PATH=. @",
    "env -C sub @",
    "env --ignore-environment @",
    "env -S @",
    "exec @",
    "exec -c @",
    "command @",
    "command -p @",
    "builtin @",
    "nice @",
    "nice -n 3 @",
    "nohup @",
    "timeout 2 @",
    "stdbuf -o0 @",
    "setsid -w @",
    "time @",
    "time -o made @",
    "time -p @",
    "sh -c #",
    "bash -c #",
    "dash -c #",
    "bash -lc #",
    "sh -ec #",
    "zsh -c #",
    "eval #",
    "eval @",
    "busybox @",
    "for f in *; do @; done",
    "for f in ~/.ssh/*; do echo \"$f\"; done; @",
    "for f in src/*; do echo \"$f\"; done; @",
    "if [ -f README.md ]; then @; fi",
    "while read x; do echo \"$x\"; done < paths; @",
    "find . -maxdepth 0 -exec @ {} +",
    "find sub -execdir @ ;",
    "x=$(@); echo $x",
];

const BEFORE: [&str; 20] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "LC_ALL=C ",
    "PATH=. ",
    "PATH=tc/bin:$PATH; ",
    "GIT_EXTERNAL_DIFF=tc/bin/evil ",
    "CDPATH=..; ",
    "unset GIT_CONFIG_COUNT; ",
];

const BEHIND: [&str; 22] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    " 2>/dev/null",
    " 2>&1",
    " < README.md",
    " < ../home/secret",
    " < out",
    " > made",
    " | tee made",
];

/// A sequence of numbers that look random (SplitMix64).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or_default()
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Returns the next line; `root` is the folder with everything in it.
    pub(super) fn generate(&mut self, root: &str) -> Generated {
        let mut line = self.command();
        for _ in 0..[0, 0, 1, 2][self.below(4)] {
            line = self.wrapped(&line);
        }
        if self.below(6) == 0 {
            let joined = self.one(&[" && ", "; ", " || ", " | ", "\n"]);
            line = format!("{line}{joined}{}", self.command());
        }
        let directory = self.one(&DIRECTORIES);
        let variables = if self.below(5) > 0 { Variables::Usual } else { *self.one(&VARIABLES) };
        Generated { line: line.replace("@/", &format!("{root}/")), directory, variables }
    }

    fn command(&mut self) -> String {
        let program = match self.below(10) {
            0..6 => *self.one(&READERS),
            6..8 => *self.one(&GIT),
            _ => *self.one(&OTHERS),
        };
        let program = self.quoted(program);
        let mut line = format!("{}{program}", self.one(&BEFORE));
        for _ in 0..self.below(3) {
            // One in four may be anything, so that many lines still run.
            let operand = if self.below(4) == 0 { *self.one(&OUTSIDE) } else { *self.one(&INSIDE) };
            let operand = self.quoted(operand);
            line = format!("{line} {operand}");
        }
        format!("{line}{}", self.one(&BEHIND))
    }

    /// Writes the first word of a text in another way.
    fn quoted(&mut self, text: &str) -> String {
        let (first, rest) =
            text.split_once(' ').map_or((text, String::new()), |(first, rest)| (first, format!(" {rest}")));
        let is_plain = first.len() > 1 && first.chars().all(|c| c.is_ascii_alphanumeric() || "./-".contains(c));
        let first = match self.below(8) {
            0 if is_plain => format!("'{first}'"),
            1 if is_plain => format!("\"{first}\""),
            2 if is_plain => format!("{}''{}", &first[..1], &first[1..]),
            3 if is_plain => format!("\\{first}"),
            _ => first.to_owned(),
        };
        first + &rest
    }

    fn wrapped(&mut self, line: &str) -> String {
        let around = *self.one(&AROUND);
        // A folder that is written out is marked in the same way, and comes later.
        let marked = line.replace("@/", "\u{1}");
        let word = host_shell::quote(&marked);
        around.replacen('@', &marked, 1).replacen('#', &word, 1).replace('\u{1}', "@/")
    }
}
