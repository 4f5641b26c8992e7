use host_sdk::tool;

/// Counts.
#[tool(read_only)]
fn borrows(
    /// The file.
    path: &str,
) -> String {
    path.to_owned()
}

/// Counts.
#[tool(read_only)]
fn takes_apart(
    /// Two files.
    (one, two): (String, String),
) -> String {
    one + &two
}

/// Counts.
#[tool(read_only)]
fn default_without_a_value(
    /// How many.
    #[default]
    many: u32,
) -> String {
    many.to_string()
}

fn main() {}
