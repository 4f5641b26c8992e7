use host_sdk::tool;

struct Counter;

impl Counter {
    /// Counts.
    #[tool(read_only)]
    fn count(&self) -> String {
        String::new()
    }
}

/// Counts.
#[tool(read_only)]
async fn count_later() -> String {
    String::new()
}

/// Counts.
#[tool(read_only)]
fn count_any<T: std::fmt::Display>(
    /// The thing.
    thing: T,
) -> String {
    thing.to_string()
}

/// Counts.
#[tool(read_only)]
struct Count;

fn main() {}
