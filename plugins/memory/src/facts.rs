//! The facts themselves, and how they are kept.

use std::fmt::Write;

use host_sdk::Failure;
use serde::{Deserialize, Serialize};

/// How many facts are kept; together with [`MAX_FACT`] what fits into one value of the host's.
const MAX_FACTS: usize = 200;

/// How many characters a fact has.
const MAX_FACT: usize = 1_000;

/// How many characters a key has, as the schema says.
const MAX_KEY: usize = 64;

/// All facts, in the order in which they were first saved.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    facts: Vec<Fact>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    key: String,
    fact: String,
}

impl Facts {
    /// Reads what [`Facts::to_bytes`] wrote.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(bytes)
            .map_err(|error| Failure::Failed(format!("the kept facts cannot be read: {error}")))
    }

    /// The facts as they are kept.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("text serialises to JSON")
    }

    /// Keeps a fact, in place of one with the same key. Without a key it gets one.
    pub(crate) fn save(&mut self, key: Option<&str>, fact: &str) -> Result<String, Failure> {
        let fact = one_line(fact, "fact", MAX_FACT)?;
        let key = match key {
            Some(key) => one_line(key, "key", MAX_KEY)?,
            None => match self.facts.iter().find(|kept| kept.fact == fact) {
                Some(kept) => return Ok(format!("Already known as `{}`", kept.key)),
                None => self.free_key(),
            },
        };
        if let Some(kept) = self.facts.iter_mut().find(|kept| kept.key == key) {
            kept.fact = fact;
            return Ok(format!("Saved in place of what `{key}` was"));
        }
        if self.facts.len() >= MAX_FACTS {
            return Err(Failure::Conflict(format!("{MAX_FACTS} facts are kept already: forget one first")));
        }
        let done = format!("Saved as `{key}`");
        self.facts.push(Fact { key, fact });
        Ok(done)
    }

    /// Drops a fact.
    pub(crate) fn forget(&mut self, key: &str) -> Result<String, Failure> {
        let before = self.facts.len();
        self.facts.retain(|kept| kept.key != key.trim());
        if self.facts.len() == before {
            return Err(Failure::NotFound(format!("no fact has the key `{key}`")));
        }
        Ok(format!("Forgot `{}`", key.trim()))
    }

    /// The lines for a model.
    pub(crate) fn write(&self) -> String {
        if self.facts.is_empty() {
            return "No facts are kept\n".to_owned();
        }
        let mut text = String::new();
        for Fact { key, fact } in &self.facts {
            _ = writeln!(text, "{key}: {fact}");
        }
        text
    }

    /// The line for a user.
    pub(crate) fn summary(&self) -> String {
        match self.facts.len() {
            1 => "1 fact".to_owned(),
            count => format!("{count} facts"),
        }
    }

    fn free_key(&self) -> String {
        let taken = |key: &str| self.facts.iter().any(|kept| kept.key == key);
        (1..).map(|number: u32| format!("fact-{number}")).find(|key| !taken(key)).unwrap_or_default()
    }
}

/// The text on one line, since each fact is a line of the list.
fn one_line(text: &str, what: &str, limit: usize) -> Result<String, Failure> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() {
        0 => Err(Failure::InvalidArguments(format!("`{what}` is empty"))),
        count if count > limit => {
            Err(Failure::InvalidArguments(format!("`{what}` has {count} characters, more than {limit}: shorten it")))
        }
        _ => Ok(line.chars().filter(|c| !c.is_control()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(saved: &[(Option<&str>, &str)]) -> Facts {
        let mut facts = Facts::default();
        for (key, fact) in saved {
            facts.save(*key, fact).expect("it fits");
        }
        facts
    }

    #[test]
    fn facts_come_back_in_order_and_survive_being_kept() {
        let facts = facts(&[(None, "tests run\n with `make`"), (Some("style"), "tabs"), (None, "b")]);
        assert_eq!(facts.write(), "fact-1: tests run with `make`\nstyle: tabs\nfact-2: b\n");
        assert_eq!(Facts::from_bytes(&facts.to_bytes()), Ok(facts));
        assert!(matches!(Facts::from_bytes(b"{"), Err(Failure::Failed(_))));
    }

    #[test]
    fn a_key_names_one_fact() {
        let mut facts = facts(&[(Some("a"), "1"), (Some("a"), "2"), (None, "2")]);
        assert_eq!(facts.write(), "a: 2\n");
        assert_eq!(facts.forget(" a "), Ok("Forgot `a`".to_owned()));
        assert!(matches!(facts.forget("a"), Err(Failure::NotFound(_))));
        assert_eq!(facts.write(), "No facts are kept\n");
    }

    #[test]
    fn facts_have_limits() {
        let mut facts = Facts::default();
        assert!(matches!(facts.save(None, " \n"), Err(Failure::InvalidArguments(_))));
        assert!(matches!(facts.save(None, &"x".repeat(MAX_FACT + 1)), Err(Failure::InvalidArguments(_))));
        for i in 0..MAX_FACTS {
            facts.save(None, &format!("{i}{}", "é".repeat(MAX_FACT - 10))).expect("it fits");
        }
        assert!(matches!(facts.save(None, "one more"), Err(Failure::Conflict(_))));
        // What the host keeps under one key is at most a mebibyte.
        assert!(facts.to_bytes().len() < 1024 * 1024);
    }
}
