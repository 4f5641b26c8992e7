//! Programs that search, sort, compare and show text and facts about files.

use super::{Program, Understood, Writes};

/// A program with a table of its options.
const fn with_table(names: &'static [&'static str], table: &'static str) -> Program {
    Program { understood: Understood::Table(table), ..Program::named(names) }
}

/// The same, and an option names a file that it writes.
const fn writes_output(names: &'static [&'static str], table: &'static str) -> Program {
    Program { writes: Writes::Output, ..with_table(names, table) }
}

pub(super) const ROWS: &[Program] = &[
    Program {
        understood: Understood::Everything,
        ..Program::named(&[
            "arch", "b2sum", "base32", "base64", "basename", "cat", "cksum", "cmp", "column", "comm", "cut", "df",
            "dirname", "du", "egrep", "expand", "expr", "fgrep", "fmt", "fold", "free", "getconf", "grep", "groups",
            "head", "hexdump", "id", "join", "jq", "ls", "lscpu", "md5sum", "nl", "nproc", "numfmt", "od", "paste",
            "printenv", "ps", "readlink", "realpath", "rev", "seq", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
            "sha512sum", "sleep", "stat", "sum", "tac", "tail", "tr", "tty", "uname", "unexpand", "uptime", "wc",
            "whoami",
        ])
    },
    with_table(
        &["rg"],
        ". -i -s -S -w -x -v -n -N -c -l -L -o -F -P -U -u -a -H -h -q -p -. -0 -e= -f= -g= -t= -T= -A= -B= -C= -m= -r= -j= -M=
    --ignore-case --case-sensitive --smart-case --word-regexp --line-regexp --invert-match --line-number
    --no-line-number --count --count-matches --files-with-matches --files-without-match --only-matching
    --fixed-strings --pcre2 --multiline --multiline-dotall --unrestricted --text --with-filename --no-filename --quiet
    --pretty --hidden --no-ignore --no-ignore-vcs --no-heading --heading --column --json --files --stats --trim --vimgrep
    --null --no-messages --follow --one-file-system --no-config --crlf --debug --type-list --passthru --version
    --regexp= --file= --glob= --iglob= --type= --type-not= --after-context= --before-context= --context= --max-count=
    --max-depth= --max-filesize= --max-columns= --replace= --threads= --color= --colors= --sort= --sortr= --encoding=
    --engine= --context-separator= --field-match-separator= --path-separator= : files\n",
    ),
    writes_output(
        &["sort"],
        ". -b -d -f -g -h -i -M -n -R -r -s -u -V -z -c -C -m -k= -t= -S= --ignore-leading-blanks --dictionary-order
    --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort --reverse --stable --unique --version-sort
    --zero-terminated --check --merge --key= --field-separator= --parallel= : files\n",
    ),
    // A second operand is written.
    with_table(
        &["uniq"],
        ". -c -d -D -i -u -z -f= -s= -w= --count --repeated --all-repeated --ignore-case --unique --zero-terminated
    --skip-fields= --skip-chars= --check-chars= : file\n",
    ),
    with_table(&["xxd"], ". -a -b -e -i -p -u -l= -s= -c= -g= -len= -seek= -cols= : file\n"),
    writes_output(
        &["tree"],
        ". -a -d -f -i -l -p -s -h -u -g -D -F -r -t -v -C -n -J -L= -I= -P= --noreport --dirsfirst --gitignore --prune
    --filelimit= --du --inodes : files\n",
    ),
    with_table(
        &["diff"],
        ". -a -b -B -c -d -e -E -i -n -N -p -q -r -s -t -T -u -w -y -Z -U= -C= -W= -x= -X= -I= -L= -F= -D=
    --brief --unified --context --recursive --new-file --text --ignore-case --ignore-all-space --ignore-space-change
    --ignore-blank-lines --report-identical-files --side-by-side --suppress-common-lines --width= --exclude=
    --ignore-matching-lines= --label= --show-function-line= --color --no-dereference --minimal --normal : files\n",
    ),
    with_table(
        &["date"],
        ". -u -R -I -d= -r= --utc --universal --rfc-email --iso-8601 --rfc-3339= --date= --reference= : formats\n",
    ),
    with_table(&["file"], ". -b -i -k -L -h -N -r -0 -F= --brief --mime --mime-type --mime-encoding : files\n"),
    with_table(&["yq"], ". -r -c -e -P -C -M -N -n -j -o= -p= -I= --raw-output --output-format= --input-format= : files\n"),
];
