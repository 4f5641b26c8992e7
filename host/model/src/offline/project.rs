//! Reads what a project says about itself, in its manifests and its README.
//!
//! Read line by line, not parsed: only a name and a description are needed, and an incomplete manifest should yield
//! what it has. JSON is the exception, since its single lines have no meaning.

use host_text::{CodeBlocks, Indent, LineKind};
use serde_json::Value;

/// The most characters of a README's paragraph or of a description.
const QUOTED_CHARS: usize = 600;

/// The syntax of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Toml,
    Json,
    Yaml,
    GoMod,
    /// It is only mentioned, not read.
    Unread,
}

/// The known manifests: the file's name, the kind of project that it shows, and its syntax.
const MANIFESTS: &[(&str, &str, Syntax)] = &[
    ("Cargo.toml", "Rust", Syntax::Toml),
    ("package.json", "JavaScript", Syntax::Json),
    ("deno.json", "JavaScript (Deno)", Syntax::Json),
    ("pyproject.toml", "Python", Syntax::Toml),
    ("go.mod", "Go", Syntax::GoMod),
    ("composer.json", "PHP", Syntax::Json),
    ("pubspec.yaml", "Dart", Syntax::Yaml),
    ("setup.py", "Python", Syntax::Unread),
    ("pom.xml", "Java (Maven)", Syntax::Unread),
    ("build.gradle", "Java (Gradle)", Syntax::Unread),
    ("build.gradle.kts", "Kotlin (Gradle)", Syntax::Unread),
    ("CMakeLists.txt", "C or C++ (CMake)", Syntax::Unread),
    ("meson.build", "C or C++ (Meson)", Syntax::Unread),
    ("Gemfile", "Ruby", Syntax::Unread),
    ("mix.exs", "Elixir", Syntax::Unread),
    ("Package.swift", "Swift", Syntax::Unread),
    ("Makefile", "Make", Syntax::Unread),
];

/// The TOML tables that contain the name of a package.
const PACKAGE_TABLES: &[&str] = &["package", "project", "workspace.package", "tool.poetry"];

/// The content of a manifest.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    /// The members of a workspace.
    pub(super) members: Vec<String>,
}

/// The beginning of a README.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Readme {
    pub(super) title: Option<String>,
    /// The first paragraph of prose.
    pub(super) paragraph: Option<String>,
}

/// Returns the kind of project that a file of this name shows, if it is a manifest.
pub(super) fn ecosystem(path: &str) -> Option<&'static str> {
    known(path).map(|(_, ecosystem, _)| *ecosystem)
}

/// Whether this manifest is worth reading.
pub(super) fn is_readable(path: &str) -> bool {
    known(path).is_some_and(|(_, _, syntax)| *syntax != Syntax::Unread)
}

/// Returns the rank of a README by its name, the lower the better; `None` for other files.
pub(super) fn readme_rank(path: &str) -> Option<usize> {
    let name = file_name(path).to_ascii_lowercase();
    ["readme.md", "readme", "readme.rst", "readme.txt", "readme.adoc"].iter().position(|readme| *readme == name)
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn known(path: &str) -> Option<&'static (&'static str, &'static str, Syntax)> {
    MANIFESTS.iter().find(|(name, _, _)| *name == file_name(path))
}

impl Manifest {
    pub(super) fn read(path: &str, text: &str) -> Self {
        match known(path).map_or(Syntax::Unread, |(_, _, syntax)| *syntax) {
            Syntax::Toml => Self::toml(text),
            Syntax::Json => Self::json(text),
            Syntax::Yaml => Self::lines(text, |line| line.split_once(':')),
            Syntax::GoMod => {
                let name = text.lines().find_map(|line| line.strip_prefix("module "));
                Self { name: name.and_then(value), ..Self::default() }
            }
            Syntax::Unread => Self::default(),
        }
    }

    fn toml(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut table = "";
        let mut in_members = false;
        for line in text.lines().map(str::trim) {
            if in_members {
                in_members = !manifest.take_members(line);
            } else if let Some(header) = line.strip_prefix('[') {
                table = header.trim_matches(|c| c == '[' || c == ']');
            } else if let Some((key, rest)) = line.split_once('=') {
                match key.trim() {
                    "members" if table == "workspace" => in_members = !manifest.take_members(rest),
                    key if PACKAGE_TABLES.contains(&table) => manifest.take(key, rest),
                    _ => {}
                }
            }
        }
        manifest
    }

    /// Takes the quoted names of a line; returns whether the list ends on it.
    fn take_members(&mut self, line: &str) -> bool {
        let line = line.split('#').next().unwrap_or_default();
        self.members.extend(line.split('"').skip(1).step_by(2).map(quoted));
        line.contains(']')
    }

    fn json(text: &str) -> Self {
        // A note of the tool may precede it.
        let Ok(json) = serde_json::from_str::<Value>(text.get(text.find('{').unwrap_or(0)..).unwrap_or_default())
        else {
            return Self::default();
        };
        let text = |field: &str| json.get(field).and_then(Value::as_str).and_then(value);
        let workspaces = json.get("workspaces");
        let members = workspaces.and_then(|list| list.get("packages").unwrap_or(list).as_array());
        Self {
            name: text("name"),
            description: text("description"),
            members: members.into_iter().flatten().filter_map(Value::as_str).map(quoted).collect(),
        }
    }

    fn lines(text: &str, split: impl Fn(&str) -> Option<(&str, &str)>) -> Self {
        let mut manifest = Self::default();
        for (key, rest) in text.lines().filter_map(split) {
            manifest.take(key, rest);
        }
        manifest
    }

    fn take(&mut self, key: &str, rest: &str) {
        match key {
            "name" if self.name.is_none() => self.name = value(rest),
            "description" if self.description.is_none() => self.description = value(rest),
            _ => {}
        }
    }
}

impl Readme {
    pub(super) fn read(text: &str) -> Self {
        let mut readme = Self::default();
        let mut paragraph: Vec<&str> = Vec::new();
        let mut blocks = CodeBlocks::new(Indent::Any);
        let mut lines = text.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            let is_underlined = lines.peek().is_some_and(|next| is_underline(next));
            let fenced = blocks.line(line) != LineKind::Text;
            if fenced || !is_prose(line) || is_underlined {
                if !paragraph.is_empty() {
                    break;
                }
                let heading = line.strip_prefix("# ").or(is_underlined.then_some(line));
                if let Some(heading) = heading.filter(|_| !fenced && readme.title.is_none()) {
                    readme.title = value(heading);
                }
            } else {
                paragraph.push(line);
            }
        }
        readme.paragraph = value(&paragraph.join(" "));
        readme
    }
}

/// Whether a line can be part of a paragraph: not a heading, badge, list, table, quote, HTML or note of a tool.
fn is_prose(line: &str) -> bool {
    let starts = ["#", "[!", "![", "<", "|", "```", "~~~", "- ", "* ", "+ ", ".. ", "(", ":", "[//]"];
    !line.is_empty() && !is_underline(line) && !starts.iter().any(|start| line.starts_with(start))
}

/// Whether a line is `=====` or `-----`, which underlines a heading or separates two paragraphs.
fn is_underline(line: &str) -> bool {
    let first = line.bytes().next();
    line.len() >= 3 && matches!(first, Some(b'=' | b'-' | b'~' | b'*' | b'_')) && line.bytes().all(|b| Some(b) == first)
}

/// Returns the text without white space and quotes, if anything is left.
fn value(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    (!text.is_empty()).then(|| quoted(text))
}

fn quoted(text: &str) -> String {
    host_text::clip(text, QUOTED_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_gives_name_description_and_members() {
        let check = |path: &str, text: &str, name: Option<&str>, description: Option<&str>, members: &[&str]| {
            let expected = Manifest {
                name: name.map(str::to_owned),
                description: description.map(str::to_owned),
                members: members.iter().map(|member| (*member).to_owned()).collect(),
            };
            assert_eq!(Manifest::read(path, text), expected, "{path}");
        };
        let cargo = "[package]\nname = \"tool\"\ndescription = \"Does it\"\n[dependencies]\nname = \"x\"\n";
        check("a/Cargo.toml", cargo, Some("tool"), Some("Does it"), &[]);
        let workspace = "[workspace]\nmembers = [\n  \"a\", # \"no\"\n  \"b/*\",\n]\n[workspace.package]\nname.x = 1\n";
        check("Cargo.toml", workspace, None, None, &["a", "b/*"]);
        check("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n", None, None, &["a"]);
        check("pyproject.toml", "[project]\nname = 'p'\n", Some("p"), None, &[]);
        check("package.json", r#"{"name":"n","description":"d","workspaces":["x"]}"#, Some("n"), Some("d"), &["x"]);
        check("package.json", "(lines 1-2 of 9)\n{\"name\":\"n\"}", Some("n"), None, &[]);
        check("package.json", "{\"name\":", None, None, &[]);
        check("package.json", "", None, None, &[]);
        check("go.mod", "module example.com/m\n\ngo 1.24\n", Some("example.com/m"), None, &[]);
        check("pubspec.yaml", "name: p\ndescription: \"It is\"\n", Some("p"), Some("It is"), &[]);
        check("Makefile", "name = \"x\"\n", None, None, &[]);
    }

    #[test]
    fn a_readme_gives_its_title_and_first_prose() {
        let check = |text: &str, title: Option<&str>, paragraph: Option<&str>| {
            let expected = Readme { title: title.map(str::to_owned), paragraph: paragraph.map(str::to_owned) };
            assert_eq!(Readme::read(text), expected, "{text}");
        };
        check(
            "# Tool\n\n[![ci](x)](y)\n<p align>\n\nIt does\nthings.\n\nMore.\n",
            Some("Tool"),
            Some("It does things."),
        );
        check("Tool\n====\n\nIt does.\n----\n", Some("Tool"), None);
        check("Tool\n====\n\nIt does.\n\nMore", Some("Tool"), Some("It does."));
        check("```\n# no\ncode\n```\nProse\n# Late\n", None, Some("Prose"));
        check("(lines 1-2 of 9)\n# T\n\nProse", Some("T"), Some("Prose"));
        check("", None, None);
        check("- a\n- b\n", None, None);
        assert!(Readme::read(&"ä ".repeat(2_000)).paragraph.unwrap().ends_with("… (cut)"));
    }
}
