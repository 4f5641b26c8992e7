//! What cannot become a tool is refused at the token that is wrong, with what to write instead. Each file in
//! `tests/compile_errors` has beside it what the compiler says.

// promise contract.sdk
#[test]
fn attribute_mistake_is_a_compile_error_at_its_place() {
    trybuild::TestCases::new().compile_fail("tests/compile_errors/*.rs");
}
