//! The attribute `data`: the derives that a type needs to go in and out of a tool.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Fields, Item};

/// Writes the item with its derives.
///
/// # Errors
///
/// When it is neither a struct nor an enum, or there are options, of which there are none.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !options.is_empty() {
        let why = "`#[data]` takes no options; `#[serde(…)]` and `#[schemars(…)]` stand beside it";
        return Err(syn::Error::new(options.span(), why));
    }
    let item: Item = syn::parse2(item)?;
    // With a flattened field serde cannot say which fields are unknown.
    let strict = match &item {
        Item::Struct(of) => {
            !of.fields.iter().any(|field| flattens(&field.attrs)) && matches!(of.fields, Fields::Named(_))
        }
        Item::Enum(of) => of.variants.iter().any(|variant| matches!(variant.fields, Fields::Named(_))),
        other => return Err(syn::Error::new(other.span(), "`#[data]` stands above a struct or an enum")),
    };
    let strict = strict.then(|| quote!(#[serde(deny_unknown_fields)]));
    Ok(quote! {
        #[derive(::host_sdk::serde::Serialize, ::host_sdk::serde::Deserialize, ::host_sdk::schemars::JsonSchema)]
        #[serde(crate = "::host_sdk::serde")]
        #[schemars(crate = "::host_sdk::schemars")]
        #strict
        #item
    })
}

fn flattens(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("serde")).any(|attribute| {
        let mut found = false;
        // What serde does not understand is for serde to say.
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("flatten");
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
        found
    })
}
