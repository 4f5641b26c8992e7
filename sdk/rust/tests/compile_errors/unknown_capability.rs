use host_sdk::tool;

/// Counts.
#[tool(needs(fs_reed = "*", reason = "count"))]
fn count() -> String {
    String::new()
}

/// Counts.
#[tool(needs(network, reason = "count"))]
fn count_two() -> String {
    String::new()
}

/// Counts.
#[tool(needs(fs_read = "*"))]
fn count_three() -> String {
    String::new()
}

/// Counts.
#[tool(needs(fs_read, reason = "count"), needs(fs_read = "src", reason = "count"))]
fn count_four() -> String {
    String::new()
}

/// Counts.
#[tool(needs)]
fn count_five() -> String {
    String::new()
}

fn main() {}
