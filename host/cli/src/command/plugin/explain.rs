//! `host plugin explain`: prints what a plugin may touch, in plain words.

use host_devkit::BuiltPlugin;
use host_settings::error::Failure;

use crate::exit::Code;
use crate::printer::Out;

/// Prints it for each plugin.
pub(super) fn run(plugins: &[BuiltPlugin], out: &Out) -> Result<Code, Failure> {
    for (place, BuiltPlugin { manifest, component, .. }) in plugins.iter().enumerate() {
        let imports = host_plugin::admission::imports(&manifest.plugin_name(), component).map_err(|error| {
            Failure::input(format!("`{}` cannot be loaded", manifest.name)).cause(error.to_string())
        })?;
        if place > 0 {
            out.write("\n");
        }
        out.write_entries(&host_manifest::explain(manifest, &imports));
    }
    if plugins.is_empty() {
        return Err(Failure::input("no plugin to explain"));
    }
    Ok(Code::Done)
}
