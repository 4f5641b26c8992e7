//! What stands in the brackets of `#[tool(…)]`.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitBool, LitStr, Path, Token, parenthesized};

use crate::names::{CAPABILITIES, unknown};

const OPTIONS: &[&str] =
    &["title", "read_only", "destructive", "idempotent", "open_world", "needs", "preview", "revise", "text"];

/// All options of one tool.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) title: Option<LitStr>,
    pub(crate) hints: Hints,
    pub(crate) needs: Vec<Need>,
    pub(crate) preview: Option<Path>,
    pub(crate) revise: Option<Path>,
    pub(crate) text: Option<Path>,
}

/// What was said of the tool's effects; none where nothing was.
#[derive(Default)]
pub(crate) struct Hints {
    read_only: Option<LitBool>,
    destructive: Option<LitBool>,
    idempotent: Option<LitBool>,
    open_world: Option<LitBool>,
}

/// One capability that the tool asks for.
pub(crate) struct Need {
    /// As the contract writes it: `fs-read`.
    pub(crate) capability: String,
    pub(crate) scope: String,
    pub(crate) reason: LitStr,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            options.take(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn take(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let option = Ident::parse_any(input)?;
        let hints = &mut self.hints;
        match option.to_string().as_str() {
            "title" => once(&mut self.title, &option, text(input, &option)?),
            "read_only" => once(&mut hints.read_only, &option, flag(input, &option)?),
            "destructive" => once(&mut hints.destructive, &option, flag(input, &option)?),
            "idempotent" => once(&mut hints.idempotent, &option, flag(input, &option)?),
            "open_world" => once(&mut hints.open_world, &option, flag(input, &option)?),
            "preview" => once(&mut self.preview, &option, function(input, &option)?),
            "revise" => once(&mut self.revise, &option, function(input, &option)?),
            "text" => once(&mut self.text, &option, function(input, &option)?),
            "needs" => {
                let (span, need) = need(input, &option)?;
                if self.needs.iter().any(|known| known.capability == need.capability) {
                    let why =
                        format!("`{}` is asked for already; one scope can name several: \"src,docs\"", need.capability);
                    return Err(syn::Error::new(span, why));
                }
                self.needs.push(need);
                Ok(())
            }
            other => Err(unknown(option.span(), "option", other, OPTIONS)),
        }
    }
}

impl Hints {
    /// The four annotations, in the contract's order: read-only, destructive, idempotent, open-world.
    pub(crate) fn settled(&self) -> syn::Result<[bool; 4]> {
        let value = |hint: &Option<LitBool>, otherwise| hint.as_ref().map_or(otherwise, LitBool::value);
        let read_only = value(&self.read_only, false);
        if let (true, Some(said)) = (read_only, self.destructive.as_ref().filter(|said| said.value)) {
            let why = "a tool that is `read_only` loses nothing, so it is not `destructive`";
            return Err(syn::Error::new(said.span, why));
        }
        if let (true, Some(said)) = (read_only, self.idempotent.as_ref().filter(|said| !said.value)) {
            let why = "a tool that is `read_only` changes nothing, so it is `idempotent`";
            return Err(syn::Error::new(said.span, why));
        }
        let destructive = value(&self.destructive, !read_only);
        let open_world = value(&self.open_world, !read_only);
        Ok([read_only, destructive, value(&self.idempotent, read_only), open_world])
    }
}

fn once<T>(place: &mut Option<T>, option: &Ident, value: T) -> syn::Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(syn::Error::new(option.span(), format!("`{option}` is said twice"))),
    }
}

/// `= "…"`, with something in it.
fn text(input: ParseStream<'_>, option: &Ident) -> syn::Result<LitStr> {
    if !input.peek(Token![=]) {
        return Err(syn::Error::new(option.span(), format!("`{option}` takes a text: `{option} = \"…\"`")));
    }
    input.parse::<Token![=]>()?;
    let text: LitStr = input.parse()?;
    match text.value().trim().is_empty() {
        true => Err(syn::Error::new(text.span(), format!("`{option}` is empty"))),
        false => Ok(text),
    }
}

/// Nothing, or `= true`, or `= false`.
fn flag(input: ParseStream<'_>, option: &Ident) -> syn::Result<LitBool> {
    if !input.peek(Token![=]) {
        return Ok(LitBool::new(true, option.span()));
    }
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `= path::to::function`.
fn function(input: ParseStream<'_>, option: &Ident) -> syn::Result<Path> {
    if !input.peek(Token![=]) {
        let why = format!("`{option}` takes the name of a function: `{option} = my_{option}`");
        return Err(syn::Error::new(option.span(), why));
    }
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `(fs_read = "*", reason = "…")`.
fn need(input: ParseStream<'_>, option: &Ident) -> syn::Result<(Span, Need)> {
    let form = "`needs` is written `needs(fs_read = \"*\", reason = \"why, for the user who is asked\")`";
    if !input.peek(syn::token::Paren) {
        return Err(syn::Error::new(option.span(), form));
    }
    let content;
    parenthesized!(content in input);
    if content.is_empty() {
        return Err(syn::Error::new(option.span(), form));
    }
    let name = Ident::parse_any(&content)?;
    let word = name.to_string();
    if !CAPABILITIES.contains(&word.as_str()) {
        return Err(unknown(name.span(), "capability", &word, CAPABILITIES));
    }
    let scope = if content.peek(Token![=]) { text(&content, &name)?.value() } else { "*".to_owned() };
    let no_reason = || format!("why does it need `{word}`? Add `reason = \"…\"`, one line for the user who is asked");
    if content.is_empty() {
        return Err(syn::Error::new(name.span(), no_reason()));
    }
    content.parse::<Token![,]>()?;
    if content.is_empty() {
        return Err(syn::Error::new(name.span(), no_reason()));
    }
    let key = Ident::parse_any(&content)?;
    if key != "reason" {
        return Err(syn::Error::new(key.span(), format!("`{key}` is not known here; {form}")));
    }
    let reason = text(&content, &key)?;
    if reason.value().contains('\n') {
        return Err(syn::Error::new(reason.span(), "a reason is one line"));
    }
    content.parse::<Option<Token![,]>>()?;
    match content.is_empty() {
        true => Ok((name.span(), Need { capability: word.replace('_', "-"), scope, reason })),
        false => Err(content.error(form)),
    }
}
