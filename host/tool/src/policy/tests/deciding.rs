//! Tiers, priorities, criteria, grants, and the decisions that no rule can change.

use serde_json::json;

use super::lines::example;
use super::*;

/// Creates a policy from the rules of several files, each with its tier.
fn tiers(files: &[(Tier, &str)]) -> Policy {
    let rules = files.iter().flat_map(|(tier, text)| {
        Policy::parse(text, PolicyFile { tier: *tier, path: None }).unwrap_or_else(|error| panic!("{error}"))
    });
    Policy::new(rules.collect::<Vec<_>>())
}

fn rule(decision: &str, more: &str) -> String {
    format!("[[rule]]\ndecision = \"{decision}\"\n{more}\n")
}

#[test]
fn the_higher_tier_wins_then_the_priority_then_the_stricter() {
    let check = |files: &[(Tier, String)], wanted: Decision| {
        let files: Vec<(Tier, &str)> = files.iter().map(|(tier, text)| (*tier, text.as_str())).collect();
        assert_eq!(Case::new(&tiers(&files)).decision(), wanted, "{files:?}");
    };
    let of = |decision, priority: u16| rule(decision, &format!("priority = {priority}"));
    check(&[(Tier::User, of("allow", 0)), (Tier::Project, of("deny", 999))], Decision::Allow);
    check(&[(Tier::User, of("allow", 999)), (Tier::Administrator, of("deny", 0))], Decision::Deny);
    check(&[(Tier::Bundle, of("deny", 1)), (Tier::Project, of("ask", 0))], Decision::Ask);
    check(&[(Tier::User, of("allow", 501) + &of("deny", 500))], Decision::Allow);
    check(&[(Tier::User, of("allow", 500) + &of("deny", 500))], Decision::Deny);
    check(&[(Tier::User, of("allow", 500) + &of("ask", 500))], Decision::Ask);
    check(&[(Tier::User, rule("ask", "") + &of("allow", 500))], Decision::Ask);
}

#[test]
fn without_a_rule_the_grants_decide() {
    let policy = Policy::new([]);
    let check = |touches: &str, granted: &str, wanted: Decision| {
        let case = Case { touches: grants(touches), granted: grants(granted), ..Case::new(&policy) };
        assert_eq!(case.decision(), wanted, "{touches} of {granted}");
    };
    check("", "", Decision::Allow);
    check("fs-read=src", "fs-read=.", Decision::Allow);
    check("fs-read=/etc", "fs-read=.", Decision::Ask);
    check("fs-write=src", "fs-read=.", Decision::Ask);
    check("http=example.com", "", Decision::Ask);
}

#[test]
fn policy_tool_that_does_not_name_its_command_does_not_bypass_a_command_rule() {
    let check = |rules: &str, touches: &str, wanted: Decision| {
        let policy = policy(rules);
        let case = Case { touches: grants(touches), granted: grants("process=*;fs-write=."), ..Case::new(&policy) };
        assert_eq!(case.decision(), wanted, "{rules} {touches}");
    };
    let push = |decision| rule(decision, "command = \"git push\"");
    check(&push("deny"), "process=*", Decision::Ask);
    check(&push("ask"), "process=git", Decision::Ask);
    check(&push("deny"), "fs-write=src", Decision::Allow);
    check(&push("allow"), "process=*", Decision::Allow);
    check(&rule("deny", "command = \"git push\"\ntool = \"other\""), "process=*", Decision::Allow);
    check(&(rule("deny", "command = \"git push\"\npriority = 1") + &rule("allow", "")), "process=*", Decision::Allow);
    check(&(push("deny") + &rule("allow", "priority = 1")), "process=*", Decision::Ask);
    check(&(push("deny") + &rule("deny", "priority = 1")), "process=*", Decision::Deny);
    check("", "process=*", Decision::Allow);
}

#[test]
fn every_criterion_has_to_hold() {
    let check = |criteria: &str, change: fn(&mut Case<'_>), wanted: bool| {
        let policy = policy(&rule("deny", criteria));
        let mut case = Case { granted: grants("fs-write=."), touches: grants("fs-write=src"), ..Case::new(&policy) };
        case.arguments = json!({"path": "src/a", "all": true});
        change(&mut case);
        assert_eq!(case.decision() == Decision::Deny, wanted, "{criteria}");
    };
    let as_it_is: fn(&mut Case<'_>) = |_| {};
    check("tool = \"shell\"", as_it_is, true);
    check("tool = [\"edit\", \"sh*\"]", as_it_is, true);
    check("tool = \"mcp_*\"", as_it_is, false);
    check("tool = \"mcp_*\"", |case| case.tool = "mcp_x", true);
    check("tool = \"*\"", as_it_is, true);
    check("plugin = \"shell\"", as_it_is, true);
    check("plugin = \"shell\"", |case| case.plugin = None, false);
    check("digest = \"abc\"", as_it_is, false);
    check("digest = \"abc\"", |case| case.digest = Some("abc"), true);
    check("scope = { fs-write = \"/w/src\" }", as_it_is, true);
    check("scope = { fs-write = \"/w/other\" }", as_it_is, false);
    check("workspace = \"/w\"", as_it_is, true);
    check("workspace = \"/v\"", as_it_is, false);
    check("arguments = '\"all\":true,\"path\":\"src/'", as_it_is, true);
    check("arguments = '^x'", as_it_is, false);
    check("capability = \"fs-write\"", as_it_is, true);
    check("capability = [\"http\", \"process\"]", as_it_is, false);
    check("agent = \"main\"", as_it_is, true);
    check("agent = [\"a\", \"b\"]", as_it_is, false);
    check("mode = [\"plan\", \"default\"]", as_it_is, true);
    check("mode = \"yolo\"", as_it_is, false);
    check("tool = \"shell\"\nagent = \"other\"", as_it_is, false);
    check("command = \"ls\"", as_it_is, false);
}

#[test]
fn a_grant_covers_each_command_by_itself_or_the_whole() {
    let policy = Policy::new([]);
    let check = |granted: &str, line: &str, wanted: Decision| {
        let verdict = Case { granted: grants(granted), ..Case::line(&policy, line) }.verdict();
        assert_eq!(verdict.decision, wanted, "{granted}: {line}\n{}", verdict.explain());
    };
    check("process=git", "git status", Decision::Allow);
    check("process=git", "git status && ls", Decision::Ask);
    check("process=git,ls", "git status && ls", Decision::Allow);
    check("process=git,ls", "git status > x", Decision::Ask);
    check("process=git,ls", "x=y ls", Decision::Ask);
    check("process=git,ls", "ls $(cat x)", Decision::Ask);
    check("process=cargo test", "cargo test --all; echo done", Decision::Allow);
    check("process=cargo test", "cargo build", Decision::Ask);
    check("process=cargo test", "cargo t$x", Decision::Ask);
    check("process=find", "find . -delete", Decision::Ask);
    check("process=find . -delete", "find . -delete", Decision::Allow);
    check("process=cargo build $", "cargo build; echo done", Decision::Allow);
    check("process=cargo build $", "cargo build --release", Decision::Ask);
    check("process=cargo build $", "cargo build $x", Decision::Ask);
    check("process=sh -c make $", "make", Decision::Allow);
    check("process=sh -c make $", "make x", Decision::Ask);
    check("process=*", "cat x | sh > y; $z", Decision::Allow);
    check("process=sh", "cat x | sh > y; $z", Decision::Allow);
    check("process=sh -c", "if ", Decision::Allow);
    check("process=*", "", Decision::Allow);
    check("process=git", "", Decision::Ask);
}

#[test]
fn a_program_without_a_shell_is_decided_like_a_line_of_it() {
    let policy = example();
    let check = |argv: &[&str], wanted: Decision| {
        let argv = Some(argv.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(Case { argv, ..Case::new(&policy) }.decision(), wanted);
    };
    check(&["ls", "*", "$x"], Decision::Allow);
    check(&["/bin/rm", "x"], Decision::Deny);
    check(&["env", "rm"], Decision::Deny);
    check(&["make"], Decision::Ask);
    check(&["echo", "a > .git/x; rm y"], Decision::Allow);
    check(&[], Decision::Ask);
    check(&[""], Decision::Ask);
}

#[test]
fn policy_call_that_touches_more_than_a_command_needs_a_grant_or_is_asked_about() {
    let policy = example();
    let case = Case { touches: grants("process=sh;http=example.com"), ..Case::line(&policy, "ls") };
    assert_eq!(case.decision(), Decision::Ask);
    let case = Case { granted: grants("http=example.com"), ..case };
    assert_eq!(case.decision(), Decision::Allow);
}

#[test]
fn destroying_what_git_keeps_is_asked_about_whatever_is_granted() {
    let policy = Policy::new([]);
    let check = |line: &str, wanted: Decision| {
        let case = Case { granted: grants("process=*"), ..Case::line(&policy, line) };
        let verdict = case.verdict();
        assert_eq!(verdict.decision, wanted, "{line}\n{}", verdict.explain());
        assert_eq!(Case { mode: ApprovalMode::AutoEdit, ..case }.decision(), wanted, "{line}");
        let yolo = Case { granted: grants("process=*"), mode: ApprovalMode::Yolo, ..Case::line(&policy, line) };
        assert_eq!(yolo.decision(), Decision::Allow, "{line}");
    };
    for line in [
        "git push -f",
        "git push --force",
        "git push --force-with-lease=x",
        "git push --forc",
        "git push origin +main",
        "git push origin :main",
        "git push --mirror",
        "git push --delete origin x",
        "git push -d origin x",
        "git -C x push -f",
        "git -c a=b push -f",
        "git --git-dir=x -P push -uf",
        "/usr/bin/git push -f",
        "ls; git push -f",
        "env git push -f",
        "git reset --hard",
        "git reset --har HEAD~1",
        "git clean -fd",
        "git clean -fdx .",
        "git checkout -- x",
        "git checkout .",
        "git checkout -f main",
        "git checkout HEAD x",
        "git restore x",
        "git restore -SW x",
        "git switch --discard-changes main",
        "git branch -D x",
        "git branch -df x",
        "git branch --delete --force x",
        "git stash drop",
        "git stash clear",
        "git reflog expire --all",
        "git gc --prune=now",
        "git filter-branch x",
        "git update-ref -d x",
        "git worktree remove --force x",
        "git worktree remove -f x",
        "git tag -d x",
        "git rm -rf .",
        "git rm --force x",
        "git mv -f a b",
        "git read-tree -u --reset HEAD",
        "git checkout-index -f -a",
        "git fetch origin +main:main",
        "git fetch -f origin main:main",
        "git -C x fetch origin +a:b",
        "git pull origin +main:main",
        "git update-ref refs/heads/main x",
        "git update-ref --stdin",
        "git repack -ad",
        "git fast-import --force",
        "git send-pack x +main",
        "git replace -d x",
        "git notes remove x",
        "git submodule update --force",
        "git worktree add -B main x",
        "echo $(git reset --hard)",
        "sudo ls",
        "shutdown now",
    ] {
        check(line, Decision::Ask);
    }
    for line in [
        "git push",
        "git push origin main",
        "git reset x",
        "git reset --soft HEAD~1",
        "git clean -n",
        "git clean -ndx",
        "git checkout main",
        "git checkout -b x main",
        "git restore --staged x",
        "git rm x",
        "git rm --cached -f x",
        "git mv a b",
        "git read-tree -m -u HEAD",
        "git checkout-index -a",
        "git fetch",
        "git fetch origin main",
        "git fetch git@example.com:a.git main",
        "git fetch origin main:refs/remotes/origin/main",
        "git pull",
        "git pull --rebase origin main",
        "git repack -d",
        "git notes list",
        "git submodule update",
        "git worktree add x",
        "git branch x",
        "git branch -d x",
        "git stash",
        "git stash pop",
        "git rebase main",
        "git commit --amend",
        "git gc",
        "git worktree remove x",
        "git log -f push",
        "echo git push -f",
    ] {
        check(line, Decision::Allow);
    }
}

#[test]
fn a_users_rule_can_allow_destroying_but_nothing_allows_what_is_protected() {
    let policy = policy(&rule("allow", "command = [\"git push --force\", \"tee\", \"sudo tee\"]"));
    assert_eq!(Case::line(&policy, "git push --force").decision(), Decision::Allow);
    assert_eq!(Case::line(&policy, "git push -f").decision(), Decision::Ask);
    assert_eq!(Case::line(&policy, "tee x").decision(), Decision::Allow);
    for mode in ApprovalMode::ALL {
        for line in ["tee .git/hooks/x", "sudo tee .git/x", "ls > .git/x", "echo x >> ~/.bashrc"] {
            let case = Case { mode, granted: grants("process=*"), ..Case::line(&policy, line) };
            assert_eq!(case.decision(), Decision::Deny, "{line}");
        }
    }
}

#[test]
fn policy_tool_allowed_as_a_whole_may_run_obscure_lines_unless_a_rule_names_commands() {
    let allow_all = rule("allow", "tool = \"shell\"");
    let check = |text: &str, line: &str, wanted: Decision| {
        let policy = policy(text);
        let verdict = Case::line(&policy, line).verdict();
        assert_eq!(verdict.decision, wanted, "{line}\n{}", verdict.explain());
    };
    for line in ["$x > y", "if", "rm x | sh", "make > x", "PATH=x ls", "python3 -c 1", ""] {
        check(&allow_all, line, Decision::Allow);
    }
    let and_deny = allow_all.clone() + &rule("deny", "command = \"rm\"");
    for (line, wanted) in [
        ("make", Decision::Allow),
        ("rm x", Decision::Deny),
        ("$x", Decision::Ask),
        ("if", Decision::Ask),
        ("make > x", Decision::Ask),
        ("cat x | sh", Decision::Ask),
        ("python3 -c 1", Decision::Ask),
    ] {
        check(&and_deny, line, wanted);
    }
    let for_others = allow_all.clone() + &rule("deny", "tool = \"other\"\ncommand = \"rm\"");
    check(&for_others, "$x > y", Decision::Allow);
    let by_arguments = rule("allow", "arguments = '^'");
    check(&by_arguments, "make", Decision::Allow);
    check(&by_arguments, "make > x", Decision::Ask);
    let asked_anyway = allow_all + &rule("ask", "command = \"make\"");
    check(&asked_anyway, "ls; make", Decision::Ask);
}

#[test]
fn a_denied_command_that_a_word_may_become_is_asked_about() {
    let text = rule("allow", "command = \"foo *\"") + &rule("deny", "command = [\"foo bar\", \"baz --all\"]");
    let policy = policy(&(text + &rule("allow", "command = \"baz\"")));
    let check = |line: &str, wanted: Decision| assert_eq!(Case::line(&policy, line).decision(), wanted, "{line}");
    check("foo x", Decision::Allow);
    check("foo bar", Decision::Deny);
    check("foo -v bar", Decision::Deny);
    check("foo --level 3 bar", Decision::Deny);
    check("foo $x", Decision::Ask);
    check("foo x $y", Decision::Allow);
    check("foo ba*", Decision::Ask);
    check("foo -v $x", Decision::Ask);
    check("baz --all=yes", Decision::Deny);
    check("baz -x --all", Decision::Deny);
}

#[test]
fn a_tool_that_is_denied_can_be_allowed_some_commands() {
    let text =
        rule("deny", "tool = \"shell\"\nmessage = \"no shell\"") + &rule("allow", "command = \"ls\"\npriority = 600");
    let policy = policy(&text);
    for (line, wanted) in [
        ("ls -l", Decision::Allow),
        ("ls; ls", Decision::Allow),
        ("ls; make", Decision::Deny),
        ("ls (", Decision::Deny),
        ("", Decision::Deny),
        ("ls > x", Decision::Ask),
        ("sh -c 'ls'", Decision::Allow),
        ("echo x", Decision::Deny),
    ] {
        let verdict = Case::line(&policy, line).verdict();
        assert_eq!(verdict.decision, wanted, "{line}\n{}", verdict.explain());
        let message = (wanted == Decision::Deny).then_some("no shell");
        assert_eq!(verdict.message.as_deref(), message, "{line}");
    }
}

#[test]
fn the_message_is_that_of_the_rule_that_denies() {
    let policy = example();
    let verdict = Case::line(&policy, "ls; rm x; make").verdict();
    assert_eq!(verdict.message.as_deref(), Some("use the tools instead"));
    assert_eq!(Case::line(&policy, "make").verdict().message, None);
}

#[test]
fn an_explanation_names_each_part_with_its_rule() {
    let policy = example();
    let verdict = Case::line(&policy, "ls && rm x > y\u{1b}").verdict();
    let explained = verdict.explain();
    assert!(explained.starts_with("deny: use the tools instead\n"), "{explained}");
    assert!(explained.contains("`ls`: allow, by the rule at policy.toml:3 (user), priority 500"), "{explained}");
    assert!(explained.contains("policy.toml:14 (user)") && explained.contains("it writes `"), "{explained}");
    assert!(!explained.contains('\u{1b}'), "{explained:?}");
}

#[test]
fn a_tool_that_is_always_denied_is_never_offered() {
    let check = |text: &str, tool: &str, wanted: bool| {
        let policy = policy(text);
        let (mode, workspace) = (ApprovalMode::Default, Path::new(WORKSPACE));
        let who = Who { tool, plugin: Some("p"), digest: None, agent: "main", mode, workspace };
        assert_eq!(policy.never(&who).is_some(), wanted, "{text}");
    };
    let deny = rule("deny", "tool = \"web_*\"");
    check(&deny, "web_fetch", true);
    check(&deny, "ls", false);
    check(&rule("deny", "tool = \"web_fetch\"\nmode = \"yolo\""), "web_fetch", false);
    check(&rule("deny", "tool = \"web_fetch\"\narguments = 'x'"), "web_fetch", false);
    check(&rule("deny", "tool = \"web_fetch\"\ncapability = \"http\""), "web_fetch", false);
    check(
        &(deny.clone() + &rule("allow", "tool = \"web_fetch\"\narguments = 'x'\npriority = 600")),
        "web_fetch",
        false,
    );
    check(&(deny + &rule("allow", "tool = \"web_fetch\"\npriority = 400")), "web_fetch", true);
}

// promise policy.private: A rule that allows a tool reaches private addresses only where its `scope` names them.
#[test]
fn policy_rule_for_a_tool_reaches_private_addresses_only_by_name() {
    let check = |conditions: &str, touches: &str, granted: &str, decision: Decision| {
        let policy = policy(&rule("allow", conditions));
        let (touches, granted) = (grants(touches), grants(granted));
        let case = Case { tool: "web_fetch", plugin: Some("web_fetch"), touches, granted, ..Case::new(&policy) };
        let verdict = case.verdict();
        assert_eq!(verdict.decision, decision, "{conditions}: {}", verdict.explain());
        let says = verdict.explain().contains("scope = { http = ");
        assert_eq!(says, decision == Decision::Ask, "{}", verdict.explain());
    };
    const TOOL: &str = "tool = \"web_fetch\"";
    check(TOOL, "http=GET example.com -private", "", Decision::Allow);
    check(TOOL, "http=api.example.com", "", Decision::Allow);
    for private in [
        "127.0.0.1:80",
        "169.254.169.254:80",
        "localhost:8080",
        "localhost.:8080",
        "10.1.2.3:443",
        "[::1]:80",
        "[::ffff:127.0.0.1]:80",
        "*:80 +private",
    ] {
        let touches = format!("http=GET {private}");
        check(TOOL, &touches, "", Decision::Ask);
        check("capability = \"http\"", &touches, "", Decision::Ask);
        check("tool = \"web_fetch\"\narguments = '.'", &touches, "", Decision::Ask);
        check(TOOL, &touches, &touches, Decision::Allow);
        check(&format!("{TOOL}\nscope = {{ http = \"{private}\" }}"), &touches, "", Decision::Allow);
    }
    // A mistake in how much a rule covers is the rule's: it denies what it names.
    let policy = policy(&rule("deny", TOOL));
    let case = Case { tool: "web_fetch", touches: grants("http=127.0.0.1:80"), ..Case::new(&policy) };
    assert_eq!(case.decision(), Decision::Deny);
}

#[test]
fn an_added_rule_counts_like_one_from_a_file() {
    let mut policy = example();
    assert_eq!(Case::line(&policy, "make x").decision(), Decision::Ask);
    let command = vec![vec!["make".to_owned()].into()];
    policy.add(Rule { command, ..Rule::new(Decision::Allow, RuleSource::from_tier(Tier::User)) });
    assert_eq!(Case::line(&policy, "make x").decision(), Decision::Allow);
    policy.add(Rule::new(Decision::Deny, RuleSource::from_tier(Tier::Administrator)));
    assert_eq!(Case::line(&policy, "make x").decision(), Decision::Deny);
    assert!(policy.rules().is_sorted_by_key(Rule::order));
}

#[test]
fn no_command_writes_into_the_hosts_own_folders_whatever_is_granted() {
    let own = ["/home/u/.config/host", "/home/u/.local/state/host", "/home/u/.codex/hooks.json", "/data/host"];
    let policy = Policy::new([]).protecting(own.map(PathBuf::from), Some(PathBuf::from("/home/u")));
    let everything = Grants::none().with(Scope::parse(Capability::Process, "*", Path::new("/w")).expect("a scope"));
    let decided = |line: &str| {
        let argv = Some(["sh", "-c", line].map(str::to_owned).to_vec());
        let case = Case { argv, granted: everything.clone(), mode: ApprovalMode::Yolo, ..Case::new(&policy) };
        case.verdict().decision
    };
    for line in [
        "echo x > /home/u/.config/host/policies/answers.toml",
        "echo x >> ~/.config/host/config.toml",
        "echo x > \"$HOME/.config/host/config.toml\"",
        "tee /home/u/x/../.config/host/config.toml",
        "cp x /home/u/.config/host/",
        "rm -rf ~/.config/host",
        "cd src && sed -i s/a/b/ /home/u/.local/state/host/sessions/1.jsonl",
        "cp b ~/.codex/hooks.json",
        "cp b \"$x/data/host/keys\"",
        // Behind a pattern, wherever it is.
        "cp b ~/.conf*/host/policies/p.toml",
        "cp b ~/.config/h?st/policies/p.toml",
        "cp b /home/*/.config/host/config.toml",
        "mv b /home/u/.[c]odex/hooks.json",
        "echo x > /h*/u/.co*/host/config.toml",
        "tee \"$HOME\"/.co*/host/config.toml",
        "cp b .gi*/config",
        "tee .gi?/config",
        "mv b ./.g[i]t/config",
        "cp b src/../.gi*/hooks/x",
        "cp b */.gi*/config",
        "cp b .ho*/config.toml",
        "cp b ~/.ba*hrc",
        "cp b ~/.conf*/fish/config.fish",
    ] {
        assert_eq!(decided(line), Decision::Deny, "{line}");
    }
    for line in [
        "cat ~/.config/host/config.toml",
        "touch host/state",
        "rm -r /home/u/.config/other",
        "echo x > config/host",
        "cp b /usr/share/host/x",
        "cp b \"$x/state/host/y\"",
        "cp b src*/x",
        "cp b ~/*/config",
        "cat .gi*/config",
    ] {
        assert_eq!(decided(line), Decision::Allow, "{line}");
    }
}

#[test]
fn policy_shell_that_enters_a_link_out_of_the_workspace_is_asked_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let (workspace, outside) = (folder.path().join("w"), folder.path().join("outside"));
    for path in [workspace.join("a/b"), workspace.join(".git/hooks"), outside.join("b")] {
        std::fs::create_dir_all(path).expect("a folder");
    }
    for (link, target) in [("out", "../outside"), ("a/out", "../../outside"), ("in", "a/b"), ("hooks", ".git/hooks")] {
        std::os::unix::fs::symlink(target, workspace.join(link)).expect("a link");
    }
    let policy = policy(&rule("allow", "command = \"ls\""));
    for (line, wanted) in [
        ("cd a && ls", Decision::Allow),
        ("cd a && cd b && ls", Decision::Allow),
        ("cd in && ls", Decision::Allow),
        ("cd not-there && ls", Decision::Allow),
        ("cd out && ls", Decision::Ask),
        ("cd out/b && ls", Decision::Ask),
        ("cd a/out; ls", Decision::Ask),
        ("cd a && cd out && ls", Decision::Ask),
        ("(cd a; cd out); ls", Decision::Ask),
        ("cd hooks && ls", Decision::Ask),
    ] {
        let case = Case { workspace: &workspace, ..Case::line(&policy, line) };
        assert_eq!(case.decision(), wanted, "{line}");
    }
}
