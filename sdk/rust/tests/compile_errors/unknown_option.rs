use host_sdk::tool;

/// Counts.
#[tool(readonly)]
fn count() -> String {
    String::new()
}

/// Counts.
#[tool(name = "other")]
fn count_two() -> String {
    String::new()
}

/// Counts.
#[tool(title = "One", title = "Two")]
fn count_three() -> String {
    String::new()
}

/// Counts.
#[tool(title)]
fn count_four() -> String {
    String::new()
}

/// Counts.
#[tool(read_only, destructive)]
fn count_five() -> String {
    String::new()
}

fn main() {}
