//! The differences between two versions of a plugin, and the version number that they require.
//!
//! Owns the rules by which a change is breaking: for a model that calls as before, a program that reads the results, or
//! a user whose grants were enough. Anything not known to be harmless counts as breaking. The numbers follow Semantic
//! Versioning 2.0.0; before 1.0 as cargo reads them: there the second number has the meaning of the first.
//!
//! Deliberately not here: what a component does. Two components with the same manifest can behave differently.

mod files;
mod schema;
mod settings;

use std::fmt;

use host_message::Annotations;
use semver::Version;

use crate::manifest::{Manifest, ToolEntry};

/// How much a change asks of the users of a plugin, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Nothing: texts, licences, the component itself.
    Fix,
    /// Nothing; something was added.
    Addition,
    /// Something that worked may not work any more, or more is requested than was granted.
    Breaking,
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fix => "fix",
            Self::Addition => "addition",
            Self::Breaking => "breaking",
        })
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// How much it asks of users.
    pub weight: Weight,
    /// A description: small first letter, no full stop.
    pub what: String,
}

/// The differences between two versions, the heaviest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes(Vec<Change>);

/// Whether a version number fits the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionVerdict {
    /// It fits.
    Enough,
    /// It is too low.
    TooLow {
        /// The lowest version that fits.
        needed: Version,
    },
}

impl Changes {
    /// Returns the differences between an older and a newer version of one plugin.
    pub fn between(old: &Manifest, new: &Manifest) -> Self {
        let mut found = Vec::new();
        if old.name != new.name {
            push(&mut found, Weight::Breaking, format!("the plugin `{}` is called `{}`", old.name, new.name));
        }
        if old.contract != new.contract {
            let weight = if new.contract > old.contract { Weight::Breaking } else { Weight::Addition };
            push(
                &mut found,
                weight,
                format!("it needs a host with contract {} instead of {}", new.contract, old.contract),
            );
        }
        if old.license != new.license {
            push(&mut found, Weight::Fix, format!("its licence is `{}` instead of `{}`", new.license, old.license));
        }
        capabilities(old, new, &mut found);
        settings::config(old, new, &mut found);
        settings::secrets(old, new, &mut found);
        for tool in &old.tools {
            match new.tools.iter().find(|other| other.spec.name == tool.spec.name) {
                None => push(&mut found, Weight::Breaking, format!("the tool `{}` is gone", tool.spec.name)),
                Some(other) => of_tool(tool, other, &mut found),
            }
        }
        for tool in &new.tools {
            if !old.tools.iter().any(|other| other.spec.name == tool.spec.name) {
                push(&mut found, Weight::Addition, format!("the tool `{}` is new", tool.spec.name));
            }
        }
        files::compare(&old.files, &new.files, &mut found);
        found.sort_by_key(|change| std::cmp::Reverse(change.weight));
        Self(found)
    }

    /// Iterates over the changes.
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
    }

    /// Returns the heaviest weight; a fix if the manifests are the same, since a new version has something new in it.
    pub fn weight(&self) -> Weight {
        self.0.iter().map(|change| change.weight).max().unwrap_or(Weight::Fix)
    }

    /// Whether the step from `old` to `new` fits the changes.
    pub fn verdict(&self, old: &Version, new: &Version) -> VersionVerdict {
        let needed = next(old, self.weight());
        if *new >= needed { VersionVerdict::Enough } else { VersionVerdict::TooLow { needed } }
    }
}

/// Returns the lowest version after `old` that a change of this weight may have.
fn next(old: &Version, weight: Weight) -> Version {
    // A pre-release may change in any way.
    if !old.pre.is_empty() {
        return Version::new(old.major, old.minor, old.patch);
    }
    match (weight, old.major, old.minor) {
        (Weight::Breaking, 0, 0) => Version::new(0, 0, old.patch + 1),
        (Weight::Breaking, 0, minor) => Version::new(0, minor + 1, 0),
        (Weight::Breaking, major, _) => Version::new(major + 1, 0, 0),
        (Weight::Addition, 1.., minor) => Version::new(old.major, minor + 1, 0),
        (Weight::Addition | Weight::Fix, ..) => Version::new(old.major, old.minor, old.patch + 1),
    }
}

fn push(found: &mut Vec<Change>, weight: Weight, what: String) {
    found.push(Change { weight, what });
}

fn capabilities(old: &Manifest, new: &Manifest, found: &mut Vec<Change>) {
    for (name, declared) in &new.capabilities {
        match old.capabilities.get(name) {
            None => push(
                found,
                Weight::Breaking,
                format!("it asks for `{name}` = `{}`: {}", declared.scope, declared.reason),
            ),
            Some(before) if before.scope == declared.scope || old.asks_for(name, &declared.scope) => {
                if before.scope != declared.scope {
                    let what = format!("it asks for less `{name}`: `{}` instead of `{}`", declared.scope, before.scope);
                    push(found, Weight::Addition, what);
                }
            }
            Some(before) => {
                let what = format!("it asks for more `{name}`: `{}` instead of `{}`", declared.scope, before.scope);
                push(found, Weight::Breaking, what);
            }
        }
    }
    for name in old.capabilities.keys().filter(|name| !new.capabilities.contains_key(*name)) {
        push(found, Weight::Addition, format!("it does not ask for `{name}` any more"));
    }
}

fn of_tool(old: &ToolEntry, new: &ToolEntry, found: &mut Vec<Change>) {
    let tool = &old.spec.name;
    let words = |tool: &ToolEntry| (tool.spec.description.clone(), tool.spec.title.clone(), tool.call_title.clone());
    if words(old) != words(new) {
        push(found, Weight::Fix, format!("`{tool}` is described in other words"));
    }
    annotations(tool.as_str(), old.spec.annotations, new.spec.annotations, found);
    for need in new.capabilities.iter().filter(|need| !old.capabilities.contains(need)) {
        push(found, Weight::Breaking, format!("`{tool}` needs `{need}`"));
    }
    for need in old.capabilities.iter().filter(|need| !new.capabilities.contains(need)) {
        push(found, Weight::Addition, format!("`{tool}` does not need `{need}` any more"));
    }
    for (weight, what) in schema::taken(&old.spec.input_schema, &new.spec.input_schema) {
        push(found, weight, format!("`{tool}`, arguments: {what}"));
    }
    match (&old.spec.output_schema, &new.spec.output_schema) {
        (None, None) => {}
        (None, Some(_)) => push(found, Weight::Addition, format!("`{tool}` has an output schema")),
        (Some(_), None) => push(found, Weight::Breaking, format!("`{tool}` has no output schema any more")),
        (Some(old), Some(new)) => {
            for (weight, what) in schema::given(old, new) {
                push(found, weight, format!("`{tool}`, result: {what}"));
            }
        }
    }
}

fn annotations(tool: &str, old: Annotations, new: Annotations, found: &mut Vec<Change>) {
    // Each with whether a caller has to be careful when it is true.
    for (word, before, now, careful) in [
        ("only reads", old.read_only, new.read_only, false),
        ("can lose something", old.destructive, new.destructive, true),
        ("can be repeated without more happening", old.idempotent, new.idempotent, false),
        ("communicates with something outside this machine", old.open_world, new.open_world, true),
    ] {
        if before != now {
            let weight = if now == careful { Weight::Breaking } else { Weight::Addition };
            let not = if now { "says" } else { "does not say any more" };
            push(found, weight, format!("`{tool}` {not} that it {word}"));
        }
    }
}

#[cfg(test)]
mod tests;
