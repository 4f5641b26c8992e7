//! Published holes of the sandboxes of other agents, each with its source.

use std::process::Command;

use host_tests::host::Host;
use serde_json::json;

use super::world::check;
use super::{Attack, Control, How, python, shell, undone};

const ROWS: &[Attack] = &[
    // CVE-2026-25725 (Claude Code): a protected file that did not exist at the start could be made.
    undone(
        "settings that were not there: a pointer",
        "mkdir -p evil3/objects evil3/refs && printf '[core]\\n\\tfsmonitor = touch owned\\n' > \
                 evil3/config && echo ../evil3 > .git/commondir && test -e .git/commondir",
        ".git/commondir",
    ),
    undone("settings that were not there: a work tree's", "echo x > .git/config.worktree", ".git/config.worktree"),
    undone(
        "settings that were not there: modules",
        "mkdir -p .git/modules/a/hooks && echo x > .git/modules/a/hooks/pre-commit",
        ".git/modules",
    ),
    undone("a start file that was not there", "echo x > .zshrc", ".zshrc"),
    undone("a start file that was not there, as a link", "ln -s src/main.rs .profile", ".profile"),
    undone("a start file that was not there, renamed", "echo x > p1 && mv p1 .bash_profile", ".bash_profile"),
    undone("a start file that was not there, as a folder", "mkdir .zshenv && echo x > .zshenv/x", ".zshenv"),
    undone("settings of git that were not there", "echo x > .gitconfig", ".gitconfig"),
    undone(
        "settings in a folder that was not there",
        "mkdir -p .config/fish && echo x > .config/fish/config.fish",
        ".config/fish",
    ),
    // CVE-2026-39861 (Claude Code): a link that a program plants, and that the host itself follows later.
    undone(
        "settings in a folder that is a link",
        "mkdir -p evil4/repo && echo x > evil4/repo/config.toml && ln -s evil4 .jj && test -e .jj/repo/config.toml",
        ".jj",
    ),
    // The same, and what is removed afterwards must not be what it leads to.
    undone("settings behind a link to the home", "ln -s $HOME .hg && test -e .hg", ".hg"),
    // What is protected is so by its path, and the folder around it may be changed.
    shell(
        "a repository that is moved and made again",
        "mv .git .git2 && git init -q . && git config core.fsmonitor 'touch owned'",
        "cannot move|busy|Read-only|Permission denied",
    ),
    // CVE-2025-59532 (Codex): the folder that the model names became the root that may be written.
    shell("a working folder outside", "cd $OUT && echo x > new", "Permission denied|Read-only"),
    // anthropics/claude-code issue 86504: a project's settings switched the sandbox off.
    shell(
        "settings of the project that end the confinement",
        "mkdir -p .host && printf '[confine]\\nmode = \"off\"\\n' > .host/config.toml",
        "Read-only|Permission denied|busy",
    ),
    // CVE-2025-66479 (sandbox-runtime): a list without any server meant all servers.
    python(
        "no server in the list",
        "s = socket.create_connection(('127.0.0.1', int(PORT)), 9)\nassert s.recv(99)",
        "refused|unreachable|not permitted",
    ),
    // Aonan Guan, 2026 (sandbox-runtime): NUL in a name that is passed to the proxy.
    python(
        "a name with NUL, to the proxy",
        "import base64, os, urllib.parse\n\
         proxy = urllib.parse.urlsplit(os.environ['http_proxy'])\n\
         key = base64.b64encode(f'{proxy.username}:{proxy.password}'.encode())\n\
         s = socket.create_connection((proxy.hostname, proxy.port), 9)\n\
         s.sendall(b'CONNECT 127.0.0.1:' + PORT.encode() + b'\\0.example.com:80 HTTP/1.1\\r\\n')\n\
         s.sendall(b'Proxy-Authorization: Basic ' + key + b'\\r\\n\\r\\n')\n\
         said = s.recv(99)\nassert b' 200 ' in said, said",
        "b''|400 Bad|403 Forbidden",
    )
    .controlled(Control::Other(How::Python(
        "s = socket.create_connection(('127.0.0.1', int(PORT)), 9)\nassert s.recv(99)",
    ))),
    // google-gemini/gemini-cli pull request 29214: a link whose target is not there yet.
    shell(
        "a link to what is not there yet",
        "ln -s $HOME/.config/host/new.toml g1 && echo x > g1",
        "Permission denied|Read-only",
    ),
    // "Your agent sandbox is a suggestion", 2026 (Claude Code): programs run by the loader of the system.
    shell(
        "a program run by the loader",
        "$(ls /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.* 2>/dev/null | head -n 1) /bin/cat $OUT/secret",
        "Permission denied",
    ),
    // CVE-2025-61260 (Codex): a file of variables moved the agent's own settings into the project.
    shell(
        "variables that move the settings of the host",
        "echo 'XDG_CONFIG_HOME=evil' > .env && XDG_CONFIG_HOME=$HOME/.config cat $HOME/.config/host/keys.toml",
        "Permission denied",
    ),
    // Tracebit, 2025 (Gemini CLI): an allowed program that prints the variables.
    shell("keys among the variables", "env | grep -i 'api_key=' || { echo none; exit 1; }", "none")
        .controlled(Control::Other(How::Shell("GEMINI_API_KEY=x env | grep -i 'api_key='"))),
];

// promise confine.new: What a confined program makes in a protected place that was empty is not there after the call.
#[test]
fn escape_published_holes_are_closed() {
    check(ROWS);
}

// promise confine.new
#[test]
fn escape_pointer_in_a_repository_makes_git_run_nothing_later_and_the_call_reports_it() {
    let script = "mkdir -p evil/objects evil/refs && printf '[core]\\n\\tfsmonitor = touch owned; false\\n' > evil/config && \
                  echo ../evil > .git/commondir && echo made";
    let arguments = json!({"command": script}).to_string();
    let git_runs_it = |confine: &str| {
        let call = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", confine];
        let host = Host::new(call);
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(host.repository()).env("HOME", host.home());
            git.output().expect("git runs")
        };
        std::fs::remove_dir(host.repository().join(".git")).expect("removed");
        assert!(git(&["init", "-q"]).status.success());
        let ended = host.run();
        assert!(ended.stdout.starts_with("Output:\nmade\n"), "{ended:?}");
        git(&["status"]);
        (ended.stdout, host.repository().join("owned").exists())
    };
    let (printed, owned) = git_runs_it("require");
    assert!(!owned && printed.contains("/.git` is as it was before the program: git obeys it"), "{printed}");
    assert!(printed.contains("host: `commondir` in `"), "{printed}");
    let (printed, owned) = git_runs_it("off");
    assert!(owned, "it does not work without the walls either, so it shows nothing: {printed}");
}
