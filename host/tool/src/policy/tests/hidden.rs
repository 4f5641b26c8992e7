//! A denied command hidden in a line, and lines that are nothing at all.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::lines::example;
use super::*;
use crate::policy::shell::quote;

/// Lines with another in them, at `@`; at `#` it is one quoted word, at `%` it stands in backquotes.
const AROUND: &[&str] = &[
    "@",
    "ls; @",
    "@; ls",
    "ls && @",
    "ls || @",
    "ls | @",
    "@ | cat",
    "@ & ls",
    "ls\n@\n",
    "{ @; }",
    "(@)",
    "( ls; @ )",
    "! @",
    "if true; then @; fi",
    "if @; then :; fi",
    "while @; do break; done",
    "until @; do break; done",
    "for f in a b; do @; done",
    "for f in $(@); do :; done",
    "case x in x) @;; esac",
    "case $(@) in *) ;; esac",
    "case x in \"$(@)\") ;; x) ;; esac",
    "f() { @; }; f",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo a\"b $(@ ) c\"d",
    "echo %",
    "echo \"a % b\"",
    "echo ${none:-$(@)}",
    "echo \"${none:-$(@)}\"",
    "echo ${none-%}",
    "echo $(($(@)0+1))",
    "cat < /dev/null$(@)",
    "ls > /dev/null 2>&1; @",
    "x=$(@)",
    "x=$(@) ls",
    "LANG=$(@) ls",
    "cat <<E\n$(@)\nE\n",
    "cat <<-E\n\ta %\n\tE\n",
    "cat <<'E'\nx\nE\n@",
    "eval #",
    "eval ls\\; #",
    "sh -c #",
    "sh -ec #",
    "bash -c #",
    "env sh -c #",
    "timeout 5 sh -c #",
    "nice -n 1 sh -c #",
    "nohup sh -c #",
    "command eval #",
    "exec sh -c #",
    "echo a | xargs sh -c #",
    "echo a | xargs -I{} sh -c #",
    "find . -maxdepth 0 -exec sh -c # \\;",
    "command -p sh -c #",
    "setsid sh -c #",
    "trap # EXIT",
    "x=y; @",
    "# no\n@",
    "ls # no\n@",
    "ls \\\n; @",
    "echo '#' \"'\" \\'; @",
    "\n\n @",
    "stdbuf -o0 sh -c #",
    "env -i PATH=\"$PATH\" MARK=\"$MARK\" sh -c #",
    "time sh -c #",
    "[ -f x ] || @",
    "cd . && @",
    "true && { ls; } && @",
    "bash -c 'eval \"$1\"' x #",
    "echo # | sh",
    "sh <<'E'\n@\nE\n",
    "cat <(@)",
    "$(echo sh) -c #",
    "s=sh; $s -c #",
];

/// Ways to write the command `rm x`.
const WRITTEN: &[&str] = &[
    "rm x",
    "rm  -f\tx",
    "\\rm x",
    "r\\m x",
    "'rm' x",
    "\"rm\" x",
    "r''m x",
    "r\"\"m x",
    "'r'm x",
    "\"r\"'m' x",
    "rm\\\n x",
    "r\\\nm x",
    "<x rm x",
    "2>&1 rm x",
    "A=b rm x",
    "env rm x",
    "env A=b rm x",
    "nice rm x",
    "nice -n 3 rm x",
    "nohup rm x",
    "timeout 5 rm x",
    "timeout -k 1 5 rm x",
    "command rm x",
    "exec rm x",
    "eval rm x",
    "eval -- rm x",
    "eval 'r'm x",
    "echo x | xargs rm",
    "echo x | xargs -n 1 rm",
    "echo rm | xargs -I{} {} x",
    "echo x | xargs -I{} rm {}",
    "find . -maxdepth 0 -exec rm {} \\;",
    "find . -maxdepth 0 -exec rm {} +",
    "r$()m x",
    "r${none}m x",
    "$(echo rm) x",
    "`echo rm` x",
    "x=rm; $x x",
    "x=rm; eval \"$x\" x",
    "r[m] x",
    "r? x",
    "for c in rm; do $c x; done",
    "set -- rm x; \"$@\"",
    "alias ls=rm\nls x",
    "ls() { rm x; }; ls",
    "PATH=. rm x; rm x",
    "stdbuf -oL rm x",
    "setsid -w rm x",
    "time -p rm x",
    "time ! rm x",
    "time coproc rm x",
    "$'rm' x",
    "$'\\x72m' x",
    "{rm,x}",
    "rm>/dev/null x",
    "rm;",
    "rm&",
    "rm|cat",
    "rm<x",
    "(rm)",
    "command -- rm x",
    "env -- rm x",
    "env -S 'rm x'",
    "env -u A rm x",
    "sh -c 'r\"\"m x'",
    "echo 'rm x' | sh",
    "xargs rm </dev/null",
    "read c <<E\nrm\nE\n$c x",
    "printf 'rm x' | sh",
    "while rm x; do break; done",
    "coproc rm x",
    "((rm) x)",
    "! rm x",
    "[[ -n $(rm x) ]]",
    "echo $((a[$(rm x)]))",
    "a='b[$(rm x)]'; echo $((a))",
    "test -v 'a[$(rm x)]'",
    "printf -v 'a[$(rm x)]' y",
    "echo ${a[$(rm x)]}",
    "x='$(rm x)'; echo \"${x@P}\"",
    "sed '1e rm x' x",
    "awk 'BEGIN { system(\"rm x\") }'",
    "command eval rm x",
    "builtin eval rm x",
    "exec -a y rm x",
    "trap 'rm x' EXIT",
    "unset -v 'a[$(rm x)]'",
    "let 'a[$(rm x)]=1'",
    "declare 'a[$(rm x)]=1'",
    "read 'a[$(rm x)]' <x",
    "export A=$(rm x)",
    ". ./script",
    "sh script",
    "sh < script",
    "./script",
    "cat script | sh",
    "bash --rcfile script -i",
    "BASH_ENV=./script bash -c :",
    "ENV=./script sh -i -c :",
    "awk -f awkscript",
    "sort --compress-program=rm x",
    "busybox rm x",
    "find . -name 'x' -ok rm {} \\;",
    "function f { rm x; }; f",
    "select x in a; do rm x; done",
];

/// The line around the other.
fn around(outer: &str, inner: &str) -> String {
    let backquoted = format!("`{}`", inner.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$"));
    outer.replacen('@', inner, 1).replacen(" #", &format!(" {}", quote(inner)), 1).replacen('%', &backquoted, 1)
}

/// A line that would run `rm`, as far as its shell knows what it is written with.
pub(super) fn hiding() -> impl Strategy<Value = String> {
    (select(WRITTEN), vec(select(AROUND), 0..4))
        .prop_map(|(written, outer)| outer.iter().fold(written.to_owned(), |inner, outer| around(outer, &inner)))
}

/// Pieces of lines, in no order.
pub(super) fn soup() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "rm",
        "r",
        "m",
        "x",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "|",
        "&",
        "'",
        "\"",
        "\\",
        "$(",
        ")",
        "`",
        "${a:-",
        "}",
        "$x",
        "(",
        "{",
        "<<E\n",
        "\nE\n",
        "<<'E'\n",
        "#",
        "if ",
        "; then ",
        "; fi",
        "case x in ",
        "esac",
        ";;",
        "$((",
        "))",
        "echo ",
        "cat ",
        "ls ",
        "eval ",
        "xargs ",
        "sh -c ",
        "env ",
        "a=",
        "<(",
        "$'",
        "\t",
        "\r",
        ">",
        "<",
        "/dev/null",
        "2>&1",
        "*",
        "[",
        "]",
        "!",
        "&&",
        "||",
        "~",
        "\u{a0}",
        "rm x",
        " rm x ",
        "; rm x",
        "$(rm x)",
        "`rm x`",
        "\\\n",
        "a[",
        "for i in ",
        "; do ",
        "; done",
        "time ",
        "command ",
        "exec ",
        "-",
        "--",
        "{a,b}",
        "<<-E\n\t",
        "\tE\n",
        "$\"",
        "f()",
        "[[ ",
        " ]]",
        "1",
        "=",
        "$",
        "%",
        "@",
        "?",
        "+",
        ":",
        "é",
    ];
    vec(select(PIECES), 1..14).prop_map(|pieces| pieces.concat())
}

/// Words of programs that run others, in no order.
pub(super) fn wrapped() -> impl Strategy<Value = String> {
    const WORDS: &str = "rm rm rm x x 'rm_x' env env -i -u A=b -S -C . -- nice -n 3 -3 nohup timeout 5 1 -k -s KILL \
                         --signal=KILL --foreground --preserve-status -v time -p ! coproc stdbuf -o0 -oL -o L setsid -w -f command \
                         -V exec -a y -c -l eval builtin xargs -I {} -I{} -n1 -0 -t -r -L 1 --max-args=1 -i --replace sh sh -e -ec -s \
                         -x bash -o pipefail -O +e --norc --posix --rcfile script find . -exec -execdir ; \\; + -maxdepth 0 -name -ok - \
                         echo cat sed awk sort -e 1p 'e' trap EXIT . ./script test [ ] printf -v read cd type hash export unset \
                         {rm,x} $x \"$x\" ~ * busybox ls true | && ; & -cx -xc -lc --login --version --help -nrm --argv0=y -vS'rm_x'";
    let words: Vec<String> = WORDS.split_whitespace().map(|word| word.replace('_', " ")).collect();
    let line = vec(select(words), 1..9).prop_map(|words| words.join(" "));
    (select(vec!["", "echo x | ", "echo rm x | ", "x=rm; ", "echo 'rm x' | "]), line)
        .prop_map(|(before, line)| format!("{before}{line}"))
}

/// A policy that allows all but one command.
pub(super) fn all_but_rm() -> Policy {
    let text = "[[rule]]\ntool = \"shell\"\ndecision = \"allow\"\n[[rule]]\ndecision = \"deny\"\ncommand = \"rm\"\n";
    policy(text)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_hidden_command_is_never_allowed(line in hiding()) {
        for policy in [example(), all_but_rm()] {
            let verdict = Case::line(&policy, &line).verdict();
            prop_assert_ne!(verdict.decision, Decision::Allow, "{}\n{}", line, verdict.explain());
        }
    }

    #[test]
    fn any_text_is_decided(line in "\\PC{0,60}|(?s:.{0,40})", soup in soup(), wrapped in wrapped()) {
        let policy = example();
        for line in [line, soup, wrapped] {
            let verdict = Case::line(&policy, &line).verdict();
            prop_assert!(!verdict.reasons.is_empty());
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            drop(suggested_prefix(&argv));
            drop(simple_commands(&argv));
            drop(Policy::parse(&line, PolicyFile { tier: Tier::Project, path: None }));
            let verdict = Case { argv: Some(argv), ..Case::new(&policy) }.verdict();
            prop_assert!(!verdict.reasons.is_empty());
        }
    }
}
