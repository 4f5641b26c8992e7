//! The attributes of `host-sdk`: [`macro@tool`] makes a tool of a typed function, [`macro@data`] makes a type one
//! that goes in and out of a tool.
//!
//! What they write is the builder's own calls (`Tool::typed`), so that whatever the attribute does can be done without
//! it, and nothing of it is left in a component but those calls.
//!
//! Promises: what cannot become a tool is an error of the compiler at the token that is wrong, with what to write
//! instead; the function stays a function that tests call like any other.
//!
//! Deliberately not here: anything that runs in a tool. That is in `host-sdk`, which re-exports these.

mod data;
mod function;
mod names;
mod options;
mod parameters;

use proc_macro::TokenStream;

/// Makes a tool of a function.
///
/// The name is the function's, the description its doc comment, the arguments its parameters. The function stays as it
/// is; beside it comes a type of the same name with the function `tool()`, which is what `export_plugin!` takes:
/// `export_plugin!(count_lines::tool())`.
///
/// # Parameters
///
/// * Each is an argument of the same name, described by its own doc comment, of a type that owns what it holds and
///   implements serde's `Deserialize` and `JsonSchema`.
/// * One of type `Option` may be left out; so may one with `#[default = VALUE]`, which then has this value.
/// * `#[serde(…)]` and `#[schemars(…)]` are passed on, such as `#[schemars(range(min = 1))]`.
/// * Or there is a single parameter without a doc comment: a struct with all the arguments as its fields
///   (`#[data]` makes one).
///
/// # What it returns
///
/// `Outcome` is taken as it is and a text as text. Any other type becomes the structured result, with a JSON Schema of
/// its own; its text is the same as JSON, or what the function says that `text = …` names. Around each of them may be a
/// `Result` whose error turns into a `Failure`.
///
/// # Options
///
/// * `title = "…"`: a name for people.
/// * `read_only`, `destructive`, `idempotent`, `open_world`: what it does to the world, each alone or with `= true` or
///   `= false`. What is not said is taken for the worst: it changes things, may lose some, and reaches outside of this
///   machine; after `read_only` it is taken for the best.
/// * `needs(fs_read = "*", reason = "…")`, once for each capability: the scope in the words of a `--grant`, and why, in
///   one line for the user who is asked. `needs(fs_read, reason = "…")` asks for whatever the user gives.
/// * `preview = path`: a function of the same parameters that says what a call would do.
/// * `revise = path`: a function of the same parameters and a text, which answers the arguments of the call that does
///   what a user made of this one.
/// * `text = path`: a function that puts a reference to the result into words.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    match function::expand(options.into(), item.clone().into()) {
        Ok(tokens) => tokens.into(),
        Err(error) => with_item(error, item),
    }
}

/// Makes a type one that goes in and out of a tool: as the struct of all arguments, as a part of them, or as a result.
///
/// It derives serde's `Serialize` and `Deserialize` and the `JsonSchema` of schemars, from the copies of `host-sdk`, so
/// that neither must be a dependency. What the type does not name is not taken (`deny_unknown_fields`), unless a field is
/// flattened. Doc comments become descriptions.
#[proc_macro_attribute]
pub fn data(options: TokenStream, item: TokenStream) -> TokenStream {
    match data::expand(options.into(), item.clone().into()) {
        Ok(tokens) => tokens.into(),
        Err(error) => with_item(error, item),
    }
}

/// The error, and the item as it was: without it every use of the item would be an error too, and hide the one that
/// matters. Attributes of parameters that only `tool` understands would be such errors, so they go.
fn with_item(error: syn::Error, item: TokenStream) -> TokenStream {
    let error = error.into_compile_error();
    let item = match syn::parse::<syn::ItemFn>(item.clone()) {
        Ok(mut function) => {
            parameters::clean(&mut function);
            quote::quote!(#function)
        }
        Err(_) => item.into(),
    };
    quote::quote!(#error #item).into()
}
