//! Compares the tools of a manifest with those that the component describes: a user is shown the manifest, and a model
//! calls the component.
//!
//! Deliberately not here: asking the component, which runs it.

use host_message::ToolSpec;
use host_plugin::ToolDef;
use serde_json::Value;

use super::{Manifest, ToolEntry};
use crate::shown::cut;

/// The first difference between a manifest and its component.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The component lacks a tool.
    #[error("the manifest lists a tool `{tool}`, which the component does not have")]
    NotThere {
        /// The tool.
        tool: String,
    },
    /// The manifest lacks a tool.
    #[error("the component has a tool `{tool}`, which the manifest does not list")]
    LeftOut {
        /// The tool.
        tool: String,
    },
    /// A tool is described differently.
    #[error(
        "the manifest and the component differ in the {part} of `{tool}`: {says} in the manifest, {is} in the \
             component"
    )]
    Otherwise {
        /// The tool.
        tool: String,
        /// The part that differs.
        part: &'static str,
        /// The manifest's value, as JSON, cut.
        says: String,
        /// The component's value.
        is: String,
    },
}

impl From<ToolDef> for ToolEntry {
    fn from(ToolDef { spec, needs }: ToolDef) -> Self {
        Self { spec, capabilities: needs.into_iter().map(|need| need.name).collect(), call_title: None }
    }
}

impl Manifest {
    /// Checks that the tools are those that the component described.
    ///
    /// # Errors
    ///
    /// With the first difference.
    pub fn check_described(&self, described: Vec<ToolDef>) -> Result<(), Mismatch> {
        let described: Vec<ToolEntry> = described.into_iter().map(ToolEntry::from).collect();
        let named = |tools: &[ToolEntry], name: &ToolEntry| tools.iter().position(|it| it.spec.name == name.spec.name);
        if let Some(tool) = described.iter().find(|tool| named(&self.tools, tool).is_none()) {
            return Err(Mismatch::LeftOut { tool: cut(tool.spec.name.as_str()) });
        }
        for tool in &self.tools {
            match named(&described, tool).and_then(|at| described.get(at)) {
                None => return Err(Mismatch::NotThere { tool: cut(tool.spec.name.as_str()) }),
                Some(is) => same(tool, is)?,
            }
        }
        Ok(())
    }
}

fn same(says: &ToolEntry, is: &ToolEntry) -> Result<(), Mismatch> {
    let parts = |entry: &ToolEntry| -> [(&'static str, Value); 6] {
        // A new part has to be added here. A component does not describe titles: they are the manifest's alone.
        let ToolEntry { spec, capabilities, call_title: _ } = entry;
        let ToolSpec { name: _, title, description, input_schema, output_schema, annotations } = spec;
        [
            ("list of capabilities", Value::from(capabilities.clone())),
            ("hints", serde_json::to_value(annotations).unwrap_or_default()),
            ("title", Value::from(title.clone())),
            ("description", Value::from(description.clone())),
            ("input schema", Value::clone(input_schema)),
            ("output schema", output_schema.as_deref().cloned().unwrap_or_default()),
        ]
    };
    for ((part, says_), (_, is_)) in parts(says).into_iter().zip(parts(is)) {
        if says_ != is_ {
            let tool = cut(says.spec.name.as_str());
            return Err(Mismatch::Otherwise { tool, part, says: cut(&says_.to_string()), is: cut(&is_.to_string()) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use host_message::{Annotations, ToolName};
    use host_plugin::Need;
    use serde_json::json;

    use super::*;
    use crate::manifest::{Source, SourceManifest};

    fn described() -> Vec<ToolDef> {
        let tool = |name: &str| ToolDef {
            spec: ToolSpec {
                name: ToolName::new(name),
                title: Some("Fetch".to_owned()),
                description: "Fetches.".to_owned(),
                input_schema: json!({"type": "object"}).into(),
                output_schema: None,
                annotations: Annotations::default(),
            },
            needs: vec![Need { name: "http".to_owned(), scope: "*".to_owned(), reason: "to fetch".to_owned() }],
        };
        vec![tool("fetch"), tool("head")]
    }

    fn manifest() -> Manifest {
        let text = "name = \"acme/fetch\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n[capabilities.http]\nscope = \"*\"\n\
                    reason = \"to fetch\"\n";
        let source = SourceManifest::parse(text, &Source::Bundle).expect("it is right");
        let manifest = Manifest::new(source, semver::Version::new(0, 1, 0), described()).expect("it is right");
        // The manifest as a user who installs it reads it.
        Manifest::parse(&manifest.to_json(), Source::Bundle).expect("it is right")
    }

    #[test]
    fn manifest_that_was_built_matches_its_component() {
        assert_eq!(manifest().check_described(described()), Ok(()));
        let mut turned = described();
        turned.reverse();
        assert_eq!(manifest().check_described(turned), Ok(()), "the order is no difference");
    }

    // promise install.described
    #[test]
    fn manifest_that_differs_from_its_component_is_reported_with_the_first_difference() {
        type Lie = fn(&mut Manifest);
        let lies: [(Lie, &str); 8] = [
            (|it| drop(it.tools.pop()), "the component has a tool `head`, which the manifest does not list"),
            (|it| it.tools[1].spec.name = ToolName::new("post"), "the component has a tool `head`"),
            (
                |it| {
                    it.tools.push(ToolEntry {
                        spec: ToolSpec { name: ToolName::new("post"), ..it.tools[0].spec.clone() },
                        ..it.tools[0].clone()
                    })
                },
                "the manifest lists a tool `post`",
            ),
            (
                |it| it.tools[0].spec.description = "Reads.".to_owned(),
                "\"Reads.\" in the manifest, \"Fetches.\" in the component",
            ),
            (|it| it.tools[0].spec.title = None, "null in the manifest"),
            (|it| it.tools[0].spec.annotations.read_only = true, "differ in the hints of `fetch`"),
            (
                |it| it.tools[1].spec.input_schema = json!({"type": "object", "required": ["x"]}).into(),
                "differ in the input schema of `head`",
            ),
            (
                |it| it.tools[0].capabilities.clear(),
                "differ in the list of capabilities of `fetch`: [] in the manifest, [\"http\"] in the component",
            ),
        ];
        for (lie, says) in lies {
            let mut manifest = manifest();
            lie(&mut manifest);
            let told = manifest.check_described(described()).expect_err(says).to_string();
            assert!(told.contains(says), "{told}");
        }
    }

    #[test]
    fn manifest_text_is_cut_in_an_error() {
        let mut manifest = manifest();
        manifest.tools[0].spec.description = "x".repeat(10_000);
        let told = manifest.check_described(described()).expect_err("it lies").to_string();
        assert!(told.len() < 2_000, "{} bytes", told.len());
    }
}
