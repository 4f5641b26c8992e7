use host_sdk::tool;

#[tool(read_only)]
fn count(
    /// The file.
    path: String,
) -> String {
    path
}

/// Counts.
#[tool(read_only)]
fn count_two(
    /// The file.
    path: String,
    other: String,
) -> String {
    path + &other
}

/// Counts.
#[tool(read_only)]
fn count_one(path: String) -> String {
    path
}

fn main() {}
