//! Files that others run later, without walls: the user's build, editor, shell or CI.
//!
//! A list of what is widely used. A file that is not on it may be run, too: it is there to name what a reader of a
//! change would otherwise pass over.

use std::path::Path;

/// What a row names.
enum Name {
    /// A file of this name, wherever it is.
    File(&'static str),
    /// A file with this extension.
    Extension(&'static str),
    /// Everything in a folder of this path, wherever it is.
    In(&'static str),
}

use Name::{Extension, File, In};

/// Each row with who runs it: the programs by their names, or else words.
const RUN_LATER: &[(Name, &[&str])] = &[
    (File("package.json"), &["npm", "npx", "pnpm", "yarn", "bun"]),
    (File(".npmrc"), &["npm", "npx", "pnpm", "yarn", "bun"]),
    (In("node_modules/.bin"), &["npx", "npm", "pnpm", "yarn"]),
    (File("Makefile"), &["make"]),
    (File("makefile"), &["make"]),
    (File("GNUmakefile"), &["make"]),
    (Extension("mk"), &["make"]),
    (File("justfile"), &["just"]),
    (File("Taskfile.yml"), &["task"]),
    (File("CMakeLists.txt"), &["cmake"]),
    (File("meson.build"), &["meson"]),
    (File("configure"), &["configure"]),
    (File("build.rs"), &["cargo"]),
    (In(".cargo"), &["cargo"]),
    (File("rust-toolchain.toml"), &["cargo", "rustup", "rustc"]),
    (File("rust-toolchain"), &["cargo", "rustup", "rustc"]),
    (File("conftest.py"), &["pytest"]),
    (File("setup.py"), &["pip", "python3", "python"]),
    (File("noxfile.py"), &["nox"]),
    (File("tox.ini"), &["tox"]),
    (File("sitecustomize.py"), &["python3", "python", "pytest", "pip"]),
    (In(".venv/bin"), &["python3", "python", "pip"]),
    (In("venv/bin"), &["python3", "python", "pip"]),
    (File("Rakefile"), &["rake"]),
    (File("Gemfile"), &["bundle", "bundler"]),
    (File("build.gradle"), &["gradle", "gradlew"]),
    (File("build.gradle.kts"), &["gradle", "gradlew"]),
    (File("settings.gradle"), &["gradle", "gradlew"]),
    (File("gradlew"), &["gradlew"]),
    (File("mvnw"), &["mvnw"]),
    (In(".mvn"), &["mvn", "mvnw"]),
    (File("Dockerfile"), &["docker", "podman"]),
    (File("compose.yaml"), &["docker", "podman"]),
    (File("docker-compose.yml"), &["docker", "podman"]),
    (File(".envrc"), &["direnv"]),
    (File(".mise.toml"), &["mise"]),
    (File("mise.toml"), &["mise"]),
    (File(".tool-versions"), &["asdf", "mise"]),
    (File(".pre-commit-config.yaml"), &["pre-commit"]),
    (File("lefthook.yml"), &["lefthook"]),
    (In(".husky"), &["git"]),
    (In(".github/workflows"), &["CI"]),
    (In(".github/actions"), &["CI"]),
    (In(".circleci"), &["CI"]),
    (File(".gitlab-ci.yml"), &["CI"]),
    (File(".travis.yml"), &["CI"]),
    (File("azure-pipelines.yml"), &["CI"]),
    (File("Jenkinsfile"), &["CI"]),
    (In(".vscode"), &["the editor"]),
    (In(".idea"), &["the editor"]),
    (In(".devcontainer"), &["the editor"]),
];

/// Returns who runs a file later, the most usual one first: programs by their names, `CI`, or `the editor`. `None` if
/// nobody is known to.
pub fn run_later_by(path: &Path) -> Option<&'static [&'static str]> {
    let name = path.file_name()?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_meant = |row: &Name| match row {
        File(file) => name == *file,
        Extension(extension) => path.extension().is_some_and(|found| found == *extension),
        In(place) => folder.ancestors().any(|above| above.ends_with(place)),
    };
    RUN_LATER.iter().find(|(row, _)| is_meant(row)).map(|(_, by)| *by)
}

/// Whether others run later whatever lies in a folder, as the folder's own path shows. So a look at such folders finds
/// what else of a change would be passed over, such as in folders that version control ignores.
pub fn holds_what_runs_later(folder: &Path) -> bool {
    RUN_LATER.iter().any(|(row, _)| matches!(row, In(place) if folder.ends_with(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_others_run_later_are_known_by_their_names_and_folders() {
        for (path, by) in [
            ("package.json", Some("npm")),
            ("/w/packages/a/package.json", Some("npm")),
            ("/w/node_modules/.bin/tsc", Some("npx")),
            ("/w/rules.mk", Some("make")),
            ("/w/.github/workflows/ci.yml", Some("CI")),
            ("/w/.vscode/tasks.json", Some("the editor")),
            ("/w/.cargo/config.toml", Some("cargo")),
            ("/w/src/build.rs", Some("cargo")),
            ("/w/.venv/bin/activate", Some("python3")),
            ("/w/src/main.rs", None),
            ("/w/package.json/x", None),
            ("/w/my.vscode/x", None),
            ("/w/bin/x", None),
            ("/", None),
        ] {
            assert_eq!(run_later_by(Path::new(path)).and_then(|by| by.first().copied()), by, "{path}");
        }
        for (folder, holds) in [
            ("a/node_modules/.bin", true),
            (".venv/bin", true),
            (".vscode", true),
            ("bin", false),
            ("node_modules", false),
        ] {
            assert_eq!(holds_what_runs_later(Path::new(folder)), holds, "{folder}");
        }
    }
}
