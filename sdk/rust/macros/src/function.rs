//! The attribute `tool`: from a function to the calls of the builder.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Item, ItemFn, PathArguments, ReturnType, Type};

use crate::options::Options;
use crate::parameters::{Parameters, clean, description};

/// The longest name of a tool, as the contract has it.
const MAX_NAME: usize = 64;

/// Writes the function and, beside it, the tool.
///
/// # Errors
///
/// When the item cannot become a tool, at the token that is wrong.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut function = match syn::parse2(item)? {
        Item::Fn(function) => function,
        other => return Err(syn::Error::new(other.span(), "`#[tool]` stands above a function")),
    };
    refuse(&function)?;
    let options: Options = syn::parse2(options)?;
    let name = name(&function)?;
    let description = description(&function.attrs);
    if description.is_empty() {
        let why = format!(
            "a tool is described by its doc comment: write `/// …` above `{name}`, which says to the model what it does and \
             when to use it"
        );
        return Err(syn::Error::new(function.sig.ident.span(), why));
    }
    let parameters = Parameters::of(&function)?;
    let returned = Returned::of(&function)?;
    let tool = builder(&function, &name, &description, &options, &parameters, &returned)?;
    clean(&mut function);
    let (ident, vis) = (&function.sig.ident, &function.vis);
    let about = format!("The tool `{name}`, made of the function of the same name.");
    Ok(quote! {
        #function

        #[doc = #about]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #ident {}

        #[allow(dead_code)]
        impl #ident {
            /// The tool, for `export_plugin!`.
            #vis fn tool() -> ::host_sdk::Tool {
                #tool
            }
        }
    })
}

/// What no tool can be, whatever its parameters.
fn refuse(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(asyncness) = &signature.asyncness {
        let why = "a tool is not `async`: what it calls waits in the host, which suspends the whole plugin meanwhile";
        return Err(syn::Error::new(asyncness.span(), why));
    }
    if !signature.generics.params.is_empty() {
        let why = "a tool is not generic: the schema of its arguments is of one type";
        return Err(syn::Error::new(signature.generics.params.span(), why));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(syn::Error::new(variadic.span(), "a tool's arguments have names: take a `Vec`"));
    }
    Ok(())
}

fn name(function: &ItemFn) -> syn::Result<String> {
    let ident = &function.sig.ident;
    let name = ident.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let fits = name.len() <= MAX_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if fits {
        return Ok(name.to_owned());
    }
    let why = format!("the name of a tool has 1 to {MAX_NAME} of a-z, A-Z, 0-9 and `_`, the first a letter");
    Err(syn::Error::new(ident.span(), why))
}

fn builder(
    function: &ItemFn,
    name: &str,
    description: &str,
    options: &Options,
    parameters: &Parameters,
    returned: &Returned,
) -> syn::Result<TokenStream> {
    let ident = &function.sig.ident;
    let (arguments, items) = parameters.arguments();
    let (apart, passed) = parameters.apart();
    let outcome = returned.outcome(quote!(#ident(#passed)), options)?;
    let output_schema = match &returned.kind {
        Kind::Structured => {
            let ty = &returned.ty;
            quote_spanned!(ty.span()=> .returns::<#ty>())
        }
        Kind::Outcome | Kind::Text => quote!(),
    };
    let title = options.title.as_ref().map(|title| quote!(.title(#title)));
    let [read_only, destructive, idempotent, open_world] = options.hints.settled()?;
    let needs = options.needs.iter().map(|need| {
        let (capability, scope, reason) = (&need.capability, &need.scope, &need.reason);
        quote!(.needs(#capability, #scope, #reason))
    });
    let preview = options.preview.as_ref().map(|path| {
        quote_spanned! {path.span()=>
            .preview(|arguments: #arguments| {
                #apart
                #path(#passed)
            })
        }
    });
    // A parameter may have any name, so what is not one has a name that none has.
    let revise = options.revise.as_ref().map(|path| {
        quote_spanned! {path.span()=>
            .revise(|arguments: #arguments, __revised: ::std::string::String| {
                #apart
                #path(#passed __revised)
            })
        }
    });
    Ok(quote! {
        #items

        ::host_sdk::Tool::typed(
            #name,
            #description,
            |arguments: #arguments| -> ::core::result::Result<::host_sdk::Outcome, ::host_sdk::Failure> {
                #apart
                #outcome
            },
        )
        #output_schema
        #title
        .annotations(::host_sdk::Annotations {
            read_only: #read_only,
            destructive: #destructive,
            idempotent: #idempotent,
            open_world: #open_world,
        })
        #(#needs)*
        #preview
        #revise
    })
}

/// What the function returns.
struct Returned {
    /// Without the `Result` around it.
    ty: Type,
    fallible: bool,
    kind: Kind,
}

/// What becomes of it.
enum Kind {
    Outcome,
    Text,
    Structured,
}

impl Returned {
    fn of(function: &ItemFn) -> syn::Result<Self> {
        let nothing = |at: Span| {
            let why =
                "a tool says what came of the call: return a text, an `Outcome`, or a type for a structured result";
            syn::Error::new(at, why)
        };
        let whole = match &function.sig.output {
            ReturnType::Type(_, ty) => ty.as_ref(),
            ReturnType::Default => return Err(nothing(function.sig.ident.span())),
        };
        let (ty, fallible) = match in_result(whole) {
            Some(inner) => (inner, true),
            None => (whole, false),
        };
        let kind = match ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => return Err(nothing(tuple.span())),
            Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Outcome") => Kind::Outcome,
            Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "String") => Kind::Text,
            Type::Reference(reference) if is_str(&reference.elem) => Kind::Text,
            Type::ImplTrait(_) => {
                return Err(syn::Error::new(ty.span(), "a result has a schema, and so a type with a name"));
            }
            _ => Kind::Structured,
        };
        Ok(Self { ty: ty.clone(), fallible, kind })
    }

    /// An expression of type `Result<Outcome, Failure>`.
    fn outcome(&self, call: TokenStream, options: &Options) -> syn::Result<TokenStream> {
        if let (Some(text), Kind::Outcome | Kind::Text) = (&options.text, &self.kind) {
            let why = "`text` puts a structured result into words, and this function returns its words itself";
            return Err(syn::Error::new(text.span(), why));
        }
        let question = if self.fallible { quote!(?) } else { quote!() };
        let ty = &self.ty;
        Ok(match (&self.kind, &options.text) {
            (Kind::Outcome, _) => quote!(::core::result::Result::Ok(#call #question)),
            (Kind::Text, _) => quote!(::core::result::Result::Ok(::host_sdk::Outcome::text(#call #question))),
            (Kind::Structured, None) => quote_spanned! {ty.span()=>
                let value: #ty = #call #question;
                ::host_sdk::Outcome::json(&value)
            },
            (Kind::Structured, Some(text)) => quote_spanned! {ty.span()=>
                let value: #ty = #call #question;
                let words = #text(&value);
                ::host_sdk::Outcome::json_in_words(&value, words)
            },
        })
    }
}

/// The type that a `Result` holds; none when it is something else.
fn in_result(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}
