//! Which servers package managers download from, and where they keep what they downloaded.
//!
//! A row for each family of programs, as data: the servers that their own defaults name. A question about one of them
//! is about the whole row, so that a build is asked about once and not server by server.
//!
//! Deliberately not here: asking, and what a program may do with such a folder.

/// A family of programs that download from the same servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registry {
    /// Their names.
    pub programs: &'static [&'static str],
    /// The servers, by their names; all on port 443.
    pub servers: &'static [&'static str],
    /// What is downloaded, as a noun.
    pub what: &'static str,
    /// The folders in which they keep it, from the home on.
    pub caches: &'static [&'static str],
    /// Those of them that one of the programs makes where there is none: each with the program.
    pub first: &'static [(&'static str, &'static str)],
}

/// All rows. The servers are the defaults of the programs' own documentation, November 2026.
pub const REGISTRIES: &[Registry] = &[
    Registry {
        programs: &["cargo"],
        servers: &["index.crates.io", "static.crates.io"],
        what: "crates",
        caches: &[".cargo/registry", ".cargo/git"],
        first: &[("cargo", ".cargo/registry"), ("cargo", ".cargo/git")],
    },
    Registry { programs: &["rustup"], servers: &["static.rust-lang.org"], what: "toolchains", caches: &[], first: &[] },
    Registry {
        programs: &["npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg", "bun", "bunx", "corepack"],
        servers: &["registry.npmjs.org", "registry.yarnpkg.com", "repo.yarnpkg.com"],
        what: "packages",
        caches: &[
            ".npm",
            ".cache/yarn",
            ".yarn/berry",
            ".local/share/pnpm/store",
            ".cache/pnpm",
            ".bun/install/cache",
            ".cache/node",
        ],
        first: &[
            ("npm", ".npm"),
            ("npx", ".npm"),
            ("yarn", ".cache/yarn"),
            ("yarn", ".yarn/berry"),
            ("pnpm", ".local/share/pnpm/store"),
            ("pnpm", ".cache/pnpm"),
            ("bun", ".bun/install/cache"),
            ("bunx", ".bun/install/cache"),
        ],
    },
    Registry {
        programs: &["deno"],
        servers: &["jsr.io", "npm.jsr.io", "registry.npmjs.org"],
        what: "packages",
        caches: &[".cache/deno"],
        first: &[("deno", ".cache/deno")],
    },
    Registry {
        programs: &["pip", "pip3", "uv", "uvx", "poetry", "pipx", "pdm", "hatch", "tox", "nox", "pipenv"],
        servers: &["pypi.org", "files.pythonhosted.org"],
        what: "packages",
        caches: &[".cache/pip", ".cache/uv", ".cache/pypoetry", ".cache/pdm", ".cache/pipenv", ".local/share/uv"],
        first: &[
            ("pip", ".cache/pip"),
            ("pip3", ".cache/pip"),
            ("uv", ".cache/uv"),
            ("uvx", ".cache/uv"),
            ("poetry", ".cache/pypoetry"),
        ],
    },
    Registry {
        programs: &["go"],
        servers: &["proxy.golang.org", "sum.golang.org"],
        what: "modules",
        caches: &["go/pkg/mod", ".cache/go-build"],
        first: &[("go", "go/pkg/mod"), ("go", ".cache/go-build")],
    },
    Registry {
        programs: &["mvn", "mvnw", "gradle", "gradlew", "sbt"],
        servers: &[
            "repo.maven.apache.org",
            "repo1.maven.org",
            "plugins.gradle.org",
            "plugins-artifacts.gradle.org",
            "services.gradle.org",
            "downloads.gradle.org",
        ],
        what: "libraries",
        caches: &[".m2/repository", ".gradle/caches", ".gradle/wrapper"],
        first: &[
            ("mvn", ".m2/repository"),
            ("mvnw", ".m2/repository"),
            ("gradle", ".gradle/caches"),
            ("gradlew", ".gradle/caches"),
            ("gradlew", ".gradle/wrapper"),
        ],
    },
    Registry {
        programs: &["gem", "bundle", "bundler"],
        servers: &["rubygems.org", "index.rubygems.org"],
        what: "gems",
        caches: &[".cache/gem", ".bundle/cache"],
        first: &[("bundle", ".bundle/cache")],
    },
    Registry {
        programs: &["composer"],
        servers: &["repo.packagist.org", "packagist.org"],
        what: "packages",
        caches: &[".cache/composer"],
        first: &[("composer", ".cache/composer")],
    },
    Registry {
        programs: &["mix", "rebar3"],
        servers: &["hex.pm", "repo.hex.pm", "builds.hex.pm"],
        what: "packages",
        caches: &[".hex/packages", ".cache/rebar3"],
        first: &[("mix", ".hex/packages"), ("rebar3", ".cache/rebar3")],
    },
    Registry {
        programs: &["dotnet", "nuget"],
        servers: &["api.nuget.org"],
        what: "packages",
        caches: &[".nuget/packages"],
        first: &[("dotnet", ".nuget/packages")],
    },
];

/// The interpreters through which a package manager is run as a module: `python3 -m pip`.
const PYTHON: &[&str] = &["pip", "pip3"];

/// Returns the row of a server that is reached on port 443, if one of these commands belongs to it or starts programs
/// of its own, as a script and `make` do. A command that is known and belongs to another row does not ask for all of
/// this one.
pub fn registry_of(server: &str) -> Option<&'static Registry> {
    REGISTRIES.iter().find(|row| row.servers.contains(&server))
}

impl Registry {
    /// Returns which word of these commands names a program of the row: the program, or the module that Python runs.
    pub fn program_in<'c>(&self, commands: impl IntoIterator<Item = &'c [String]>) -> Option<&'c str> {
        commands.into_iter().find_map(|command| {
            let (program, rest) = command.split_first()?;
            let name = program.rsplit('/').next().unwrap_or(program);
            if self.programs.contains(&name) {
                return Some(name);
            }
            let module = rest.iter().skip_while(|word| *word != "-m").nth(1)?;
            let runs = name.starts_with("python") && PYTHON.contains(&module.as_str());
            (runs && self.programs.contains(&module.as_str())).then_some(module.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registry_of_a_server_knows_the_program_that_uses_it() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let check = |server: &str, lines: &[&str], program: Option<&str>| {
            let commands: Vec<Vec<String>> = lines.iter().map(|line| words(line)).collect();
            let found = registry_of(server).and_then(|row| row.program_in(commands.iter().map(Vec::as_slice)));
            assert_eq!(found, program, "{server} {lines:?}");
        };
        check("index.crates.io", &["cd x", "cargo test"], Some("cargo"));
        check("index.crates.io", &["/root/.cargo/bin/cargo test"], Some("cargo"));
        check("index.crates.io", &["make"], None);
        check("pypi.org", &["python3 -m pip install x"], Some("pip"));
        check("pypi.org", &["python3 -m pytest"], None);
        check("files.pythonhosted.org", &["uv sync"], Some("uv"));
        check("registry.npmjs.org", &["npx -y x"], Some("npx"));
        check("evil.example", &["cargo test"], None);
    }

    #[test]
    fn registries_name_servers_that_can_be_granted() {
        for row in REGISTRIES {
            for (program, folder) in row.first {
                assert!(row.programs.contains(program) && row.caches.contains(folder), "{program} {folder}");
            }
            assert!(!row.programs.is_empty() && !row.servers.is_empty() && !row.what.is_empty(), "{row:?}");
            for server in row.servers {
                assert!(
                    server.contains('.') && *server == server.to_ascii_lowercase() && !server.contains(':'),
                    "{server}"
                );
            }
        }
    }
}
