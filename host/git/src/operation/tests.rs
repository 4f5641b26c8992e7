//! Files of operations that git writes, and others that would run something.

use super::*;

fn check(check: fn(&[u8]) -> Checked, good: &[&str], bad: &[&str]) {
    for text in good {
        assert_eq!(check(text.as_bytes()), Ok(()), "{text:?}");
    }
    for text in bad {
        assert!(check(text.as_bytes()).is_err(), "{text:?}");
    }
}

#[test]
fn operations_run_nothing_when_they_go_on() {
    check(
        commands,
        &["", "pick abc1234 x\n\n# y\n", "fixup -C abc x\nlabel onto\nreset onto\nmerge -C abc x # y\nbreak\nnoop\n"],
        &[
            "exec touch x\n",
            "x touch x\n",
            "pick abc\n\tx\ttouch x\n",
            " exec y\n",
            "execute\n",
            "!touch x\n",
            "PICK a\n",
        ],
    );
    check(
        author,
        &[
            "GIT_AUTHOR_NAME='A'\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='@1 +0000'\n",
            "GIT_AUTHOR_NAME='A'\\''B C'\nGIT_AUTHOR_EMAIL=''\nGIT_AUTHOR_DATE='1'",
        ],
        &[
            "",
            "GIT_AUTHOR_NAME='A'\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='1'\nGIT_EDITOR='touch x'\n",
            "GIT_AUTHOR_NAME='A';touch x\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='1'\n",
            "GIT_AUTHOR_NAME=$(touch x)\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='1'\n",
            "GIT_AUTHOR_NAME='A' touch\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='1'\n",
            "GIT_AUTHOR_NAME='A\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='1'\n",
        ],
    );
    check(strategy, &["ort", "recursive\n"], &["", "evil", "ort x", "../x"]);
    check(
        strategy_options,
        &["", " '--ours'", "--theirs --subtree=a", "'diff-algorithm=histogram'"],
        &["--evil", "$(x)", "'--ours'x", "'a"],
    );
    check(apply_options, &["", " '-C3' '--whitespace=fix'", "-p1"], &["'--directory=/x'", "'--unsafe-paths'", "-p"]);
    check(signing, &["", "-S", "-Sada@example.com"], &["-S--x", "x", "-Sa b", "--gpg-sign=$(x)"]);
    check(
        sequencer_options,
        &["", "[options]\n\tsignoff = true\n\tmainline = 1\n\tstrategy = ort\n\tstrategy-option = ours\n"],
        &["[options]\n\tstrategy = evil\n", "[core]\n\teditor = x\n", "[options]\n\tx = true\n", "[options"],
    );
    check(quoted, &["", " '--' 'f'", "'a'\\''b'"], &["x", "'a'b", "'a", "$(x)", "'a' b"]);
    check(
        bisect_log,
        &["# bad: [x] y\ngit bisect start 'main' 'a b' '--' 'f'\ngit bisect good abc\n", ""],
        &["touch x\n", "git bisect start $(x)\n", "git bisect start 'a';x\n", "git bisect run; x\n"],
    );
}
