//! Writes a rule as the text of a file, for the answers that are stored.

use std::fmt::Write as _;

use toml::Value;

use super::Rule;

impl Rule {
    /// Formats the rule as a `[[rule]]` table, which [`Policy::parse`](super::Policy::parse) reads back. The text
    /// begins with an empty line and ends with a newline, so that it can be appended to a file. It does not contain the
    /// rule's source.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("\n[[rule]]\n");
        // Keys without a value are left out: an empty list would be an error when it is read back.
        let mut add = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{key} = {value}");
            }
        };
        let string = |text: &str| Value::String(text.to_owned());
        let list = |texts: Vec<String>| match texts.as_slice() {
            [] => None,
            [one] => Some(string(one)),
            all => Some(Value::Array(all.iter().map(|text| string(text)).collect())),
        };
        let names = |names: &[String]| list(names.to_vec());
        add("tool", names(&self.tool));
        add("plugin", self.plugin.as_deref().map(string));
        add("digest", names(&self.digest));
        add(
            "scope",
            self.scope.as_ref().map(|scope| {
                let scopes =
                    scope.iter().map(|scope| (scope.capability().to_string(), Value::String(scope.to_string())));
                Value::Table(scopes.collect())
            }),
        );
        // Where an answer was given is a part of it.
        add("workspace", self.workspace.as_ref().map(|path| string(&path.to_string_lossy())));
        add("arguments", self.arguments.as_ref().map(|pattern| string(pattern.as_str())));
        add("command", list(self.command.iter().map(ToString::to_string).collect()));
        add("capability", list(self.capability.iter().map(ToString::to_string).collect()));
        add("agent", names(&self.agent));
        add("mode", list(self.mode.iter().map(ToString::to_string).collect()));
        add("net", names(&self.net));
        add("walls", self.leaves_walls.then_some(Value::Boolean(false)));
        add("decision", Some(string(self.decision.name())));
        add("priority", Some(Value::Integer(i64::from(self.priority))));
        add("message", self.message.as_deref().map(string));
        text
    }
}
