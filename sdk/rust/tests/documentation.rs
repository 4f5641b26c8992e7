//! The example that the documentation begins with is as short as it is said to be.

/// The lines of the first example in the crate's documentation, as a reader sees them.
fn first_example() -> Vec<&'static str> {
    let documentation = include_str!("../src/lib.rs").lines().map_while(|line| line.strip_prefix("//!"));
    let example = documentation.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let example = example.skip_while(|line| *line != "```").skip(1).take_while(|line| *line != "```");
    example.filter(|line| !line.starts_with("# ")).collect()
}

#[test]
fn a_whole_tool_is_written_in_fifteen_lines() {
    let example = first_example();
    assert!(example.iter().any(|line| line.starts_with("use host_sdk::")), "its imports are counted: {example:#?}");
    assert!(example.iter().any(|line| line.starts_with("export_plugin!")), "it is whole: {example:#?}");
    assert!(example.len() <= 15, "it has {} lines: {example:#?}", example.len());
}
