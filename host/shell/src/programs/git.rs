//! `git`: which of its commands destroy what it stores, and which run something else.

use super::{Deletes, Irreversible, Program, Runs};
use crate::Word;
use crate::hazard::Hazard;
use crate::inner::{Inner, Wrapped, as_line};
use crate::usage::{Understood, Usage};

pub(super) const ROWS: &[Program] = &[Program {
    runs: Runs::Sometimes(found),
    understood: Understood::Table(TABLE),
    begins: command,
    hazards: Some(hazards),
    deletes: Deletes::Found(deleted),
    irreversible: Irreversible::Sometimes { why: destructive, never: only_adds },
    ..Program::named(&["git"])
}];

/// The options before the command that take the next word as their value.
const GLOBAL_VALUED: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"];

/// The commands and options that are understood. What is not here may be an alias, and an alias can run anything.
const TABLE: &str = "\
status -s -b -v -z -u -uno -uall --short --branch --porcelain --long --untracked-files --ignored --ignore-submodules
    --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --column --no-column : files
log -p -u -s -z -i -E -F -P -w -b -c -m -t -r -# -n= -S= -G= -L= -U= -M -C -a --oneline --graph --all --patch --stat
    --shortstat --numstat --name-only --name-status --summary --decorate --no-decorate --abbrev-commit --no-abbrev-commit
    --format= --pretty= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep
    --merges --no-merges --first-parent --reverse --follow --max-count= --skip= --date= --date-order --topo-order
    --author-date-order --no-patch --full-history --simplify-merges --left-right --cherry-pick --cherry-mark --cherry
    --no-walk --branches --tags --remotes --diff-filter= --relative-date --color --no-color --word-diff --raw
    --find-renames --find-copies --no-renames --pickaxe-all --pickaxe-regex --unified= --regexp-ignore-case
    --extended-regexp --fixed-strings --no-ext-diff --no-textconv --show-pulls --ancestry-path --boundary : files
diff -p -u -s -z -w -b -a -R -# -U= -M -C -S= -G= -O= --cached --staged --stat --shortstat --numstat --name-only
    --name-status --summary --patch --no-patch --raw --check --exit-code --quiet --color --no-color --word-diff
    --word-diff-regex= --color-words --unified= --minimal --patience --histogram --diff-algorithm= --ignore-all-space
    --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --diff-filter= --find-renames --find-copies
    --no-renames --relative --no-ext-diff --no-textconv --merge-base --no-prefix --function-context --text --binary
    --full-index --compact-summary : inside
show -p -u -s -z -w -b -# -U= -M -C --oneline --patch --no-patch --stat --shortstat --numstat --name-only --name-status
    --summary --format= --pretty= --abbrev-commit --color --no-color --word-diff --raw --unified= --diff-filter= --date=
    --no-ext-diff --no-textconv --first-parent : files
blame -l -t -s -e -w -M -C -c -n -f -p -L= --line-porcelain --porcelain --since= --date= --show-email --show-name
    --show-number --root --reverse : files
annotate -l -t -L= : files
shortlog -s -n -e -c --summary --numbered --email --all --since= --until= --no-merges --group= : files
describe --tags --all --always --dirty --long --abbrev= --match= --exclude= --contains --exact-match --first-parent
    --candidates= : files
rev-parse -q --verify --quiet --short --abbrev-ref --symbolic --symbolic-full-name --show-toplevel --show-prefix
    --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir
    --is-bare-repository --show-superproject-working-tree --show-object-format --all --branches --tags --remotes
    --path-format= --git-path= : files
rev-list -# -n= --count --all --max-count= --since= --until= --reverse --oneline --no-merges --merges --first-parent
    --left-right --objects --author= --grep= --branches --tags --remotes --topo-order --date-order : files
ls-files -c -d -m -o -i -s -u -k -z -t -v -x= --cached --deleted --modified --others --ignored --stage --unmerged
    --exclude= --exclude-standard --full-name --error-unmatch --abbrev --deduplicate --directory --eol --recurse-submodules
    --no-empty-directory : files
ls-tree -d -r -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev --object-only --format= : files
cat-file -t -s -e -p --batch-check : files
merge-base -a --all --is-ancestor --octopus --independent --fork-point : files
name-rev --tags --refs= --exclude= --all --name-only --always : files
for-each-ref --count= --sort= --format= --points-at= --merged --no-merged --contains --no-contains --color= : files
show-ref -q -d -s --head --heads --branches --tags --verify --quiet --dereference --hash --abbrev --exists : files
show-branch -a -r --all --remotes --current --topo-order --list --merge-base --more= : files
count-objects -v -H --verbose --human-readable : none
check-ignore -q -v -z -n --quiet --verbose --non-matching --no-index : files
check-attr -a -z --all --cached : files
cherry -v --abbrev : files
range-diff --stat --no-color --color --creation-factor= --no-dual-color : files
whatchanged -p -# --oneline --stat --since= --until= : files
grep -i -v -w -l -L -c -n -h -H -E -G -F -P -o -q -p -W -a -I -r -z -e= -f= -A= -B= -C= -m= --ignore-case --invert-match
    --word-regexp --files-with-matches --files-without-match --name-only --count --line-number --column --heading --break
    --extended-regexp --fixed-strings --perl-regexp --only-matching --quiet --cached --untracked --text
    --function-context --show-function --after-context= --before-context= --context= --max-depth= --max-count= --and --or
    --all-match --color --no-color --full-name --recursive --threads= : files
branch -a -r -l -v -vv -q -d -D -m -M -c -C -f -t -u= --all --remotes --list --verbose --quiet --show-current --merged
    --no-merged --contains --no-contains --points-at= --sort= --format= --column --no-column --color --no-color --abbrev=
    --delete --move --copy --force --track --no-track --set-upstream-to= --unset-upstream --ignore-case : files
tag -l -n -# -a -d -f -m= --list --annotate --delete --force --message= --sort= --format= --contains --no-contains
    --merged --no-merged --points-at= --column --ignore-case --no-sign : files
remote -v --verbose : none
remote show -n : names
remote get-url --push --all : names
stash -q -u -a -k --include-untracked --all --keep-index --quiet : none
stash list -p -# --stat --oneline --format= --date= : none
stash show -p -u --stat --patch --name-only --name-status --include-untracked --only-untracked : files
stash push -q -u -a -k -S -m= --include-untracked --all --keep-index --staged --quiet --message= : files
stash pop -q --index --quiet : files
stash apply -q --index --quiet : files
stash drop -q --quiet : files
stash clear : none
reflog -# -n= --all --date= --format= --oneline : files
reflog show -# -n= --all --date= --format= --oneline : files
worktree list -v -z --porcelain --verbose : none
config --get --get-all --get-regexp --get-urlmatch --list -l -z --null --name-only --show-origin --show-scope --global
    --local --system --worktree --type= --bool --int --path --default= : files
config get --all --regexp --show-names --show-origin --show-scope --global --local --system --type= --default= : files
config list --show-origin --show-scope --name-only --global --local --system -z : none
var : names
version --build-options : none
add -A -u -n -v -f -N --all --update --dry-run --verbose --force --intent-to-add --no-all --ignore-errors --renormalize
    --refresh --chmod= : files
commit -a -q -v -n -s -o -i -z -m= -C= --all --quiet --verbose --message= --amend --no-edit --no-verify --verify --signoff
    --no-signoff --allow-empty --allow-empty-message --dry-run --short --branch --porcelain --author= --date=
    --reset-author --fixup= --squash= --only --include --trailer= --cleanup= --reuse-message= --no-gpg-sign
    --no-post-rewrite --status --no-status --untracked-files : files
reset -q -N --soft --mixed --hard --merge --keep --quiet --no-refresh --intent-to-add : files
restore -s= -S -W -q --source= --staged --worktree --quiet --progress --no-progress --ours --theirs --merge
    --ignore-unmerged --overlay --no-overlay : files
checkout -b= -B= -q -f -t -d -m --quiet --force --track --no-track --guess --no-guess --detach --ours --theirs --merge
    --progress --no-progress --orphan= --overlay --no-overlay : files
switch -c= -C= -q -f -t -d -m --create= --force-create= --quiet --force --track --no-track --guess --no-guess --detach
    --discard-changes --merge --progress --no-progress --orphan= : files
mv -f -k -n -v --force --dry-run --verbose : files
rm -r -f -n -q --cached --force --dry-run --quiet --ignore-unmatch : files
clean -d -f -n -q -x -X -e= --force --dry-run --quiet --exclude= : files
fetch -a -p -P -t -n -q -v -j= --all --prune --prune-tags --tags --no-tags --quiet --verbose --dry-run --depth= --deepen=
    --unshallow --force --append --progress --no-progress --jobs= --multiple --atomic
    --set-upstream : names
pull -q -v -r --rebase --no-rebase --ff-only --no-ff --ff --quiet --verbose --prune --tags --no-tags --all --autostash
    --no-autostash --stat --no-stat --depth= --squash --no-squash --commit --no-commit --no-edit --progress --no-progress
    : names
push -q -v -u -n -f -d --quiet --verbose --set-upstream --dry-run --porcelain --tags --follow-tags --all --branches --force
    --force-with-lease --force-if-includes --delete --mirror --prune --atomic --no-verify --verify --progress
    --no-progress : names
merge -q -v -n -m= --ff --no-ff --ff-only --squash --no-squash --commit --no-commit --no-edit --abort --continue --quit
    --quiet --verbose --stat --no-stat --message= --autostash --no-autostash --no-verify --allow-unrelated-histories
    --progress --no-progress : files
rebase -q -v -n --continue --abort --skip --quit --onto= --quiet --verbose --stat --no-stat --autostash --no-autostash
    --keep-base --root --no-ff --update-refs --no-update-refs --show-current-patch --reset-author-date : files
cherry-pick -n -x -m= -s --no-commit --continue --abort --skip --quit --mainline= --signoff --allow-empty --ff : files
revert -n -m= -s --no-commit --no-edit --continue --abort --skip --quit --mainline= --signoff : files
bisect start : files
bisect good : files
bisect bad : files
bisect skip : files
bisect reset : files
bisect log : none
init -q -b= --quiet --initial-branch= : none
prune -n -v --dry-run --verbose : none
gc -q --auto --quiet --no-prune : none
fsck --full --no-dangling --unreachable --lost-found --no-reflogs --connectivity-only : none
symbolic-ref -q -d -m= --short --quiet --delete : names
update-ref -d -m= --no-deref --stdin : files
notes list : files
notes show : files
submodule status --cached --recursive : files
submodule summary --cached --files : files
sparse-checkout list : none
verify-commit -v --verbose --raw : files
verify-tag -v --verbose --raw : files
hash-object -t= --stdin : files
";

/// Returns the files that `git rm` deletes.
fn deleted(words: &[Word]) -> Vec<String> {
    let Some(at) = command(words).filter(|at| words[*at].is("rm")) else { return Vec::new() };
    let arguments = &words[at + 1..];
    if arguments.iter().any(|word| is_long(word, &["--cached", "--dry-run"]) || is_short(word, &['n'])) {
        return Vec::new();
    }
    arguments.iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.clone()).collect()
}

/// Whether the command, whatever its options, destroys nothing that git stores.
fn only_adds(command: &str) -> bool {
    const ONLY: &str =
        "add blame cat-file commit describe diff log ls-files ls-tree rev-list rev-parse shortlog show status";
    ONLY.split_whitespace().any(|known| known == command)
}

/// Returns the index of the command after the global options, or `None` if there is none or it is not known.
fn command(words: &[Word]) -> Option<usize> {
    let mut at = 1;
    while let Some(text) = words.get(at).and_then(Word::literal) {
        if !text.starts_with('-') {
            return Some(at);
        }
        at += if GLOBAL_VALUED.contains(&text) { 2 } else { 1 };
    }
    None
}

/// Whether the word is one of the options, written out or abbreviated as git accepts it.
fn is_long(word: &Word, options: &[&str]) -> bool {
    let text = word.text.split('=').next().unwrap_or_default();
    text.len() > 2 && text.starts_with("--") && options.iter().any(|option| option.starts_with(text))
}

fn is_short(word: &Word, letters: &[char]) -> bool {
    word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letters)
}

/// Returns why the words would destroy what git stores. Rebasing and amending do not: the reflog keeps the old commits.
fn destructive(words: &[Word]) -> Option<&'static str> {
    // Behind git's own options: `git -C x push` is a push.
    let at = command(words)?;
    let (name, arguments) = (words[at].literal()?, &words[at + 1..]);
    let long = |options: &[&str]| arguments.iter().any(|word| is_long(word, options));
    let short = |letters: &[char]| arguments.iter().any(|word| is_short(word, letters));
    let first = |names: &[&str]| arguments.first().is_some_and(|word| names.contains(&word.text.as_str()));
    // Git takes short options in one word, as `-qf`.
    let forced = long(&["--force"]) || short(&['f']);
    let operands = || arguments.iter().filter(|word| !word.text.starts_with('-'));
    let hit = |is: bool, why| is.then_some(why);
    match name {
        "push" => hit(
            long(&["--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune"])
                // Each way to delete or overwrite a branch at the remote has a spelling with an option and one with a
                // sign.
                || short(&['f', 'd'])
                || operands().any(|word| word.text.starts_with(['+', ':'])),
            "it overwrites or deletes what others may have",
        ),
        "reset" => hit(long(&["--hard", "--merge", "--keep"]), "it discards changes"),
        "fetch" | "pull" => {
            // The first operand is the repository, whose address may have a colon.
            let refspec = |word: &Word| word.text.starts_with('+') || forced && word.text.contains(':');
            // `--prune` drops what remembers branches that the remote has no more: everyday work, and no branch of the
            // user's.
            hit(operands().skip(1).any(refspec), "it overwrites references, and drops the commits that only they named")
        }
        "send-pack" => hit(
            long(&["--force", "--mirror"]) || operands().skip(1).any(|word| word.text.starts_with(['+', ':'])),
            "it overwrites or deletes what others may have",
        ),
        "clean" => hit(!long(&["--dry-run"]) && !short(&['n']), "it deletes files that git does not track"),
        "checkout" => hit(
            // Behind `--` are files, which are written over without a copy.
            arguments.iter().any(|word| word.is("--"))
                || long(&["--force", "--ours", "--theirs", "--pathspec-from-file"])
                || short(&['f', 'B'])
                || operands().any(|word| word.is(".") || word.text.starts_with(':'))
                // `git checkout A B` takes B from A; with `-b` it makes a branch.
                || operands().count() > 1 && !short(&['b']),
            "it discards changes of files",
        ),
        "switch" => {
            hit(long(&["--force", "--discard-changes", "--force-create"]) || short(&['f', 'C']), "it discards changes")
        }
        "restore" => {
            // Without it the files themselves are restored, and what was not committed is gone.
            let staged = long(&["--staged"]) || short(&['S']);
            hit(!staged || long(&["--worktree"]) || short(&['W']), "it discards changes of files")
        }
        "branch" => hit(
            short(&['D', 'M', 'C', 'f']) || long(&["--force"]) || long(&["--delete"]) && short(&['f']),
            "it drops commits that no other branch has",
        ),
        "tag" => {
            hit(long(&["--delete", "--force"]) || short(&['d', 'f']), "it drops the commits that only the tag named")
        }
        "stash" => hit(first(&["drop", "clear"]), "it discards stashed changes"),
        "reflog" => hit(first(&["expire", "delete"]), "it drops what could still be recovered"),
        "gc" => hit(long(&["--prune", "--aggressive"]), "it drops what could still be recovered"),
        "prune" | "filter-branch" | "filter-repo" => Some("it rewrites or drops history"),
        // Without force git removes only what is committed as it is.
        "rm" => {
            hit(!long(&["--cached", "--dry-run"]) && !short(&['n']) && forced, "it deletes files with their changes")
        }
        "mv" => hit(forced, "it overwrites files"),
        "read-tree" => hit(long(&["--reset"]), "it discards changes of files"),
        "checkout-index" => hit(forced, "it discards changes of files"),
        "repack" => hit(short(&['a']) && short(&['d']), "it drops what could still be recovered"),
        "fast-import" => hit(forced, "it drops the commits that only the reference named"),
        // It has no safe form: its words are the new value and nothing else.
        "update-ref" => Some("it moves or drops references, and the commits that only they named"),
        "replace" => hit(long(&["--delete", "--force"]) || short(&['d', 'f']), "it drops a replacement"),
        "notes" => hit(first(&["remove", "prune"]) || forced, "it drops notes"),
        "worktree" => {
            let resets = first(&["add"]) && short(&['B']);
            hit(
                first(&["remove"]) && forced || resets,
                "it discards changes of a worktree, or drops commits of a branch",
            )
        }
        "remote" => hit(first(&["remove", "rm", "prune"]), "it overwrites or drops commits of the remote"),
        "submodule" => hit(first(&["deinit"]) || first(&["update"]) && forced, "it discards changes of a submodule"),
        "symbolic-ref" => {
            hit(long(&["--delete"]) || short(&['d']), "it drops the commits that only the reference named")
        }
        _ => None,
    }
}

/// Returns the words that choose where git runs and what it obeys.
fn hazards(words: &[Word]) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    let mut moves = false;
    // Only git's own options: those behind the command belong to it.
    let end = command(words).unwrap_or(words.len());
    let mut at = 1;
    while at < end {
        let text = words[at].text.as_str();
        let valued = usize::from(GLOBAL_VALUED.contains(&text));
        match text {
            "-P"
            | "--no-pager"
            | "--version"
            | "--help"
            | "-v"
            | "-h"
            | "--literal-pathspecs"
            | "--no-optional-locks"
            | "--no-replace-objects" => {}
            // A second folder would be relative to the first one.
            "-C" if !moves && words.get(at + 1).and_then(Word::literal).is_some_and(is_beneath) => {
                moves = true;
                hazards.push(Hazard::folder(at + 1));
            }
            _ => hazards.push(Hazard::new(at + valued, "an option of git chooses what it runs, or where")),
        }
        at += 1 + valued;
    }
    // `git config NAME VALUE` sets a variable: one of the options has to say that it reads.
    if words.get(end).is_some_and(|word| word.is("config")) {
        let reads = ["get", "list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"];
        if !words.get(end + 1).is_some_and(|word| reads.contains(&word.text.as_str())) {
            hazards.push(Hazard::new(words.len(), "it configures what git runs"));
        }
    }
    hazards.extend(remotes(words, end).into_iter().map(|at| Hazard::remote(at, &words[at])));
    hazards
}

/// Returns the indices of the repositories that the command at this index sends to or fetches from: a folder is one,
/// too, and git runs the hooks in it.
fn remotes(words: &[Word], at: usize) -> Vec<usize> {
    if !["fetch", "pull", "push"].iter().any(|command| words.get(at).is_some_and(|word| word.is(command))) {
        return Vec::new();
    }
    let Some(usage) = Usage::find(TABLE, words, at) else { return Vec::new() };
    let reading = usage.read(words, at);
    let all = reading.options.iter().any(|(name, _)| name == "--multiple");
    reading.operands.into_iter().take(if all { usize::MAX } else { 1 }).collect()
}

/// Whether the folder is beneath this one, and so in the same repository or in one inside it.
fn is_beneath(folder: &str) -> bool {
    !folder.starts_with(['/', '-']) && !folder.split('/').any(|part| part == "..") && !folder.contains(".git")
}

/// Returns what git itself would run.
fn found(words: &[Word]) -> Option<Wrapped> {
    let at = command(words)?;
    let from = match (words[at].literal()?, words.get(at + 1)?.literal()?) {
        ("bisect", "run") => at + 2,
        ("submodule", "foreach") => {
            at + 2 + words[at + 2..].iter().take_while(|word| word.text.starts_with("--")).count()
        }
        // `rebase --exec` and its like take a shell line among their options; only such a word has a blank.
        ("rebase" | "filter-branch" | "difftool" | "grep", _) => {
            let lines = words[at + 1..].iter().filter_map(Word::literal);
            let lines = lines
                .filter(|text| text.contains(' '))
                .map(|text| text.split_once('=').map_or(text, |(_, value)| value));
            let inner: Vec<_> = match words[at].text.as_str() {
                "grep" => return None,
                _ => lines.map(|text| Inner::Line { at, text: text.to_owned() }).collect(),
            };
            return (!inner.is_empty()).then(|| Wrapped { inner, ..Wrapped::default() });
        }
        _ => return None,
    };
    match words.get(from..)? {
        [] => None,
        rest if words[at].is("bisect") => {
            Some(Wrapped { inner: vec![Inner::Command { at: from, words: rest.to_vec() }], ..Wrapped::default() })
        }
        rest => Some(as_line(rest).map_or_else(
            || Wrapped::candidates(words, from).with_unclear("what it runs is not literal"),
            |line| Wrapped::line(from, line),
        )),
    }
}
