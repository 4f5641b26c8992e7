use host_sdk::tool;

/// Counts.
#[tool(preview = no_such_function)]
fn has_a_preview() -> String {
    String::new()
}

fn main() {}
