//! Commands that only read and print.
//!
//! Owns the rows of the programs that people look around with, each with the subcommands and options that only read,
//! and finds what a command of theirs opens. A word that a row does not list, or that is known only at run time, makes
//! the command one that may do anything: `git log --output=x`, `find -delete`, `rg --pre`, `sort -o`.
//!
//! The rows of [`crate::programs`] say which words a rule for a program covers; the ones here are stricter, since
//! nobody was asked. Deliberately not here: whether the files may be read, and whether a repository's settings make git
//! run something. That takes a look at the files, and `host-tool` has it.

use crate::named_path::NamedPath;
use crate::programs;
use crate::usage::Usage;
use crate::word::Word;

/// What a command that only reads and prints opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The files and folders, as they were written.
    pub files: Vec<NamedPath>,
    /// It is git, which obeys the settings of the repository.
    pub repository: bool,
    /// The program is found by a file beside the sources, as rustup does it.
    pub toolchain: bool,
}

/// What the operands of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operands {
    /// Files and folders.
    Files,
    /// A pattern, unless one of these options has it, and then files and folders.
    PatternThenFiles(&'static [&'static str]),
    /// Texts and numbers.
    Texts,
    /// A program of `jq`, and then files.
    Filter,
}

/// The programs, each with a table as [`Usage`] reads it.
const ROWS: &[(&[&str], Operands, &str)] = &[
    (
        &["ls"],
        Operands::Files,
        ". -a -A -b -B -c -C -d -f -F -g -G -h -i -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z -1 -I= -T= -w=
    --all --almost-all --author --escape --block-size= --color --directory --classify --file-type --format= --full-time
    --group-directories-first --no-group --human-readable --si --indicator-style= --inode --ignore= --literal
    --numeric-uid-gid --hide-control-chars --show-control-chars --quote-name --quoting-style= --reverse --recursive
    --size --sort= --time= --time-style= --tabsize= --width= --zero : files\n",
    ),
    (
        &["cat"],
        Operands::Files,
        ". -A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs
    --show-nonprinting : files\n",
    ),
    (
        &["head", "tail"],
        Operands::Files,
        ". -# -c= -n= -q -v -z --bytes= --lines= --quiet --silent --verbose --zero-terminated : files\n",
    ),
    (&["wc"], Operands::Files, ". -c -m -l -L -w --bytes --chars --lines --max-line-length --words --total= : files\n"),
    (
        &["nl"],
        Operands::Files,
        ". -b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --body-numbering= --number-format= --number-width= : files\n",
    ),
    (&["tac", "rev"], Operands::Files, ". -b -r -s= --before --regex --separator= : files\n"),
    (
        &["cut"],
        Operands::Files,
        ". -b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --only-delimited --complement
    --output-delimiter= --zero-terminated : files\n",
    ),
    (&["tr"], Operands::Texts, ". -c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1 : files\n"),
    (
        &["sort"],
        Operands::Files,
        ". -b -d -f -g -h -i -M -n -R -r -s -u -V -z -c -C -m -k= -t= --ignore-leading-blanks --dictionary-order
    --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort --reverse --stable --unique --version-sort
    --zero-terminated --check --merge --key= --field-separator= : files\n",
    ),
    (
        &["uniq"],
        Operands::Files,
        ". -c -d -D -i -u -z -f= -s= -w= --count --repeated --all-repeated --ignore-case --unique --zero-terminated
    --skip-fields= --skip-chars= --check-chars= : file\n",
    ),
    (
        &["grep", "egrep", "fgrep"],
        Operands::PatternThenFiles(&["-e", "--regexp"]),
        ". -# -a -b -c -E -F -G -h -H -i -I -l -L -n -o -P -q -r -s -T -v -w -x -y -Z -z -A= -B= -C= -e= -m= --text
    --byte-offset --count --extended-regexp --fixed-strings --basic-regexp --perl-regexp --no-filename --with-filename
    --ignore-case --no-ignore-case --files-with-matches --files-without-match --line-number --only-matching --quiet
    --silent --recursive --no-messages --invert-match --word-regexp --line-regexp --null --null-data --after-context=
    --before-context= --context= --regexp= --max-count= --color --colour --include= --exclude= --exclude-dir=
    --binary-files= --line-buffered --initial-tab : files\n",
    ),
    (
        &["rg"],
        Operands::PatternThenFiles(&["-e", "--regexp", "--files", "--type-list"]),
        ". -i -s -S -w -x -v -n -N -c -l -o -F -P -U -u -a -H -h -q -p -. -0 -e= -g= -t= -T= -A= -B= -C= -m= -r= -j= -M=
    --ignore-case --case-sensitive --smart-case --word-regexp --line-regexp --invert-match --line-number
    --no-line-number --count --count-matches --files-with-matches --files-without-match --only-matching
    --fixed-strings --pcre2 --multiline --multiline-dotall --unrestricted --text --with-filename --no-filename --quiet
    --pretty --hidden --no-ignore --no-ignore-vcs --no-heading --heading --column --json --files --stats --trim --vimgrep
    --null --no-messages --one-file-system --no-config --crlf --type-list --passthru --regexp= --glob= --iglob= --type=
    --type-not= --after-context= --before-context= --context= --max-count= --max-depth= --max-filesize= --max-columns=
    --replace= --threads= --color= --colors= --sort= --sortr= --encoding= --engine= --context-separator=
    --field-match-separator= --path-separator= : files\n",
    ),
    (
        &["fd", "fdfind"],
        Operands::PatternThenFiles(&[]),
        ". -H -I -u -s -i -g -F -a -p -0 -1 -q -e= -t= -E= -d= -S= -c= -j= --hidden --no-ignore --no-ignore-vcs
    --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0
    --quiet --extension= --type= --exclude= --max-depth= --min-depth= --exact-depth= --size= --changed-within=
    --changed-before= --color= --threads= --max-results= --and= : files\n",
    ),
    (
        &["tree"],
        Operands::Files,
        ". -a -d -f -i -p -s -h -u -g -D -F -r -t -v -C -n -J -L= -I= -P= --noreport --dirsfirst --gitignore --prune
    --filelimit= --du --inodes : files\n",
    ),
    (
        &["du"],
        Operands::Files,
        ". -# -0 -a -b -c -d= -h -k -l -m -s -S -t= -x --null --all --apparent-size --bytes --total --max-depth=
    --human-readable --si --summarize --separate-dirs --threshold= --time --one-file-system --exclude= --inodes : files\n",
    ),
    (
        &["diff"],
        Operands::Files,
        ". -a -b -B -c -d -e -E -i -p -q -s -t -T -u -w -y -Z -U= -C= -W= -I= -L= -F= -D= --brief --unified --context
    --text --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --report-identical-files
    --side-by-side --suppress-common-lines --width= --ignore-matching-lines= --label= --show-function-line= --color
    --minimal --normal : files\n",
    ),
    (&["cmp"], Operands::Files, ". -b -i= -l -n= -s --print-bytes --verbose --bytes= --quiet --silent : files\n"),
    (&["comm"], Operands::Files, ". -1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total : files\n"),
    (&["paste"], Operands::Files, ". -d= -s -z --delimiters= --serial --zero-terminated : files\n"),
    (&["join"], Operands::Files, ". -a= -e= -i -j= -o= -t= -v= -1= -2= --check-order --nocheck-order --header : files\n"),
    (&["fold"], Operands::Files, ". -b -s -w= --bytes --spaces --width= : files\n"),
    (&["fmt"], Operands::Files, ". -# -c -p= -s -t -u -w= --width= : files\n"),
    (&["expand", "unexpand"], Operands::Files, ". -i -a -t= --initial --all --tabs= : files\n"),
    (
        &["column"],
        Operands::Files,
        ". -t -x -s= -o= -c= -N= -R= -n= -J --table --separator= --output-separator= --output-width= --table-columns=
    --table-right= --json : files\n",
    ),
    (
        &["stat"],
        Operands::Files,
        ". -c= -t -f --format= --printf= --terse --file-system : files\n",
    ),
    (
        &["file"],
        Operands::Files,
        ". -b -i -h -N -r -0 -F= --brief --mime --mime-type --mime-encoding --no-dereference : files\n",
    ),
    (&["od"], Operands::Files, ". -A= -b -c -d -j= -N= -o -s -t= -v -w -x --address-radix= --skip-bytes= --read-bytes= --format= : files\n"),
    (&["hexdump", "hd"], Operands::Files, ". -b -c -C -d -n= -o -s= -v -x : files\n"),
    (&["xxd"], Operands::Files, ". -a -b -e -i -p -u -l= -s= -c= -g= -len= -seek= -cols= : file\n"),
    (&["base64", "base32"], Operands::Files, ". -d -i -w= --decode --ignore-garbage --wrap= : files\n"),
    (
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum"],
        Operands::Files,
        ". -b -t -z --binary --text --tag --zero : files\n",
    ),
    (&["realpath", "readlink"], Operands::Files, ". -e -f -m -n -q -s -z --canonicalize --canonicalize-existing --relative-to= : files\n"),
    (&["basename", "dirname"], Operands::Texts, ". -a -s= -z --multiple --suffix= --zero : files\n"),
    (&["seq"], Operands::Texts, ". -f= -s= -w --format= --separator= --equal-width : files\n"),
    (&["date"], Operands::Texts, ". -u -R -I -d= --utc --universal --rfc-email --iso-8601 --rfc-3339= --date= : formats\n"),
    (&["uname"], Operands::Texts, ". -a -s -n -r -v -m -p -i -o --all --kernel-name --machine --kernel-release : none\n"),
    (&["nproc", "arch", "whoami", "uptime", "tty"], Operands::Texts, ". : none\n"),
    (&["id", "groups"], Operands::Texts, ". -u -g -G -n -r --user --group --groups --name : none\n"),
    (&["free"], Operands::Texts, ". -b -k -m -g -h -t -w --bytes --kibi --mebi --gibi --human --total --wide : none\n"),
    (&["df"], Operands::Texts, ". -a -h -H -i -k -l -T --all --human-readable --si --inodes --local --print-type : none\n"),
    (
        &["jq"],
        Operands::Filter,
        ". -r -j -a -s -n -c -C -M -S -e --raw-output --join-output --ascii-output --slurp --null-input --compact-output
    --color-output --monochrome-output --sort-keys --exit-status --tab --indent= --stream --seq : files\n",
    ),
];

/// The commands of git that only read, if the settings of the repository make them run nothing else. Left out is what
/// opens files outside the repository (`--no-index`, `-f`), writes (`--output`), obeys more settings (`--textconv`,
/// `--ext-diff`, `-O`), goes into submodules, or asks a server.
const GIT: &str = "\
status -s -b -v -z -u -uno -uall -unormal --short --branch --porcelain --long --untracked-files --ignored --show-stash
    --ahead-behind --no-ahead-behind --renames --no-renames --column --no-column : inside
log -p -u -s -z -i -E -F -P -w -b -c -m -t -r -# -n= -S= -G= -L= -U= -M -C -a --oneline --graph --all --patch --stat
    --shortstat --numstat --name-only --name-status --summary --decorate --no-decorate --abbrev-commit --no-abbrev-commit
    --format= --pretty= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep
    --merges --no-merges --first-parent --reverse --follow --max-count= --skip= --date= --date-order --topo-order
    --author-date-order --no-patch --full-history --simplify-merges --left-right --cherry-pick --cherry-mark --cherry
    --no-walk --branches --tags --remotes --diff-filter= --relative-date --color --no-color --word-diff --raw
    --find-renames --find-copies --no-renames --pickaxe-all --pickaxe-regex --unified= --regexp-ignore-case
    --extended-regexp --fixed-strings --no-ext-diff --no-textconv --show-pulls --ancestry-path --boundary : inside
diff -p -u -s -z -w -b -a -R -# -U= -M -C -S= -G= --cached --staged --stat --shortstat --numstat --name-only
    --name-status --summary --patch --no-patch --raw --check --exit-code --quiet --color --no-color --word-diff
    --word-diff-regex= --color-words --unified= --minimal --patience --histogram --diff-algorithm= --ignore-all-space
    --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --diff-filter= --find-renames --find-copies
    --no-renames --relative --no-ext-diff --no-textconv --merge-base --no-prefix --function-context --text --binary
    --full-index --compact-summary : inside
show -p -u -s -z -w -b -# -U= -M -C --oneline --patch --no-patch --stat --shortstat --numstat --name-only --name-status
    --summary --format= --pretty= --abbrev-commit --color --no-color --word-diff --raw --unified= --diff-filter= --date=
    --no-ext-diff --no-textconv --first-parent : inside
blame -l -t -s -e -w -M -C -c -n -f -p -L= --line-porcelain --porcelain --since= --date= --show-email --show-name
    --show-number --root --reverse : inside
shortlog -s -n -e -c --summary --numbered --email --all --since= --until= --no-merges --group= : inside
describe --tags --all --always --long --abbrev= --match= --exclude= --contains --exact-match --first-parent
    --candidates= : inside
rev-parse -q --verify --quiet --short --abbrev-ref --symbolic --symbolic-full-name --show-toplevel --show-prefix
    --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir
    --is-bare-repository --show-superproject-working-tree --show-object-format --all --branches --tags --remotes
    --git-path= : inside
rev-list -# -n= --count --all --max-count= --since= --until= --reverse --oneline --no-merges --merges --first-parent
    --left-right --objects --author= --grep= --branches --tags --remotes --topo-order --date-order : inside
ls-files -c -d -m -o -i -s -u -k -z -t -v -x= --cached --deleted --modified --others --ignored --stage --unmerged
    --exclude= --exclude-standard --full-name --error-unmatch --abbrev --deduplicate --directory --eol
    --no-empty-directory : inside
ls-tree -d -r -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev --object-only : inside
cat-file -t -s -e -p : inside
merge-base -a --all --is-ancestor --octopus --independent --fork-point : inside
name-rev --tags --refs= --exclude= --all --name-only --always : inside
for-each-ref --count= --sort= --format= --points-at= --merged --no-merged --contains --no-contains --color= : inside
show-ref -d -s --head --heads --branches --tags --verify --quiet --dereference --hash --abbrev --exists : inside
count-objects -v -H --verbose --human-readable : none
check-ignore -q -v -z -n --quiet --verbose --non-matching : inside
grep -i -v -w -l -L -c -n -h -H -E -G -F -P -o -q -p -W -a -I -r -z -e= -A= -B= -C= -m= --ignore-case --invert-match
    --word-regexp --files-with-matches --files-without-match --name-only --count --line-number --column --heading --break
    --extended-regexp --fixed-strings --perl-regexp --only-matching --quiet --cached --untracked --text
    --function-context --show-function --after-context= --before-context= --context= --max-depth= --max-count= --and --or
    --all-match --color --no-color --full-name --recursive : inside
branch -a -r -l -v -vv --all --remotes --list --verbose --show-current --merged --no-merged --contains --no-contains
    --points-at= --sort= --format= --column --no-column --color --no-color --abbrev= --ignore-case : inside
tag -l -n -# --list --sort= --format= --contains --no-contains --merged --no-merged --points-at= --column
    --ignore-case : inside
remote -v --verbose : none
remote get-url --push --all : names
stash list -p -# --stat --oneline --format= --date= : none
stash show -p -u --stat --patch --name-only --name-status --include-untracked --only-untracked : inside
reflog -# -n= --all --date= --format= --oneline : none
reflog show -# -n= --all --date= --format= --oneline : inside
worktree list -v -z --porcelain --verbose : none
version --build-options : none
";

/// The options by which git's `branch` and `tag` list instead of making one.
const LISTS: &[&str] = &["-l", "--list", "--merged", "--no-merged", "--contains", "--no-contains", "--points-at", "-n"];

/// Programs whose version can be asked for: they print it before they read a file of the folder in which they run.
/// Left out are those that run the project's own copy of themselves, or options from it (`yarn`, `pnpm`, `mvn`,
/// `gradle`, `go`, `npx`).
const WITH_VERSION: &[&str] = &[
    "awk", "bash", "bun", "cc", "clang", "cmake", "curl", "deno", "docker", "fd", "find", "g++", "gawk", "gcc", "gh",
    "git", "grep", "gzip", "java", "javac", "jq", "ld", "ls", "make", "ninja", "node", "npm", "openssl", "perl", "pip",
    "pip3", "psql", "python", "python3", "rg", "ruby", "sed", "sqlite3", "tar", "unzip", "uv", "wget",
];

/// Programs that rustup finds by `rust-toolchain.toml`, which can name a folder of the project.
const OF_RUSTUP: &[&str] = &["cargo", "rustc", "rustdoc", "rustfmt"];

/// Returns what the command opens; `None` if it may do anything else than read and print. Whether the program is the
/// one that its name suggests is for the caller to find out.
pub(crate) fn reads(name: &str, words: &[Word]) -> Option<Reads> {
    // Expanded, such a word can become an option.
    if words.iter().any(|word| word.dynamic || word.split || word.brace || word.tilde) {
        return None;
    }
    if let [_, only] = words
        // A program that is only asked for its version reads no file of the user's.
        && ["--version", "-V", "-version", "-v"].iter().any(|version| only.is(version))
    {
        let by_rustup = OF_RUSTUP.contains(&name);
        // The short forms mean something else to many.
        let is_long = only.text.ends_with("version") && (only.text.starts_with("--") || name == "java");
        let has_short = matches!((name, only.text.as_str()), ("cargo" | "rustc", "-V") | ("node" | "npm", "-v"));
        if (WITH_VERSION.contains(&name) || by_rustup) && (is_long || has_short) {
            return Some(Reads { toolchain: by_rustup, ..Reads::default() });
        }
    }
    match name {
        "git" => of_git(words),
        "find" => of(words, &programs::files_that_find_reads(words)?),
        "sed" => of(words, &programs::files_that_sed_reads(words)?),
        name => {
            // No row, no reading: a program that is not known may do anything.
            let (_, operands, table) = ROWS.iter().find(|(names, ..)| names.contains(&name))?;
            let reading = Usage::find(table, words, 1)?.read(words, 1);
            // A single word that is not understood: `find -delete`, `sort -o` and `rg --pre` are all one word away.
            if reading.unknown.is_some() {
                return None;
            }
            let has = |option: &&str| reading.options.iter().any(|(name, _)| name == option);
            let is_first = |at: &usize| reading.operands.first() == Some(at);
            // By what the operands are: a pattern of `grep` is not a file, whatever it looks like.
            let files: Vec<usize> = match operands {
                Operands::Files => reading.operands,
                Operands::Texts => reading.operands.into_iter().filter(|at| words[*at].glob).collect(),
                Operands::PatternThenFiles(options) if options.iter().any(has) => reading.operands,
                // What the shell puts in place of a pattern is names of files.
                Operands::PatternThenFiles(_) => {
                    reading.operands.iter().copied().filter(|at| !is_first(at) || words[*at].glob).collect()
                }
                Operands::Filter => {
                    let filter = &words[*reading.operands.first()?];
                    // A filter of `jq` can read files and the environment.
                    if filter.glob || !is_plain_filter(&filter.text) {
                        return None;
                    }
                    reading.operands[1..].to_vec()
                }
            };
            of(words, &files)
        }
    }
}

/// Returns what the operands at these places open; `None` if an option is not literal.
fn of(words: &[Word], files: &[usize]) -> Option<Reads> {
    // What the shell puts in place of `*` can begin with a dash, and so be an option.
    let is_odd = |at: usize| words[at].glob && (!files.contains(&at) || words[at].text.starts_with(['*', '?', '[']));
    if (1..words.len()).any(is_odd) {
        return None;
    }
    let file = |at: &usize| NamedPath { path: words[*at].text.clone(), glob: words[*at].glob };
    // `-` is the standard input.
    let files = files.iter().filter(|at| !words[**at].is("-")).map(file).collect();
    Some(Reads { files, ..Reads::default() })
}

fn of_git(words: &[Word]) -> Option<Reads> {
    let is_global = |word: &&Word| ["--no-pager", "-P", "--no-optional-locks"].iter().any(|known| word.is(known));
    let from = 1 + words[1..].iter().take_while(is_global).count();
    let reading = Usage::find(GIT, words, from)?.read(words, from);
    let has = |known: &[&str]| reading.options.iter().any(|(name, _)| known.contains(&name.as_str()));
    let makes_one =
        ["branch", "tag"].iter().any(|command| words[from].is(command)) && !reading.operands.is_empty() && !has(LISTS);
    let is_odd = |word: &Word| word.glob && word.text.starts_with('-');
    (reading.unknown.is_none() && !makes_one && !words.iter().any(is_odd))
        .then(|| Reads { repository: true, ..Reads::default() })
}

/// Whether a program of `jq` sees nothing but its input: it names neither the environment nor other files.
fn is_plain_filter(filter: &str) -> bool {
    !["env", "ENV", "import", "include", "module", "search_list", "input_filename"]
        .iter()
        .any(|name| filter.contains(name))
}
