//! The JSON Schema of the configuration file, for editors and for the reference.
//!
//! The shape, the documentation and the defaults come from the structs that are read. Deliberately not here: which keys
//! a project may set.

use std::collections::BTreeMap;

use host_model::{Effort, Verbosity};
use host_process::ConfineMode;
use host_tool::ApprovalMode;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema as _, Schema, SchemaGenerator, json_schema};

use super::{CONTEXT_FILES, ConfigurationFile, Service};

/// The schema of `config.toml`, read as JSON.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ConfigurationFile>()
}

/// The names of context files that are looked for by default.
pub(super) fn context_files() -> Vec<&'static str> {
    CONTEXT_FILES.to_vec()
}

pub(super) fn approval_mode(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ApprovalMode::ALL.map(ApprovalMode::name) })
}

pub(super) fn effort(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Effort::ALL.map(Effort::name) })
}

pub(super) fn verbosity(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Verbosity::ALL.map(Verbosity::name) })
}

pub(super) fn confine_mode(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ConfineMode::ALL.map(ConfineMode::name) })
}

pub(super) fn providers(generator: &mut SchemaGenerator) -> Schema {
    BTreeMap::<String, Service>::json_schema(generator)
}
