//! From the parameters of a function to the arguments of a tool.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, FnArg, Ident, ItemFn, Lit, Meta, Pat, PatType, Type};

/// The arguments of a tool, as its function takes them.
pub(crate) enum Parameters {
    /// One struct with all of them.
    Struct(Box<Type>),
    /// Each by itself.
    Each(Vec<Parameter>),
}

/// One argument.
pub(crate) struct Parameter {
    name: Ident,
    ty: Type,
    description: String,
    default: Option<Expr>,
    /// Attributes of serde's and of schemars', passed on.
    passed: Vec<Attribute>,
}

impl Parameters {
    /// Reads the parameters of the function.
    ///
    /// # Errors
    ///
    /// When one is `self`, borrows, is a pattern, or is not described.
    pub(crate) fn of(function: &ItemFn) -> syn::Result<Self> {
        let typed = function.sig.inputs.iter().map(|input| match input {
            FnArg::Typed(typed) => Ok(typed),
            FnArg::Receiver(receiver) => {
                let why = "a tool has no `self`: each call has an instance of the plugin to itself, and nothing is left \
                           from the call before; write it as a free function";
                Err(syn::Error::new(receiver.self_token.span(), why))
            }
        });
        let typed = typed.collect::<syn::Result<Vec<_>>>()?;
        if let [only] = typed.as_slice()
            && description(&only.attrs).is_empty()
            && default(&only.attrs)?.is_none()
            && !is_plain(&only.ty)
        {
            owned(&only.ty)?;
            return Ok(Self::Struct(only.ty.clone()));
        }
        typed.into_iter().map(Parameter::of).collect::<syn::Result<_>>().map(Self::Each)
    }

    /// The type of all arguments, and the items that define it where there is none.
    pub(crate) fn arguments(&self) -> (TokenStream, TokenStream) {
        let parameters = match self {
            Self::Struct(ty) => return (quote!(#ty), TokenStream::new()),
            Self::Each(parameters) => parameters,
        };
        let mut fields = TokenStream::new();
        let mut defaults = TokenStream::new();
        for Parameter { name, ty, description, default, passed } in parameters {
            let default = default.as_ref().map(|value| {
                let function = format_ident!("__default_of_{}", name);
                defaults.extend(quote! {
                    fn #function() -> #ty {
                        #value
                    }
                });
                let path = function.to_string();
                quote!(#[serde(default = #path)])
            });
            fields.extend(quote! {
                #[doc = #description]
                #default
                #(#passed)*
                #name: #ty,
            });
        }
        let items = quote! {
            #defaults

            #[derive(::host_sdk::serde::Deserialize, ::host_sdk::schemars::JsonSchema)]
            #[serde(crate = "::host_sdk::serde", deny_unknown_fields)]
            #[schemars(crate = "::host_sdk::schemars")]
            struct __Arguments {
                #fields
            }
        };
        (quote!(__Arguments), items)
    }

    /// How `arguments` is taken apart, and what a function of the same parameters is then called with, each followed
    /// by a comma.
    pub(crate) fn apart(&self) -> (TokenStream, TokenStream) {
        match self {
            Self::Struct(_) => (quote!(), quote!(arguments,)),
            Self::Each(parameters) => {
                let names: Vec<_> = parameters.iter().map(|parameter| &parameter.name).collect();
                (quote!(let __Arguments { #(#names),* } = arguments;), quote!(#(#names,)*))
            }
        }
    }
}

impl Parameter {
    fn of(typed: &PatType) -> syn::Result<Self> {
        let name = match typed.pat.as_ref() {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => pattern.ident.clone(),
            other => {
                let why = "an argument has a name that the model uses: take it apart within the function";
                return Err(syn::Error::new(other.span(), why));
            }
        };
        owned(&typed.ty)?;
        let description = description(&typed.attrs);
        if description.is_empty() {
            let why = format!(
                "the model knows an argument by its doc comment: write `/// …` above `{name}`\n(a single parameter without \
                 one is the struct of all arguments)"
            );
            return Err(syn::Error::new(name.span(), why));
        }
        let passed = typed.attrs.iter().filter(|attribute| is_passed(attribute)).cloned().collect();
        Ok(Self { name, ty: (*typed.ty).clone(), description, default: default(&typed.attrs)?, passed })
    }
}

/// Takes away the attributes of parameters that the compiler does not know there.
pub(crate) fn clean(function: &mut ItemFn) {
    for input in &mut function.sig.inputs {
        let attributes = match input {
            FnArg::Typed(typed) => &mut typed.attrs,
            FnArg::Receiver(receiver) => &mut receiver.attrs,
        };
        attributes.retain(|attribute| {
            !(attribute.path().is_ident("doc") || attribute.path().is_ident("default") || is_passed(attribute))
        });
    }
}

/// The doc comment in these attributes: lines of a paragraph joined, paragraphs apart.
pub(crate) fn description(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let Meta::NameValue(pair) = &attribute.meta
            && let Expr::Lit(value) = &pair.value
            && let Lit::Str(lines) = &value.lit
        {
            for line in lines.value().split('\n') {
                text.push_str(line.strip_prefix(' ').unwrap_or(line).trim_end());
                text.push('\n');
            }
        }
    }
    joined(text.trim())
}

/// Lines that belong together become one, as Markdown shows them; code, lists and tables stay as they are.
fn joined(text: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    let mut ended = true;
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        let numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let begins = line.is_empty() || line.starts_with([' ', '*', '-', '#', '|', '>']) || numbered;
        if !out.is_empty() {
            out.push(if ended || code || fence || begins { '\n' } else { ' ' });
        }
        out.push_str(line);
        code ^= fence;
        ended = code || fence || line.is_empty();
    }
    out
}

/// `#[default = VALUE]`.
fn default(attributes: &[Attribute]) -> syn::Result<Option<Expr>> {
    let mut found = attributes.iter().filter(|attribute| attribute.path().is_ident("default"));
    let Some(attribute) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        return Err(syn::Error::new(second.span(), "an argument has one default"));
    }
    match &attribute.meta {
        Meta::NameValue(pair) => Ok(Some(pair.value.clone())),
        Meta::Path(_) | Meta::List(_) => {
            Err(syn::Error::new(attribute.span(), "a default is written `#[default = VALUE]`"))
        }
    }
}

fn is_passed(attribute: &Attribute) -> bool {
    attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
}

/// Refuses what borrows or is no type of its own.
fn owned(ty: &Type) -> syn::Result<()> {
    match ty {
        Type::Reference(reference) => {
            let why = "an argument is owned by its call: `String` in the place of `&str`, `Vec` in that of a slice";
            Err(syn::Error::new(reference.and_token.span(), why))
        }
        Type::ImplTrait(generic) => {
            let why = "a tool is not generic: the schema of its arguments is of one type; name it";
            Err(syn::Error::new(generic.span(), why))
        }
        _ => Ok(()),
    }
}

/// Whether the type is plainly none with fields, so that it cannot be the struct of all arguments.
fn is_plain(ty: &Type) -> bool {
    const PLAIN: &[&str] = &[
        "String", "bool", "char", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64",
        "Option", "Vec", "PathBuf", "HashMap", "BTreeMap", "Value",
    ];
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| PLAIN.iter().any(|name| last.ident == name)),
        Type::Tuple(_) | Type::Array(_) | Type::Slice(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_comment_is_read_as_markdown_shows_it() {
        for (comment, read) in [
            (" One\n line.", "One line."),
            (" One.\n\n Two\n lines.", "One.\n\nTwo lines."),
            (" A list:\n * one\n * two\n\n After.", "A list:\n* one\n* two\n\nAfter."),
            (" Steps:\n 1. one\n 2. two", "Steps:\n1. one\n2. two"),
            (" Code:\n ```\n a\n   b\n ```\n After.", "Code:\n```\na\n  b\n```\nAfter."),
            ("", ""),
        ] {
            let attributes: Vec<Attribute> =
                comment.split('\n').map(|line| syn::parse_quote!(#[doc = #line])).collect();
            assert_eq!(description(&attributes), read, "{comment:?}");
            let block: Attribute = syn::parse_quote!(#[doc = #comment]);
            assert_eq!(description(&[block]), read, "{comment:?}");
        }
    }
}
