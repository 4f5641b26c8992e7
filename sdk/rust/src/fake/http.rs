//! The capability `http` of a fake host. Nothing is sent: a server is what a test says that it answers.

use std::net::{IpAddr, Ipv4Addr};

use host_capability::{Authority, Capability, Denied, Grants};
use url::Url;

use super::grants::{denial, plugin};
use super::{World, ask};
use crate::bindings::host::cap::types::Denial;
use crate::http::{Error, Request, Response};

/// The largest body of an answer, whatever was asked for, and of a request, as the host has them.
const SIZE_LIMIT: u32 = 16 << 20;
/// See [`SIZE_LIMIT`].
const MAX_BODY: usize = 8 << 20;
/// Header fields of a request, as the host has it.
const MAX_HEADERS: usize = 100;
/// Redirects that are followed, as the host has it.
const MAX_REDIRECTS: usize = 10;
/// Bytes of an address, as the host has it.
const MAX_URL: usize = 8 << 10;
const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/// Fields that belong to the transport, or to whoever holds the credentials.
const REFUSED: &[&str] = &[
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// Fields of an answer that speak of authentication.
const HIDDEN: &[&str] = &["set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info"];

/// What a server answers. A text is the body of an answer with status 200.
#[derive(Clone, Debug)]
pub struct Answer(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Answer { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    Redirect(String),
    TimedOut,
    Unavailable(String),
}

impl Answer {
    /// An answer with this status and body.
    pub fn new(status: u16, body: impl AsRef<[u8]>) -> Self {
        Self(Kind::Answer { status, headers: Vec::new(), body: body.as_ref().to_vec() })
    }

    /// The same answer with a header field; nothing for what has none.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Kind::Answer { headers, .. } = &mut self.0 {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// It leads to another address, which needs an answer and a grant of its own.
    pub fn redirect(to: &str) -> Self {
        Self(Kind::Redirect(to.to_owned()))
    }

    /// It takes longer than the time limit.
    pub fn timed_out() -> Self {
        Self(Kind::TimedOut)
    }

    /// There is no connection, or a broken one; says why.
    pub fn unavailable(why: &str) -> Self {
        Self(Kind::Unavailable(why.to_owned()))
    }
}

impl From<&str> for Answer {
    fn from(body: &str) -> Self {
        Self::new(200, body)
    }
}

impl From<String> for Answer {
    fn from(body: String) -> Self {
        Self::new(200, body)
    }
}

/// Asks, and waits for the whole answer.
///
/// # Errors
///
/// When the request is invalid, may not be sent, leads to where nothing may be sent, or has no answer.
pub fn fetch(request: &Request) -> Result<Response, Error> {
    fetch_with_secrets(request, &[])
}

/// Asks as [`fetch`] does, with secrets of the user's, each by the name that the plugin's manifest declares it with.
///
/// # Errors
///
/// As [`fetch`], and when a secret was not given or does not go to this server.
pub fn fetch_with_secrets(request: &Request, secrets: &[String]) -> Result<Response, Error> {
    ask("http::fetch", |world, grants| {
        if !METHODS.contains(&request.method.as_str()) {
            let method = request.method.escape_debug();
            return Err(Error::Invalid(format!("`{method}` is none of {}", METHODS.join(", "))));
        }
        let mut url = address(&request.url)?;
        headers(&request.headers)?;
        if request.body.as_ref().is_some_and(|body| body.len() > MAX_BODY) {
            return Err(Error::Invalid(format!("the body is over {MAX_BODY} bytes")));
        }
        permit(grants, &request.method, &url).map_err(|refused| Error::Denied(denial(&refused)))?;
        carried(world, secrets, &request.method, &url)?;
        world.requests.push(request.clone());
        world.carried.push(secrets.to_vec());
        for _ in 0..=MAX_REDIRECTS {
            match answer(world, &request.method, &url)? {
                Kind::TimedOut => return Err(Error::TimedOut),
                Kind::Unavailable(why) => return Err(Error::Unavailable(why)),
                Kind::Answer { status, headers, body } => return Ok(taken(status, headers, body, &url, request)),
                Kind::Redirect(to) => {
                    let unreadable = || Error::Unavailable(format!("a redirect to `{}`", to.escape_debug()));
                    url = url.join(&to).ok().and_then(|url| address(url.as_str()).ok()).ok_or_else(unreadable)?;
                    permit(grants, &request.method, &url).map_err(|refused| Error::RedirectDenied(denial(&refused)))?;
                }
            }
        }
        Err(Error::Unavailable(format!("over {MAX_REDIRECTS} redirects")))
    })
}

fn address(text: &str) -> Result<Url, Error> {
    let wrong = |why: &str| Error::Invalid(format!("the address `{}` {why}", text.escape_debug()));
    if text.len() > MAX_URL {
        return Err(Error::Invalid(format!("an address of {} bytes is over the limit of {MAX_URL}", text.len())));
    }
    let url = Url::parse(text).map_err(|error| wrong(&format!("is invalid: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("has a user name or password in it, and the host puts in credentials itself"));
    }
    match url.host_str().is_none_or(str::is_empty) {
        true => Err(wrong("has no host")),
        false => Ok(url),
    }
}

fn headers(fields: &[(String, String)]) -> Result<(), Error> {
    if fields.len() > MAX_HEADERS {
        return Err(Error::Invalid(format!("{} header fields are over the limit of {MAX_HEADERS}", fields.len())));
    }
    for (name, value) in fields {
        let wrong = |why: &str| Error::Invalid(format!("the header field `{}` {why}", name.escape_debug()));
        let lower = name.to_ascii_lowercase();
        if REFUSED.contains(&lower.as_str()) || lower.starts_with("proxy-") || lower.starts_with("sec-") {
            return Err(wrong("belongs to the host"));
        }
        // The characters of a token, RFC 9110, 5.6.2.
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            return Err(wrong("has an invalid name"));
        }
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(wrong("has an invalid value"));
        }
    }
    Ok(())
}

fn permit(grants: &Grants, method: &str, url: &Url) -> Result<(), Denied> {
    let host = url.host_str().unwrap_or_default();
    let authority = Authority::new(host, url.port_or_known_default().unwrap_or_default())
        .map_err(|_| Denied::ungranted(&plugin(), Capability::Http, host))?;
    let permit = grants.permit_http(&plugin(), method, &authority)?;
    let here = (authority.host() == "localhost").then_some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    authority.address().or(here).map_or(Ok(()), |address| permit.permit_address(address))
}

/// Whether these secrets may go to an address, over `https` alone but to this machine.
fn carried(world: &World, secrets: &[String], method: &str, url: &Url) -> Result<(), Error> {
    for name in secrets {
        let no = |help: &str| {
            let wanted = format!("`{name}` for {}", url.host_str().unwrap_or_default());
            Error::Denied(Denial { capability: "http".to_owned(), wanted, help: help.to_owned() })
        };
        let Some(servers) = world.secrets.get(name) else {
            return Err(no(&format!("the fake host has no such secret; add `.secret({name:?}, …)`")));
        };
        let here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if url.scheme() != "https" && !here {
            return Err(no("a secret is sent over https alone, but to this machine itself"));
        }
        permit(servers, method, url).map_err(|refused| Error::Denied(denial(&refused)))?;
    }
    Ok(())
}

fn answer(world: &World, method: &str, url: &Url) -> Result<Kind, Error> {
    // What stands behind `#` is not sent.
    let sent = |url: &Url| {
        let mut url = url.clone();
        url.set_fragment(None);
        url
    };
    let wanted = sent(url);
    let is_it = |of: &str, to: &str| of == method && Url::parse(to).is_ok_and(|to| sent(&to) == wanted);
    match world.answers.iter().rev().find(|(of, to, _)| is_it(of, to)) {
        Some((_, _, Answer(kind))) => Ok(kind.clone()),
        None => Err(Error::Unavailable(format!(
            "the fake host was not told what `{method} {wanted}` answers; add `.http({method:?}, {:?}, …)`",
            wanted.as_str()
        ))),
    }
}

fn taken(status: u16, headers: Vec<(String, String)>, mut body: Vec<u8>, url: &Url, request: &Request) -> Response {
    let headers = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
    let headers = headers.filter(|(name, _)| !HIDDEN.contains(&name.as_str())).collect();
    let limit = request.size_limit.min(SIZE_LIMIT) as usize;
    let cut = body.len() > limit;
    body.truncate(limit);
    Response { status, url: url.to_string(), headers, body, cut }
}
