//! `host import`, the real binary, with files as other agents write them: what is shown is written and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use serde_json::Value;

const CLAUDE: &str = include_str!("foreign_config/claude.json");
const CLAUDE_SETTINGS: &str = include_str!("foreign_config/claude-settings.json");
const CODEX: &str = include_str!("foreign_config/codex.toml");
const CODEX_RULES: &str = include_str!("foreign_config/codex.rules");
const CODEX_HOOKS: &str = include_str!("hooks/fixtures/codex-hooks.json");
const GEMINI: &str = include_str!("foreign_config/gemini.json");

/// A home with all that Claude Code keeps there.
fn claude() -> Host {
    Host::new(["import", "claude"])
        .home_file(".claude.json", CLAUDE)
        .home_file(".claude/settings.json", CLAUDE_SETTINGS)
        .home_file(".claude/commands/review.md", "Review $ARGUMENTS\n")
        .home_file(".claude/commands/git/sync.md", "Sync\n")
        .home_file(".claude/commands/notes.txt", "no command\n")
        .home_file(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDFs\n---\nRead PDFs\n")
        .home_file(".claude/skills/pdf/scripts/read.sh", "#!/bin/sh\n")
}

fn read(host: &Host, path: &str) -> String {
    fs::read_to_string(host.home().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn import(host: &Host, arguments: &[&str]) -> Ended {
    let all: Vec<&str> = ["import"].into_iter().chain(arguments.iter().copied()).collect();
    let ended = host.run_of(&all);
    assert!(!ended.stdout.contains("s3cret") && !ended.stderr.contains("s3cret"), "{ended:?}");
    ended
}

/// Everything beneath the home but the caches, by path and content.
fn files(host: &Host) -> Vec<(String, String)> {
    let (mut all, mut folders) = (Vec::new(), vec![host.home().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => all.push((
                    path.display().to_string(),
                    String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned(),
                )),
            }
        }
    }
    all.sort();
    all
}

/// The states of a plan's items, with their names.
fn states(plan: &Value) -> Vec<String> {
    let items = plan["items"].as_array().expect("a list").iter();
    items
        .map(|item| format!("{} {}", item["state"].as_str().expect("a word"), item["name"].as_str().expect("text")))
        .collect()
}

// promise import.plan: `host import` writes nothing before a yes, then exactly what it showed, and a second time
//   nothing.
#[test]
fn import_of_claude_shows_a_plan_and_writes_it_with_yes() {
    let host = claude();
    let before = files(&host);
    let ended = import(&host, &["claude"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    for part in [
        "  + approval_mode = \"auto-edit\" → ",
        "  + github → ",
        "  + docs",
        "  + deny shell `curl` → ",
        "  + ask shell `git push`",
        "  + allow shell `npm run test`",
        "  + allow web_fetch docs.rs:443",
        "  + allow github__search_code",
        "  + hooks for PreToolUse → ",
        "Commands\n  = all → ",
        "Skills\n  = all → ",
        "/.claude/skills (used where they are)",
        "  - MCP server `old`: it uses the transport `sse`",
        "  - MCP server `local` of `/work/app`: it is only for that folder",
        "  - permission `Bash`: it allows everything",
        "  - permission `Read(./.env)`: rules here are not about single files",
        "nothing was written; --yes writes it",
    ] {
        assert!(ended.stdout.contains(part), "{part:?} in\n{}", ended.stdout);
    }
    assert_eq!(files(&host), before, "showing writes nothing");

    let ended = import(&host, &["claude", "--yes"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.ends_with("wrote 10 things\n"), "{}", ended.stdout);
    let config = read(&host, ".config/host/config.toml");
    assert!(config.starts_with("approval_mode = \"auto-edit\"\n") && config.contains("[mcp.github]"), "{config}");
    assert!(!config.contains("s3cret"), "{config}");
    let secret = host.home().join(".config/host/mcp-secrets/github.GITHUB_TOKEN");
    assert_eq!((fs::read_to_string(&secret).expect("there").as_str(), mode(&secret)), ("ghp_s3cret", 0o600));
    for copy in [".config/host/commands", ".config/host/hooks.json", ".agents"] {
        assert!(!host.home().join(copy).exists(), "{copy}: no copy is needed");
    }
    // What was written is used.
    let rules = host.run_of(&["policy", "list"]);
    assert!(rules.code == Some(0) && rules.stdout.contains("npm run test"), "{rules:?}");
    for (tool, arguments, decision) in [
        ("shell", r#"{"command": "npm run test"}"#, "allow"),
        ("shell", r#"{"command": "npm run test && curl x"}"#, "deny"),
        ("shell", r#"{"command": "git push origin main"}"#, "ask"),
        ("web_fetch", r#"{"url": "https://docs.rs/serde"}"#, "allow"),
        ("web_fetch", r#"{"url": "https://docs.rs.example/serde"}"#, "ask"),
    ] {
        let checked = host.run_of(&["policy", "check", tool, arguments, "--approval-mode", "default", "--json"]);
        assert_eq!(checked.json()["decision"], decision, "{arguments}: {checked:?}");
    }
    let hooks = host.run_of(&["hooks", "list"]);
    assert!(hooks.code == Some(0) && hooks.stdout.contains(".claude/settings.json"), "{hooks:?}");
    let commands = host.run_of(&["skill", "list"]);
    assert!(commands.code == Some(0) && commands.stdout.contains("pdf"), "{commands:?}");
    let servers = host.run_of(&["mcp", "list", "--json"]);
    assert!(servers.code == Some(0) && servers.stdout.contains("github"), "{servers:?}");

    let after = files(&host);
    let again = import(&host, &["claude", "--yes", "--json"]);
    let states = states(&again.json());
    let is_new = |state: &String| state.starts_with("new ") || state.starts_with("conflict ");
    assert!(!states.is_empty() && !states.iter().any(is_new), "{states:?}");
    let there = ["present hooks for PreToolUse", "in_place all"];
    assert!(there.iter().all(|one| states.iter().any(|state| state == one)), "{states:?}");
    assert_eq!(files(&host), after, "a second import writes nothing");
}

// promise import.keeps: An import replaces nothing that is there: what differs is listed as a conflict.
#[test]
fn import_keeps_what_the_user_wrote_and_lists_the_conflicts() {
    let own =
        "# mine\napproval_mode = \"plan\"\n[mcp.github]\ncommand = \"mine\"\n[hooks]\nread = [\"claude\"] # his\n";
    let host = claude().configured(own).home_file(
        ".config/host/policies/imported-claude.toml",
        "# mine\n[[rule]]\ntool = \"shell\"\ncommand = \"curl\"\ndecision = \"deny\"\n",
    );
    let plan = import(&host, &["claude", "--yes", "--json"]).json();
    let conflicts: Vec<String> = states(&plan).into_iter().filter(|state| state.starts_with("conflict ")).collect();
    assert_eq!(conflicts, ["conflict approval_mode = \"auto-edit\"", "conflict github"]);
    assert!(states(&plan).contains(&"present hooks for PreToolUse".to_owned()), "{plan}");
    assert!(states(&plan).contains(&"present deny shell `curl`".to_owned()), "{plan}");
    let config = read(&host, ".config/host/config.toml");
    assert!(own.lines().all(|line| config.contains(line)) && config.contains("[mcp.docs]"), "{config}");
    let rules = read(&host, ".config/host/policies/imported-claude.toml");
    assert!(rules.starts_with("# mine\n") && rules.matches("curl").count() == 1, "{rules}");
    // A configuration that is invalid is not changed.
    fs::write(host.home().join(".config/host/config.toml"), "aproval_mode = 1\n").expect("written");
    let ended = import(&host, &["claude", "--yes"]);
    assert!(ended.code == Some(52) && ended.stderr.contains("did you mean `approval_mode`"), "{ended:?}");
}

// promise import.project: What a repository's settings allow is not taken over; what they ask about and deny holds
//   there.
#[test]
fn import_takes_no_permission_from_a_repository() {
    let host = Host::new(["import", "claude"]).file(
        ".claude/settings.json",
        r#"{"permissions": {"allow": ["Bash(curl:*)", "Bash"], "deny": ["Bash(git push:*)"]}, "hooks": {"Stop": []}}"#,
    );
    let plan = import(&host, &["claude", "--yes", "--json"]).json();
    let folder = fs::canonicalize(host.repository()).expect("it is there");
    assert_eq!(states(&plan), [format!("new deny shell `git push` in `{}`", folder.display())]);
    assert!(
        plan["left_out"][0]["why"].as_str().expect("text").contains("a repository could have written it"),
        "{plan}"
    );
    let rules = read(&host, ".config/host/policies/imported-claude.toml");
    assert!(!rules.contains("allow") && !rules.contains("curl"), "{rules}");
}

#[test]
fn import_of_codex_reads_servers_rules_and_modes() {
    let host = Host::new(["import", "codex"])
        .home_file(".codex/config.toml", CODEX)
        .home_file(".codex/rules/default.rules", CODEX_RULES)
        .home_file(".codex/prompts/fix.md", "Fix it\n")
        .home_file(".codex/prompts/git/sync.md", "Sync\n")
        .home_file(".codex/prompts/notes.txt", "no command\n")
        .home_file(".config/host/commands/git/sync.md", "my own\n")
        .home_file(".codex/hooks.json", CODEX_HOOKS)
        .home_file(".codex/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDFs\n---\nRead PDFs\n")
        .home_file(".codex/skills/pdf/scripts/read.sh", "#!/bin/sh\n")
        .home_file(".codex/skills/linked/SKILL.md", "---\nname: linked\n---\n");
    let at = |path: &str| host.home().join(path);
    fs::set_permissions(at(".codex/skills/pdf/scripts/read.sh"), fs::Permissions::from_mode(0o755)).expect("ours");
    symlink("/etc/passwd", at(".codex/skills/linked/passwd")).expect("a link");
    let plan = import(&host, &["codex", "--yes", "--json"]).json();
    assert_eq!(
        states(&plan),
        [
            "new approval_mode = \"auto-edit\"",
            "new context7",
            "new figma",
            "new allow shell `git status`",
            "new ask shell `gh pr create`",
            "new deny shell `rm -rf`",
            "new hooks for SessionStart, PreToolUse, Stop",
            "new fix",
            "conflict git/sync",
            "new pdf"
        ]
    );
    let left_out = plan["left_out"].to_string();
    for part in ["bearer_token_env_var", "setting `notify`", "only a list of words", "is a link; copy it by hand"] {
        assert!(left_out.contains(part), "{part} in {left_out}");
    }
    let config = read(&host, ".config/host/config.toml");
    for part in [
        "LOCAL_TOKEN = { env = \"LOCAL_TOKEN\" }",
        "timeout_seconds = 30",
        "enabled = false",
        "X-Key = { env = \"FIGMA_KEY\" }",
        "[hooks]\nread = [\"codex\"]",
    ] {
        assert!(config.contains(part), "{part} in {config}");
    }
    assert_eq!(read(&host, ".config/host/mcp-secrets/context7.CONTEXT7_KEY"), "c7_s3cret");
    assert_eq!(read(&host, ".config/host/commands/git/sync.md"), "my own\n", "what the user wrote stays");
    assert_eq!(read(&host, ".config/host/commands/fix.md"), "Fix it\n");
    assert!(!host.home().join(".config/host/commands/notes.txt").exists());
    assert!(!host.home().join(".agents/skills/linked").exists(), "a skill with a link is left out as a whole");
    assert_ne!(mode(&host.home().join(".agents/skills/pdf/scripts/read.sh")) & 0o100, 0);
    let hooks = host.run_of(&["hooks", "list"]);
    assert!(hooks.code == Some(0) && hooks.stdout.contains(".codex/hooks.json"), "{hooks:?}");
    let again = states(&import(&host, &["codex", "--json"]).json());
    assert!(again.iter().all(|state| state.starts_with("present ") || state == "conflict git/sync"), "{again:?}");
    // A mode that asks about nothing is not taken over.
    fs::write(host.home().join(".codex/config.toml"), "approval_policy = \"never\"\n").expect("written");
    let plan = import(&host, &["codex", "--json"]).json();
    assert!(plan["left_out"].to_string().contains("has to be chosen by you"), "{plan}");
}

#[test]
fn import_of_gemini_reads_both_layouts_and_escapes_what_it_shows() {
    let host = Host::new(["import", "gemini"])
        .home_file(".gemini/settings.json", GEMINI)
        .home_file(".gemini/commands/git/commit.toml", "prompt = \"Commit {{args}}\"\n");
    let plan = import(&host, &["gemini", "--yes", "--json"]).json();
    assert_eq!(
        states(&plan),
        [
            "new approval_mode = \"auto-edit\"",
            "new files",
            "new remote",
            "new deny shell `rm`",
            "new deny web_search",
            "new allow shell `git status`",
            "new hooks for PreToolUse",
            "in_place all"
        ]
    );
    let config = read(&host, ".config/host/config.toml");
    assert!(config.contains("KEY = { env = \"FILES_KEY\" }") && config.contains("tools = [\"read\"]"), "{config}");
    assert!(config.contains("[hooks]\nread = [\"gemini\"]"), "{config}");
    let hooks = host.run_of(&["hooks", "list"]);
    assert!(hooks.code == Some(0) && hooks.stdout.contains(".gemini/settings.json"), "{hooks:?}");
    let old = r#"{"coreTools": ["read_file"], "excludeTools": ["run_shell_command(curl\u001b[2J)"], "mcpServers": {"a\u001b[2J": {}}}"#;
    fs::write(host.home().join(".gemini/settings.json"), old).expect("written");
    let ended = import(&host, &["gemini"]);
    assert!(ended.code == Some(0) && ended.stdout.contains("the list of built-in tools"), "{ended:?}");
    assert!(!ended.stdout.contains('\u{1b}') && ended.stdout.contains("\\u{1b}[2J"), "{ended:?}");
    fs::write(host.home().join(".gemini/settings.json"), "// no JSON").expect("written");
    let ended = import(&host, &["gemini"]);
    assert!(ended.code == Some(0) && ended.stdout.contains("it is not JSON"), "{ended:?}");
    let nothing = Host::new(["import", "gemini"]);
    assert_eq!(import(&nothing, &["gemini"]).stdout, "There is nothing to import from gemini.\n");
}

// promise import.plan
#[test]
fn import_on_a_terminal_asks_before_it_writes() {
    for (key, is_written) in [("n", false), ("y", true)] {
        let host = claude();
        let mut command = host.command_of(&["import", "claude"]);
        command.env("TERM", "xterm-256color");
        let mut pty = Pty::start(command, 160, 60);
        pty.sees("Write 10 things?").sees("› 1 y").types(key);
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert_eq!(host.home().join(".config/host/config.toml").exists(), is_written, "{key}");
    }
}
