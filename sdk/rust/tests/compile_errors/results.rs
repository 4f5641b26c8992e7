use host_sdk::{Failure, tool};

/// Counts.
#[tool(read_only)]
fn says_nothing() {}

/// Counts.
#[tool(read_only)]
fn says_nothing_either() -> Result<(), Failure> {
    Ok(())
}

/// Counts.
#[tool(read_only, text = words)]
fn has_words() -> String {
    String::new()
}

fn words(text: &String) -> String {
    text.clone()
}

fn main() {}
