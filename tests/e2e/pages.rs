//! The pages about plugins, word for word: each section from an empty folder, its files as the page has them and its
//! commands in their order. What a page installs is installed.
//!
//! Deliberately not here: `docs/publishing.md`, which has two machines (`guide.rs`).

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use host_tests::host::{Ended, Host, binary};
use host_tests::languages::compiler_caches;
use host_tests::{add_target, repository};

/// A section of a page: its heading, and its steps as one script.
struct Section {
    heading: String,
    script: String,
}

/// The sections that have commands. A block of `sh` is a step; any other block below a line that names a file and ends
/// with a colon is that file; the rest are examples.
fn sections(page: &str) -> Vec<Section> {
    let text = std::fs::read_to_string(repository().join("docs").join(page)).expect("the page is there");
    let mut sections = vec![Section { heading: "the start".to_owned(), script: String::new() }];
    let (mut lines, mut last) = (text.lines(), "");
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push(Section { heading: heading.to_owned(), script: String::new() });
        } else if let Some(language) = line.trim_start().strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| line.trim_start() != "```");
            let block: String = block.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect();
            let script = &mut sections.last_mut().expect("there is one from the start").script;
            // The last name in backticks of a line that ends with a colon.
            let named = last.strip_suffix(':').and_then(|line| line.rsplit('`').nth(1));
            match named.filter(|name| language != "sh" && name.contains('.')) {
                Some(file) => {
                    let folder = Path::new(file).parent().expect("a file is in a folder");
                    writeln!(script, "mkdir -p './{}'\ncat > '{file}' <<'THE-END'\n{block}THE-END", folder.display())
                        .expect("a string takes everything");
                }
                None if language == "sh" => script.push_str(&block),
                None => {}
            }
        } else if !line.trim().is_empty() {
            last = line;
        }
    }
    sections.retain(|section| section.script.lines().any(|line| line.contains("host plugin ")));
    sections
}

/// Follows a page in empty folders that are in no repository.
fn follow(page: &str) -> Vec<(String, Ended)> {
    let sections = sections(page);
    assert!(!sections.is_empty(), "{page} has no commands");
    let host = Host::new(["doctor"]).configured("model = \"offline\"\n");
    let followed = sections.into_iter().enumerate().map(|(place, section)| {
        let folder = host.home().join(format!("work{place}"));
        std::fs::create_dir(&folder).expect("made");
        let ended = host.end(shell(&host, &folder, &format!("set -eux\n{}", section.script)));
        assert_eq!(ended.code, Some(0), "{page}, {}:\n{}\n{}", section.heading, ended.stdout, ended.stderr);
        (section.heading, ended)
    });
    followed.collect()
}

fn shell(host: &Host, folder: &Path, script: &str) -> Command {
    let mut command = host.command_in_shell(script);
    let own = binary().parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).expect("a path");
    command.current_dir(folder).env("PATH", path);
    // The compilers of Rust are the machine's, and what was fetched once is not fetched again.
    let home = std::env::home_dir().expect("somebody runs the tests");
    for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(usual).into()));
    }
    command.envs(compiler_caches());
    let downloads = repository().join("target/test-languages/downloads");
    command.env("PIP_CACHE_DIR", downloads.join("pip")).env("npm_config_cache", downloads.join("npm"));
    if script.contains("cargo install") {
        // A tool that cargo installs is built once for all sections and runs, and unoptimized: it writes the same.
        command.env("CARGO_TARGET_DIR", downloads.join("cargo")).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    }
    // How this machine reaches its registries.
    let settings = std::env::vars_os().filter(|(name, _)| {
        ["PIP_", "npm_config_", "NPM_CONFIG_", "SSL_", "RUSTUP_TOOLCHAIN"].iter().any(|start| {
            name.as_encoded_bytes().starts_with(start.as_bytes())
                && name != "PIP_CACHE_DIR"
                && name != "npm_config_cache"
        })
    });
    command.envs(settings);
    command
}

/// Follows a page whose sections each end with a call of `size_of`.
fn check(page: &str) {
    for (heading, ended) in follow(page) {
        let last = ended.stdout.lines().rfind(|line| line.ends_with(" bytes"));
        let bytes = last.and_then(|line| line.strip_suffix(" bytes")).and_then(|bytes| bytes.parse::<u64>().ok());
        assert!(bytes.is_some_and(|bytes| bytes > 100), "{page}, {heading}: {}", ended.stdout);
    }
}

#[test]
fn page_about_c_leads_from_an_empty_folder_to_a_call() {
    check("plugins/c.md");
}

#[test]
fn page_about_zig_leads_from_an_empty_folder_to_a_call() {
    check("plugins/zig.md");
}

#[test]
fn page_about_go_leads_from_an_empty_folder_to_a_call() {
    check("plugins/go.md");
}

#[test]
fn page_about_javascript_leads_from_an_empty_folder_to_a_call() {
    check("plugins/javascript.md");
}

#[test]
fn page_about_python_leads_from_an_empty_folder_to_a_call() {
    check("plugins/python.md");
}

#[test]
fn page_about_rust_leads_from_an_empty_folder_to_a_call() {
    add_target();
    for (heading, ended) in follow("plugins/rust.md") {
        assert!(ended.stdout.contains("Cargo.toml has "), "{heading}: {}", ended.stdout);
    }
}

// promise plugin.adopted-languages: A component that the plain tools of Rust, JavaScript, Python, C or Go built becomes
//   a plugin, without a library or compiler of this host.
#[test]
fn page_about_plain_tools_leads_from_an_empty_folder_to_a_call() {
    let headings: Vec<String> = sections("plugins/plain-tools.md").into_iter().map(|section| section.heading).collect();
    assert_eq!(headings, ["Rust", "JavaScript", "Python", "C", "Go"]);
    check("plugins/plain-tools.md");
}

#[test]
fn page_about_newer_contracts_keeps_what_the_author_wrote() {
    for (heading, ended) in follow("plugins/versions.md") {
        assert!(ended.stdout.contains("3 passed, 0 failed"), "{heading}: {}", ended.stdout);
    }
}
