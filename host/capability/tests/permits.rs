//! The promises of permits to the code that uses them, as tables: each row is a scope and what it permits or not.
//!
//! The tests use only the public interface, so a user of the crate can do the same: every permit comes from a check.

use std::net::IpAddr;
use std::path::Path;

use host_capability::{Authority, Capability, Denied, Grants, McpServerName, PluginName, Scope, StateAccess};

fn plugin() -> PluginName {
    PluginName::new("fetch")
}

fn grants(capability: Capability, text: &str) -> Grants {
    match text {
        "" => Grants::none(),
        text => Grants::none().with(Scope::parse(capability, text, Path::new("/w")).expect(text)),
    }
}

fn argv(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

/// A request as text: a path, a command, `METHOD HOST PORT`, or an access.
fn ask(grants: &Grants, capability: Capability, request: &str) -> Result<(), Denied> {
    let plugin = plugin();
    match capability {
        Capability::FsRead => grants.permit_read(&plugin, Path::new(request)).map(drop),
        Capability::FsWrite => grants.permit_write(&plugin, Path::new(request)).map(drop),
        Capability::Process => grants.permit_process(&plugin, &argv(request)).map(drop),
        Capability::Http => {
            let parts: Vec<&str> = request.split(' ').collect();
            let port = parts[2].parse().expect(request);
            let authority = Authority::new(parts[1], port).expect(request);
            grants.permit_http(&plugin, parts[0], &authority).map(drop)
        }
        Capability::State => {
            let access = if request == "write" { StateAccess::Write } else { StateAccess::Read };
            grants.permit_state(&plugin, access).map(drop)
        }
        Capability::Tools => grants.permit_tool(&plugin, request).map(drop),
        Capability::Mcp => {
            let (tool, reads) = request.strip_suffix(" read").map_or((request, false), |tool| (tool, true));
            let (server, tool) = tool.split_once('/').expect(request);
            let server = McpServerName::parse(server).expect(request);
            grants.permit_mcp(&plugin, &server, tool, reads).map(drop)
        }
    }
}

/// The scope that the help of a no suggests, taken out of its shell quotes.
fn suggested(no: &Denied) -> Option<String> {
    let help = no.help.to_string();
    let flag = help.strip_prefix("to allow it, add --grant ")?;
    let flag = flag.split(", or --approval-mode").next()?;
    let flag = match flag.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(quoted) => quoted.replace("'\\''", "'"),
        None => flag.to_owned(),
    };
    flag.strip_prefix(&format!("fetch:{}=", no.capability)).map(str::to_owned)
}

fn check(capability: Capability, scope: &str, permitted: &[&str], refused: &[&str]) {
    let held = grants(capability, scope);
    for request in permitted {
        assert!(ask(&held, capability, request).is_ok(), "{capability}={scope} should permit {request}");
    }
    for request in refused {
        let no = ask(&held, capability, request).expect_err(request);
        assert_eq!((&no.plugin, no.capability), (&plugin(), capability));
        match capability {
            // Without what is denied of them: that is long, and the help says that something is.
            Capability::FsRead | Capability::FsWrite => {
                assert_eq!(no.held.as_deref().map(|held| held.contains('!')), held.scope(capability).map(|_| false));
            }
            Capability::Process | Capability::Http | Capability::State | Capability::Mcp | Capability::Tools => {
                assert_eq!(no.held, held.scope(capability).map(Scope::to_string), "{request}");
            }
        }
        // Following the help grants what was denied.
        let Some(text) = suggested(&no) else {
            assert!(
                scope.contains('!') && no.help.to_string().starts_with("its grants exclude it"),
                "{request}: {}",
                no.help
            );
            continue;
        };
        let scope = Scope::parse(capability, &text, Path::new("/")).expect(&text);
        assert!(ask(&held.clone().with(scope), capability, request).is_ok(), "{request}: {text}");
    }
}

#[test]
fn files_are_permitted_beneath_their_roots() {
    for capability in [Capability::FsRead, Capability::FsWrite] {
        check(capability, "", &[], &["/w", "/w/a"]);
        check(capability, ".", &["/w", "/w/", "/w/a", "/w/./a/../b"], &["/", "/ww", "/w/../x", "/w/a/../../x"]);
        check(capability, ".,!.env,!secret/x", &["/w/a", "/w/secret"], &["/w/.env", "/w/a/.env/b", "/w/secret/x/y"]);
        check(capability, ".,!docs;docs/public", &["/w/docs/public/a", "/w/a"], &["/w/docs", "/w/docs/a"]);
        check(capability, "*", &["/", "/etc/passwd"], &[]);
        check(capability, "src", &[], &["/w/my notes", "/w/it's", "/w/a,b", "/w/!x", "/w/$(rm)", "/w/*", "/w/ä"]);
    }
}

// promise files.read-only
#[test]
fn reading_is_not_writing() {
    let read = grants(Capability::FsRead, "*");
    let write = grants(Capability::FsWrite, "*");
    assert!(ask(&read, Capability::FsWrite, "/a").is_err());
    assert!(ask(&write, Capability::FsRead, "/a").is_err());
}

// promise process.prefix
#[test]
fn commands_are_permitted_by_their_first_words() {
    check(Capability::Process, "", &[], &["git", "git push -f"]);
    check(Capability::Process, "git status", &["git status -s"], &["git", "gitk status", "/bin/git status", "*"]);
    check(Capability::Process, "ls", &["ls -l"], &["sh -c $(x)'y'", "a;b", "a,b c\"d"]);
    check(Capability::Process, "*", &["rm -rf"], &[]);
}

// promise http.checked
#[test]
fn requests_are_permitted_by_method_host_and_port() {
    check(Capability::Http, "", &[], &["GET a.b 443", "PUT a.b 80"]);
    check(Capability::Http, "a.b", &["GET a.b 443", "HEAD A.B. 443"], &["POST a.b 443", "GET a.b 80", "GET x.a.b 443"]);
    check(Capability::Http, "POST *.b:*", &["POST a.b 8080"], &["GET a.b 443", "POST b 443", "POST ::1 80"]);
    check(Capability::Http, "* *:*", &["DELETE a 1", "GET 127.0.0.1 80"], &[]);
}

#[test]
fn state_is_permitted_up_to_its_access() {
    check(Capability::State, "", &[], &["read", "write"]);
    check(Capability::State, "read", &["read"], &["write"]);
    check(Capability::State, "write", &["read", "write"], &[]);
}

#[test]
fn tools_of_servers_are_permitted_by_name_and_reading_apart() {
    check(Capability::Mcp, "", &[], &["a/x", "a/x read"]);
    check(Capability::Mcp, "a", &["a/x", "a/x read"], &["b/x"]);
    check(Capability::Mcp, "a/x", &["a/x", "a/x read"], &["a/y", "b/x", "A/x"]);
    check(Capability::Mcp, "a read", &["a/x read"], &["a/x", "b/x"]);
    check(Capability::Mcp, "*", &["a/x", "b/y z"], &[]);
    check(Capability::Tools, "", &[], &["grep"]);
    check(Capability::Tools, "grep", &["grep"], &["ls"]);
    check(Capability::Tools, "*,!grep", &["ls"], &["grep"]);
}

// promise design.permits
#[test]
fn a_permit_names_the_root_and_the_path_beneath_it() {
    let grants = grants(Capability::FsRead, "src,/data,!x;src/deep");
    let at = |path: &str| {
        let permit = grants.permit_read(&plugin(), Path::new(path)).expect(path);
        (permit.root().to_str().unwrap().to_owned(), permit.relative().to_str().unwrap().to_owned())
    };
    assert_eq!(at("/w/src"), ("/w/src".to_owned(), String::new()));
    assert_eq!(at("/w/src/./a/../b"), ("/w/src".to_owned(), "b".to_owned()));
    assert_eq!(at("/data/c/d"), ("/data".to_owned(), "c/d".to_owned()));
    // The innermost root that permits it.
    assert_eq!(at("/w/src/deep/y"), ("/w/src/deep".to_owned(), "y".to_owned()));
}

// promise files.deny: A denied glob applies under every name that leads to the file.
#[test]
fn a_link_to_a_denied_file_is_found_by_the_recheck() {
    let grants = grants(Capability::FsWrite, ".,!.env");
    let permit = grants.permit_write(&plugin(), Path::new("/w/link")).unwrap();
    for real in ["a", "", "/w/a", "/w", "a/../b"] {
        assert!(permit.recheck(Path::new(real)).is_ok(), "{real}");
    }
    for real in ["/w/.env", ".env", "a/.env/b", "/etc/passwd", "/", "..", "../x", "/w/../x"] {
        let no = permit.recheck(Path::new(real)).expect_err(real);
        assert_eq!(no.held.as_deref(), Some("/w"), "{real}");
    }
    assert!(permit.denies(Path::new("/w/b/.env")) && !permit.denies(Path::new("/w/b")));
}

#[test]
fn permit_for_a_path_that_is_not_absolute_text_is_denied_without_a_suggestion() {
    use std::os::unix::ffi::OsStrExt;
    let latin = Path::new(std::ffi::OsStr::from_bytes(b"/x/\xff"));
    for path in [Path::new("a"), Path::new(""), Path::new("/.."), Path::new("/w/../.."), Path::new("/x/\u{1b}"), latin]
    {
        let no = grants(Capability::FsRead, ".").permit_read(&plugin(), path).expect_err("it is not covered");
        let help = "to allow it, add --grant fetch:fs-read=SCOPE with a scope that covers it";
        assert_eq!(no.help.to_string(), help, "{path:?}");
    }
    // A path that is not UTF-8 can be read beneath a root that is.
    assert!(grants(Capability::FsRead, "/x").permit_read(&plugin(), latin).is_ok());
}

// promise plugin.messages: A plugin can write neither a wider grant nor an escape sequence into a message that the
//   user reads to decide.
#[test]
fn a_guest_cannot_write_a_wider_grant_into_the_help() {
    let authority = Authority::new("a.b", 443).unwrap();
    for method in ["GET *:*,PUT", "*", "", "get", "GET\n"] {
        let no = Grants::none().permit_http(&plugin(), method, &authority).expect_err(method);
        assert!(no.help.to_string().contains("http=SCOPE with"), "{}", no.help);
    }
    let command = ["x".to_owned(), "a,*".to_owned(), "b' --grant evil".to_owned()];
    let no = Grants::none().permit_process(&plugin(), &command).expect_err("nothing is granted");
    let scope = Scope::parse(Capability::Process, &suggested(&no).unwrap(), Path::new("/")).unwrap();
    let held = Grants::none().with(scope);
    assert!(held.permit_process(&plugin(), &command).is_ok());
    assert!(held.permit_process(&plugin(), &argv("x")).is_err());
}

// promise http.resolved
#[test]
fn a_near_address_needs_a_grant_that_reaches_it() {
    let far = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"];
    let near =
        ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1"];
    let host = Authority::new("api.a.b", 443).unwrap();
    for (scope, reaches) in [
        ("api.a.b", true),
        ("*.b,api.a.b", true),
        ("* +private", true),
        ("*", false),
        ("*.b", false),
        ("api.a.b -private", false),
        ("*,api.a.b:80,POST api.a.b", false),
    ] {
        let permit = grants(Capability::Http, scope).permit_http(&plugin(), "GET", &host).expect(scope);
        for address in far {
            assert!(permit.permit_address(address.parse().unwrap()).is_ok(), "{scope} {address}");
        }
        for address in near {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(permit.permit_address(address).is_ok(), reaches, "{scope} {address}");
        }
    }
    let permit = grants(Capability::Http, "*").permit_http(&plugin(), "GET", &host).unwrap();
    let no = permit.permit_address("127.0.0.1".parse().unwrap()).expect_err("a pattern reaches far addresses only");
    assert_eq!(no.to_string(), "`fetch` has no http grant for `api.a.b:443 at 127.0.0.1`");
    assert_eq!(no.help.to_string(), "to allow it, add --grant fetch:http=api.a.b:443");
}

// promise confine.grants
#[test]
fn servers_of_a_line_are_those_of_the_commands_in_it() {
    let scope = "sh;cargo;net=crates.io;git push;net=example.com;npm";
    let grants = Grants::none().with(Scope::parse(Capability::Process, scope, Path::new("/w")).expect("a scope"));
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let reached = |commands: &[&str]| {
        let permit = grants.permit_process(&PluginName::new("p"), &words("sh -c line")).expect("it is granted");
        let permit = permit.running(commands.iter().map(|command| words(command)).collect());
        let servers = ["crates.io", "example.com"];
        let reach = |name: &&&str| permit.permit_server(&Authority::new(name, 443).expect("a host")).is_ok();
        let found: Vec<&str> = servers.iter().filter(reach).copied().collect();
        assert_eq!(permit.has_servers(), !found.is_empty());
        found.join(" ")
    };
    assert_eq!(reached(&["cargo build", "ls"]), "crates.io");
    assert_eq!(reached(&["cargo", "git push -f"]), "crates.io example.com");
    assert_eq!(reached(&["git status", "npm test"]), "");
    assert_eq!(reached(&[]), "");
}
