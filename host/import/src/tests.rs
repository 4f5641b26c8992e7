use host_tool::Decision::{self, Allow, Ask, Deny};
use host_tool::Rule;

use host_settings::own_file::FileMode;

use super::servers::from_json;
use super::*;

fn check(read: &dyn Fn(&str, Decision) -> Result<Rule, RuleFault>, text: &str, decision: Decision, expected: &str) {
    let said = match read(text, decision) {
        Ok(rule) => {
            let commands: Vec<String> = rule.command.iter().map(ToString::to_string).collect();
            let scope = rule.scope.iter().flat_map(|scope| scope.iter()).map(|scope| scope.to_string());
            let of: Vec<String> = commands.into_iter().chain(scope).collect();
            assert_eq!(rule.decision, decision, "{text}");
            format!("{} {}", rule.tool.join("+"), of.join("+")).trim_end().to_owned()
        }
        Err(why) => format!("no: {why}"),
    };
    assert!(said.contains(expected) && (said.len() == expected.len() || said.starts_with("no: ")), "{text}: {said}");
}

// promise import.permissions: A permission of another agent becomes a rule that allows no more than it did, or none.
#[test]
fn import_reads_permissions_as_rules_that_allow_no_more() {
    let claude = |text: &str, decision| rules::of_claude(text, decision, None);
    for (text, decision, expected) in [
        ("Bash(npm run test:*)", Allow, "shell npm run test"),
        ("Bash(npm run build)", Allow, "shell npm run build"),
        ("Bash(git push *)", Ask, "shell git push"),
        ("Bash(rm -rf:*)", Deny, "shell rm -rf"),
        ("Bash", Deny, "shell"),
        ("Bash", Allow, "it allows everything"),
        ("Bash(*)", Allow, "it allows everything"),
        ("Bash(:*)", Allow, "it allows everything"),
        ("Bash(git * main)", Allow, "a `*` is only known at the end"),
        ("Bash(npm run test", Allow, "a bracket is not closed"),
        ("WebFetch(domain:docs.rs)", Allow, "web_fetch docs.rs:443 -private"),
        ("WebFetch(domain:docs.rs)", Deny, "web_fetch * docs.rs:*"),
        ("WebFetch(domain:docs.rs, *)", Allow, "it is not the name of a server"),
        ("WebFetch(domain:*)", Allow, "it allows everything"),
        ("WebFetch", Allow, "it allows everything"),
        ("WebFetch", Deny, "web_fetch"),
        ("Edit", Ask, "edit+write_file+apply_patch"),
        ("Read(./.env)", Deny, "--deny '*:fs-read=FILE'"),
        ("Edit(src/**)", Allow, "not about single files"),
        ("mcp__github__search", Allow, "github__search"),
        ("mcp__github", Ask, "github__*"),
        ("mcp__github__*", Deny, "github__*"),
        ("mcp__", Deny, "it names no server"),
        ("mcp__*__x*y", Deny, "it is not a rule of this host"),
        ("Task", Allow, "there is no such tool here"),
        ("", Allow, "there is no such tool here"),
    ] {
        check(&claude, text, decision, expected);
    }
    let gemini = |text: &str, decision| rules::of_gemini(text, decision);
    for (text, decision, expected) in [
        ("run_shell_command(git status)", Allow, "shell git status"),
        ("ShellTool(rm)", Deny, "shell rm"),
        ("run_shell_command", Allow, "it allows everything"),
        ("replace", Deny, "edit+apply_patch"),
        ("read_file(x)", Allow, "only commands can be named"),
        ("my_tool", Allow, "there is no such tool here"),
    ] {
        check(&gemini, text, decision, expected);
    }
    let words =
        |text: &str, decision| rules::of_words(&text.split('|').map(str::to_owned).collect::<Vec<_>>(), decision);
    check(&words, "git|status", Allow, "shell git status");
    check(&words, "git|a b", Allow, "a word of it needs quotes");
    check(&words, "git|$(x)", Allow, "a word of it needs quotes");
    let rule = rules::of_claude("Bash(make:*)", Deny, Some(Path::new("/work/\"x"))).expect("a rule");
    assert_eq!(rule.workspace.as_deref(), Some(Path::new("/work/\"x")));
}

// promise import.secrets: The value of a variable or header of an MCP server is written into a private file alone.
#[test]
fn import_of_a_server_has_no_value_outside_of_its_private_files() {
    let server = serde_json::json!({
        "command": "npx", "args": ["-y", "x"], "timeout": 5_500,
        "env": {"TOKEN": "s3cret", "HOME_DIR": "${HOME}", "MIXED": "a${B}", "EMPTY": "", "BAD/NAME": "s3cret"},
    });
    let read = from_json("git hub", &server, false, Path::new("/c/mcp-secrets"));
    assert!(read.is_err(), "the name is invalid");
    let read = from_json("github", &server, false, Path::new("/c/mcp-secrets")).expect("it is valid");
    let text = read.to_toml();
    assert!(!text.contains("s3cret") && !format!("{read:?}").contains("s3cret"), "{text}");
    host_settings::configuration::Configuration::check_text(&text, Path::new("config.toml")).expect("it is valid");
    for part in ["[mcp.github]", "file = \"/c/mcp-secrets/github.TOKEN\"", "env = \"HOME\"", "timeout_seconds = 5"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let files: Vec<_> = read.values.iter().map(|file| (file.path.display().to_string(), file.mode)).collect();
    assert_eq!(files, [("/c/mcp-secrets/github.TOKEN".to_owned(), FileMode::Private)]);
    assert_eq!(read.left_out().count(), 2, "{:?}", read.left_out().collect::<Vec<_>>());
    for (server, is_gemini, why) in [
        (serde_json::json!({"type": "sse", "url": "https://a.example"}), false, "transport `sse`"),
        (serde_json::json!({"url": "https://a.example"}), true, "transport `sse`"),
        (serde_json::json!({"command": "${X}"}), false, "contains a variable"),
        (serde_json::json!({"command": "a", "url": "https://a.example"}), false, "both a command and an address"),
        (serde_json::json!({}), false, "neither a command nor an address"),
        (serde_json::json!(3), false, "neither a command nor an address"),
    ] {
        let error = from_json("a", &server, is_gemini, Path::new("/c")).expect_err("it cannot be used");
        assert!(error.to_string().contains(why), "{error}");
    }
}
