//! What cannot become a tool is refused at the token that is wrong, with what to write instead. Each file in
//! `tests/compile_errors` has beside it what the compiler says.

// promise contract.sdk
#[test]
fn what_cannot_become_a_tool_is_refused_where_it_is_wrong() {
    trybuild::TestCases::new().compile_fail("tests/compile_errors/*.rs");
}
