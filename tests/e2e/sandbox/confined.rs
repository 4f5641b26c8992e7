//! What `--confine` promises, with the binary and its built-in tool `shell`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use host_tests::host::{Ended, Host};
use serde_json::json;

use crate::escape::users::As;

fn host(script: &str, confine: &str) -> Host {
    let arguments = json!({"command": script}).to_string();
    Host::new(["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", confine])
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let ended = Command::new("git").args(arguments).current_dir(folder).output().expect("git runs");
    assert!(ended.status.success(), "{ended:?}");
    String::from_utf8(ended.stdout).expect("text")
}

fn succeeded(ended: &Ended) -> &str {
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    &ended.stdout
}

// promise confine.files
#[test]
fn confine_leaves_git_its_work_and_keeps_what_git_obeys() {
    let script = "git -c user.name=a -c user.email=a@example.com commit -qam second && git log --format=%s && \
                  for file in .git/hooks/pre-commit .git/config .host/config.toml; do echo x >> $file || echo kept; done; \
                  git config core.fsmonitor ./x || echo kept; echo new > new; cat new";
    let host = host(script, "require").file("file", "one");
    let folder = host.repository();
    std::fs::remove_dir_all(folder.join(".git")).expect("removed");
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "file"]);
    git(folder, &["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first"]);
    std::fs::create_dir_all(folder.join(".host")).expect("made");
    std::fs::create_dir_all(folder.join(".git/hooks")).expect("made");
    std::fs::write(folder.join("file"), "two").expect("written");
    let before = std::fs::read(folder.join(".git/config")).expect("read");
    let ended = host.run();
    let printed = succeeded(&ended);
    assert!(printed.starts_with("Output:\nsecond\nfirst\n"), "{printed}");
    // Of two pipes, which is read first is open.
    for left in ["\nkept\n", "\nnew\n", "`hooks/pre-commit` in `", "`config` in `"] {
        assert!(printed.contains(left), "{left}: {printed}");
    }
    assert_eq!(git(folder, &["log", "--format=%s"]), "second\nfirst\n");
    assert_eq!(std::fs::read(folder.join(".git/config")).expect("read"), before);
    assert!(!folder.join(".git/hooks/pre-commit").exists() && !folder.join(".host/config.toml").exists());
}

// promise confine.files
#[test]
fn confine_hides_the_home_and_the_hosts_own_folders() {
    let script = "cat $HOME/.ssh/id $HOME/.config/host/config.toml; ls $HOME; echo x > $HOME/new; \
                  echo x > $TMPDIR/made && cat $TMPDIR/made";
    let confined = |confine: &str| {
        let host = host(script, confine).home_file(".ssh/id", "SECRET").home_file(".config/host/config.toml", "");
        (host.run(), host.home().join("new").exists())
    };
    let (ended, wrote) = confined("require");
    assert!(succeeded(&ended).contains("\nx\n"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("SECRET") && !wrote, "{}", ended.stdout);
    let (ended, wrote) = confined("off");
    assert!(ended.stdout.contains("SECRET") && wrote, "{}", ended.stdout);
}

// promise confine.network
#[test]
fn confine_lets_no_program_reach_this_machine() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let script = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' && echo reached");
    let ended = host(&script, "require").run();
    assert!(!ended.stdout.contains("reached"), "{}", ended.stdout);
    let ended = host(&script, "off").run();
    assert_eq!(succeeded(&ended), "Output:\nreached\n");
}

#[test]
fn confine_settings_let_programs_touch_more() {
    let script = "cat $HOME/tool/settings; echo x > $HOME/tool/cache/new; ls $HOME/tool/cache";
    let arguments = json!({"command": script}).to_string();
    let host = Host::new(["tool", "call", "shell", &arguments, "--grant", "shell:process=*"])
        .home_file("tool/settings", "mine\n")
        .home_file("tool/cache/old", "")
        .configured("[confine]\nmode = 'auto'\nreadable = ['~/tool']\nwritable = ['~/tool/cache']\n");
    assert_eq!(succeeded(&host.run()), "Output:\nmine\nnew\nold\n");
}

// promise process.host: A program of a user other than root cannot read the environment or the memory of the host, even
//   if nothing confines it.
#[test]
fn process_cannot_read_the_environment_of_its_host() {
    let script = "for file in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $file | grep GEMINI_API_KEY; done 2>/dev/null; \
                  echo done";
    let host = host(script, "off").env("GEMINI_API_KEY", "SECRET");
    // Root reads everything.
    let by = *As::all().last().expect("there is one");
    for folder in [host.repository(), host.home()] {
        by.owns(folder);
    }
    let command = by.starts(host.command());
    assert_eq!(succeeded(&host.end(command)), "Output:\ndone\n");
}

/// A server on this machine that answers each request with its first line; returns its port. It ends with the tests.
fn server() -> u16 {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut head = [0; 1024];
            let count = stream.read(&mut head).unwrap_or_default();
            let line = String::from_utf8_lossy(&head[..count]).lines().next().unwrap_or_default().to_owned();
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{line}\n").ok();
        }
    });
    port
}

// promise confine.proxy
#[test]
fn confine_lets_a_program_reach_the_servers_of_its_grant_and_no_others() {
    let (allowed, other) = (server(), server());
    // `--noproxy` only lets the name of this machine go through the proxy as well.
    let script = format!(
        "for target in localhost:{allowed}/allowed localhost:{other}/other 127.0.0.1:{allowed}/by-address; do \
         curl -s --max-time 20 --noproxy '' http://$target; done"
    );
    let arguments = json!({"command": script}).to_string();
    let grant = format!("shell:process=curl;net=localhost:{allowed} +private,127.0.0.1:{allowed}");
    let host = Host::new(["tool", "call", "shell", &arguments, "--confine", "require", "--grant", "shell:process=*"]);
    let ended = host.args(&["--grant", &grant]).run();
    let printed = succeeded(&ended);
    let kept = |server: &str, reach: &str| {
        format!(
            "this program may not connect to `{server}`; to allow it, add --grant \
             'shell:process=PROGRAM;net={server}{reach}'"
        )
    };
    assert!(printed.starts_with("Output:\nGET /allowed HTTP/1.1\n"), "{printed}");
    assert!(!printed.contains("GET /other") && !printed.contains("GET /by-address"), "{printed}");
    assert!(printed.contains(&kept(&format!("localhost:{other}"), " +private")), "{printed}");
    assert!(printed.contains(&kept(&format!("127.0.0.1:{allowed}"), " +private")), "{printed}");
}

// promise confine.named-servers: Servers that the user names in the configuration or in a rule are reached by programs
//   without a question, and no others.
#[test]
fn confine_lets_programs_reach_the_servers_that_the_user_configures_and_no_others() {
    let (named, other) = (server(), server());
    let fetch = |port: u16| format!("curl -s --max-time 20 --noproxy '' http://localhost:{port}/;");
    let line = json!({"call": {"name": "shell", "arguments": {"command": fetch(named) + &fetch(other)}}});
    let replies = [json!({"chunks": [line]}), json!({"chunks": [{"text": "Done."}]})];
    let net = format!("net = [\"localhost:{named} +private\"]\n");
    let rule = format!("[[rule]]\ntool = \"shell\"\ncommand = \"curl\"\n{net}decision = \"allow\"\n");
    let host = || {
        let arguments = ["--confine", "require", "--grant", "shell:process=*", "--output-format", "stream-json", "Go"];
        Host::scripted(&replies, &arguments)
    };
    for (what, host, reached) in [
        ("the configuration", host().configured(&format!("[confine]\n{net}")), 1),
        ("a rule", host().home_file(".config/host/policies/a.toml", rule.clone()), 1),
        ("a rule for another program", host().home_file(".config/host/policies/a.toml", rule.replace("curl", "w")), 0),
        ("nothing", host(), 0),
    ] {
        let ended = host.run();
        let lines = ended.lines();
        let end = lines.iter().find(|line| line["type"] == "tool_result").unwrap_or_else(|| panic!("{ended:?}"));
        let printed = end["output"].as_str().expect("text");
        assert_eq!(printed.matches("GET / HTTP/1.1").count(), reached, "{what}: {printed}");
        assert!(printed.contains(&format!("may not connect to `localhost:{other}`")), "{what}: {printed}");
    }
}

#[test]
fn confine_explains_what_a_program_was_kept_from() {
    let script = "cat $HOME/notes $HOME/.cache/x/notes; curl -sf --max-time 5 http://example.invalid";
    let host = host(script, "require").home_file("notes", "x").home_file(".cache/x/notes", "x");
    let ended = host.run();
    // A cache can be granted by a question; what else lies in a home is the user's to name.
    let path = |path: &str| host.home().join(path).display().to_string();
    let (notes, cached) = (path("notes"), path(".cache/x/notes"));
    let grant = format!("add --grant 'shell:process=PROGRAM;read={cached}'");
    for file in [
        format!("if it needs `{notes}`, add that to `readable` or `writable` of [confine]"),
        format!("if it needs `{cached}`, {grant}, or add that to `readable` or `writable` of [confine]"),
    ] {
        assert!(ended.stdout.contains(&file), "{file}: {}", ended.stdout);
    }
}

// promise confine.caches: What a package manager adds to its cache behind the walls is there for the next one in this
//   workspace, and never in the user's own cache.
#[test]
fn confine_caches_of_package_managers_are_the_workspaces_own() {
    // Stands for the real one: what matters is its name.
    let script = "#!/bin/sh\ncd ~/.npm && ls && cat old && echo new > $1 && rm -f gone && ls\n";
    let host = host("", "require").home_file(".npm/old", "old\n").home_file(".npm/gone", "").file("bin/npm", script);
    let npm = host.repository().join("bin/npm");
    std::fs::set_permissions(&npm, PermissionsExt::from_mode(0o755)).expect("set");
    let call = |program: &Path, name: &str| {
        let arguments = json!({"command": format!("{} {name}", program.display())}).to_string();
        let call = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", "require"];
        host.run_of(&call).stdout
    };
    assert_eq!(call(&npm, "a"), "Output:\ngone\nold\nold\na\nold\n");
    assert_eq!(call(&npm, "b"), "Output:\na\nold\nold\na\nb\nold\n", "it is kept for this workspace");
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(host.home().join(".npm")).expect("read").flatten().collect();
        names.sort_by_key(std::fs::DirEntry::file_name);
        names.iter().map(|entry| entry.file_name().display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["gone", "old"]);
    // Another program has no such layer.
    let other = host.repository().join("bin/other");
    std::fs::copy(&npm, &other).expect("copied");
    let denied = call(&other, "c");
    assert!(!denied.contains("old\n") && denied.contains("Exit code: "), "{denied}");
    assert_eq!(names(), ["gone", "old"]);
}

// promise confine.caches
#[test]
fn confine_makes_the_cache_that_a_package_manager_does_not_find() {
    // Stands for the real one, which makes its cache at its first download.
    let script = "#!/bin/sh\nmkdir -p ~/.npm/_cacache && echo new > ~/.npm/_cacache/a && cat ~/.npm/_cacache/a\n";
    let host = host("bin/npm", "require").file("bin/npm", script).file("bin/other", script);
    for program in ["bin/npm", "bin/other"] {
        let executable = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(host.repository().join(program), executable).expect("set");
    }
    let arguments = json!({"command": "bin/other"}).to_string();
    let other = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", "require"];
    let denied = host.run_of(&other).stdout;
    assert!(denied.contains("Exit code: ") && !host.home().join(".npm").exists(), "{denied}");
    assert_eq!(succeeded(&host.run()), "Output:\nnew\n");
    assert_eq!(std::fs::read_dir(host.home().join(".npm")).expect("made").count(), 0, "it is the user's own");
    assert!(!host.home().join(".cache/yarn").exists(), "of another program");
}
