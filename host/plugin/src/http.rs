//! The host side of `host:cap/http`.
//!
//! Promises: each address is checked against the grants, and so is each address that its name resolves to, at the
//! moment of connecting, so a name that resolves differently the second time gains nothing. Redirects are followed
//! here, with one permit each. Time and size are limited. No credential of the user's is part of a request except the
//! secrets that the guest names without reading them (`secrets`), and none in a response reaches the guest. Proxies are
//! not used: behind one, the host could not check the resolved address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use host_capability::{Capability, Denied, Grants, HttpPermit, PluginName, Scope};
use host_http::words;
use host_text::{Wording, exact, excerpt};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};

use crate::addresses::{Unresolved, resolve};
use crate::bindings::denial::denial;
use crate::bindings::http::{Denial, Error, Host, Request, Response};
use crate::certificates::Certificates;
use crate::lock::lock;
use crate::network::{self, Network, NetworkService, PreparedNetwork};
use crate::origin::{address, belongs_to_the_host, server};
use crate::secrets::{Carried, Secrets};
use crate::shared::Shared;
use crate::store::StoreData;

/// The longest exchange, whatever the guest requests.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// The largest body of a response, whatever the guest requests.
const SIZE_LIMIT: u32 = 16 << 20;
/// The largest body of a request.
const MAX_BODY: usize = 8 << 20;
/// The most header fields of a request.
const MAX_HEADERS: usize = 100;
/// The most bytes of all header fields of a request. Protects the host's memory; few servers accept more.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// The most redirects that are followed: as many as browsers follow.
const MAX_REDIRECTS: usize = 10;
/// The most bytes of header fields that a guest receives.
const MAX_RESPONSE_HEADERS: usize = 64 << 10;

/// How much of an unknown method an error repeats, in characters.
const SHOWN_METHOD: usize = 20;

/// How much of an encoding that cannot be unpacked an error repeats, in characters.
const SHOWN_ENCODING: usize = 40;

const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// Fields of a response that concern authentication.
const HIDDEN: &[&str] = &["set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info"];

impl Host for StoreData {
    async fn fetch(&mut self, request: Request) -> wasmtime::Result<Result<Response, Error>> {
        self.fetch_with_secrets(request, Vec::new()).await
    }

    async fn fetch_with_secrets(
        &mut self,
        request: Request,
        secrets: Vec<String>,
    ) -> wasmtime::Result<Result<Response, Error>> {
        if let Err(unshown) = self.shown.request(&request.method, &request.url) {
            return Ok(self.denials.noting(Err(Error::Denied(unshown))));
        }
        let limit = request.time_limit.map_or(TIME_LIMIT, Duration::from_millis).min(TIME_LIMIT);
        let caller = Caller {
            plugin: self.plugin.clone(),
            grants: Arc::clone(&self.call.grants),
            asked: self.asked_servers.clone(),
            shared: Arc::clone(&self.shared),
            network: self.call.network.clone(),
            secrets: Arc::clone(&self.call.secrets),
        };
        let answer = tokio::time::timeout(limit, caller.exchange(request, &secrets)).await;
        Ok(self.denials.noting(answer.unwrap_or(Err(Error::TimedOut))))
    }
}

/// Creates a client that connects only to addresses that these permits cover.
fn client(certificates: &Certificates, permits: &Permits) -> Result<Client, Error> {
    let tls = certificates
        .tls()
        .map_err(|error| Error::Unavailable(format!("the system's certificates cannot be used: {error}")))?;
    host_http::client()
        .tls_backend_preconfigured(tls)
        .dns_resolver(Arc::new(permits.clone()))
        .no_proxy()
        .build()
        .map_err(|error| Error::Unavailable(words(&error)))
}

/// The call that fetches, with its grants. The call state itself is not held while waiting for a server.
struct Caller {
    plugin: PluginName,
    grants: Arc<Grants>,
    /// The servers that the plugin asks for.
    asked: Option<Scope>,
    shared: Arc<Shared>,
    network: Network,
    secrets: Arc<Secrets>,
}

impl Caller {
    async fn exchange(&self, request: Request, secrets: &[String]) -> Result<Response, Error> {
        let mut method = method(&request.method)?;
        let mut url = address(&request.url)?;
        let mut headers = headers(&request.headers)?;
        let mut body = request.body;
        if body.as_ref().is_some_and(|body| body.len() > MAX_BODY) {
            return Err(Error::Invalid(format!("the body is over {MAX_BODY} bytes")));
        }
        let permits = Permits::default();
        // The first address too is checked by name, and once more at connecting, by what the name leads to.
        permits.add(self, &method, &url).map_err(|refused| Error::Denied(denial(&refused, self.shared.wording)))?;
        // Bound to the address that the guest named: a redirect gets none of them.
        let mut carried = self.secrets.carried(secrets, &self.plugin, &method, &url)?;
        // Creating a client reads the system's certificates, so it is avoided if nothing is sent.
        let way = match &self.network {
            // Made for this call: the check of resolved addresses knows only the permits of this request.
            Network::Real => Way::Out(client(&self.shared.certificates, &permits)?),
            Network::Prepared(network) => Way::Prepared(network),
            Network::Service(service) => Way::Service(&**service),
        };
        // Followed here and not by the client, since each needs a permit of its own.
        for _ in 0..=MAX_REDIRECTS {
            let mut sent = headers.clone();
            // Each time again, into a copy: a redirect back to the first server may have them, any other not.
            let names = carried.put(&url, &mut sent)?;
            let answer = match &way {
                Way::Out(client) => {
                    let mut builder = client.request(method.clone(), url.clone()).headers(sent);
                    if let Some(body) = &body {
                        builder = builder.body(body.clone());
                    }
                    builder.send().await.map_err(|error| permits.explain(&error, self.shared.wording))?
                }
                Way::Prepared(network) => {
                    network.answer(&method, &url, body.as_deref(), names).map_err(Error::Unavailable)?
                }
                Way::Service(service) => {
                    network::serve(*service, &method, &url, body.as_deref()).await.map_err(Error::Unavailable)?
                }
            };
            let Some(next) = redirect(&answer) else {
                return last(answer, &headers, request.size_limit.min(SIZE_LIMIT), &carried).await;
            };
            let next = next.map_err(|why| Error::Unavailable(carried.redacted(why)))?;
            // As browsers do: a 303, or a 301 or 302 to a POST, is followed by a GET without its body.
            if changes_method(answer.status(), &method) {
                (method, body) = (Method::GET, None);
                headers.remove(reqwest::header::CONTENT_TYPE);
            }
            // With the new method: a grant for GET does not cover a redirected POST.
            permits
                .add(self, &method, &next)
                .map_err(|refused| redirect_denied(denial(&refused, self.shared.wording), &carried))?;
            url = next;
        }
        Err(Error::Unavailable(format!("over {MAX_REDIRECTS} redirects")))
    }
}

/// The error of a redirect that is not covered, whose address may have a secret in it.
fn redirect_denied(Denial { capability, wanted, help }: Denial, carried: &Carried) -> Error {
    Error::RedirectDenied(Denial { capability, wanted: carried.redacted(wanted), help: carried.redacted(help) })
}

/// Returns the answer to a request with these headers that is not a redirect.
async fn last(
    answer: reqwest::Response,
    headers: &HeaderMap,
    limit: u32,
    carried: &Carried,
) -> Result<Response, Error> {
    // A guest that asks for an encoding itself unpacks it itself.
    let unasked = if headers.contains_key(ACCEPT_ENCODING) { None } else { packed(answer.headers()) };
    let taken = taken(answer, limit, carried).await?;
    match unasked.filter(|_| !taken.body.is_empty()) {
        Some(encoding) => Err(Error::Unavailable(carried.redacted(format!(
            "the server answered in the content encoding `{encoding}`, which was not asked for and cannot be unpacked"
        )))),
        None => Ok(taken),
    }
}

/// How one request is answered.
enum Way<'a> {
    Out(Client),
    Prepared(&'a PreparedNetwork),
    Service(&'a dyn NetworkService),
}

/// The permits of one fetch, by host name; it also resolves names for the client.
#[derive(Clone, Debug, Default)]
struct Permits(Arc<Mutex<KnownPermits>>);

#[derive(Debug, Default)]
struct KnownPermits {
    permits: HashMap<String, HttpPermit>,
    refused: Option<Denied>,
}

impl Permits {
    fn add(&self, caller: &Caller, method: &Method, url: &Url) -> Result<(), Denied> {
        let host = url.host_str().unwrap_or_default();
        let authority = server(url).map_err(|_| Denied::ungranted(&caller.plugin, Capability::Http, host))?;
        let asked: Grants = caller.asked.iter().cloned().collect();
        let permit = caller.grants.permit_http(&caller.plugin, method.as_str(), &authority).map_err(|denied| {
            match (asked.permit_http(&caller.plugin, method.as_str(), &authority), &caller.asked) {
                // No grant reaches beyond what the plugin asks for.
                (Err(_), Some(asked)) => denied.beyond(asked),
                _ => denied,
            }
        })?;
        // A host that is an address is not resolved, so it is checked here.
        if let Some(address) = literal(url) {
            permit.permit_address(address)?;
        }
        lock(&self.0).permits.insert(host.to_ascii_lowercase(), permit);
        Ok(())
    }

    fn explain(&self, error: &reqwest::Error, wording: Wording) -> Error {
        match &lock(&self.0).refused {
            Some(refused) => Error::Denied(denial(refused, wording)),
            None => Error::Unavailable(words(error)),
        }
    }
}

impl Resolve for Permits {
    fn resolve(&self, name: Name) -> Resolving {
        let known = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str().to_ascii_lowercase();
            let permit = lock(&known).permits.get(&host).cloned().ok_or("no permit for this name")?;
            match resolve(&host, 0, |address| permit.permit_address(address)).await {
                Ok(found) => Ok(Box::new(found.into_iter()) as Addrs),
                Err(Unresolved::Unknown(error)) => Err(error.into()),
                Err(Unresolved::Denied(refused)) => {
                    let text = refused.to_string();
                    lock(&known).refused = Some(refused);
                    Err(text.into())
                }
            }
        })
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        url::Host::Ipv4(address) => Some(address.into()),
        url::Host::Ipv6(address) => Some(address.into()),
        url::Host::Domain(_) => None,
    }
}

fn method(text: &str) -> Result<Method, Error> {
    if METHODS.contains(&text)
        && let Ok(method) = Method::from_bytes(text.as_bytes())
    {
        return Ok(method);
    }
    Err(Error::Invalid(format!("`{}` is none of {}", excerpt(text, SHOWN_METHOD), METHODS.join(", "))))
}

fn headers(fields: &[(String, String)]) -> Result<HeaderMap, Error> {
    if fields.len() > MAX_HEADERS {
        return Err(Error::Invalid(format!("{} header fields are over the limit of {MAX_HEADERS}", fields.len())));
    }
    let bytes = fields.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    if bytes > MAX_HEADER_BYTES {
        return Err(Error::Invalid(format!("header fields of {bytes} bytes are over the limit of {MAX_HEADER_BYTES}")));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let wrong = |why: &str| Error::Invalid(format!("the header field `{}` {why}", exact(name)));
        let lower = name.to_ascii_lowercase();
        if belongs_to_the_host(&lower) {
            return Err(wrong("belongs to the host"));
        }
        let name = HeaderName::from_bytes(lower.as_bytes()).map_err(|_| wrong("has an invalid name"))?;
        headers.append(name, HeaderValue::from_str(value).map_err(|_| wrong("has an invalid value"))?);
    }
    Ok(headers)
}

/// Returns the target of a redirect, if the answer is one.
fn redirect(answer: &reqwest::Response) -> Option<Result<Url, String>> {
    let status = answer.status();
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = answer.headers().get(reqwest::header::LOCATION)?;
    let next = location
        .to_str()
        .map_err(|_| "a redirect to an invalid address".to_owned())
        .and_then(|text| answer.url().join(text).map_err(|error| format!("a redirect to `{}`: {error}", exact(text))));
    Some(next.and_then(|url| address(url.as_str()).map_err(|_| format!("a redirect to `{}`", exact(url.as_str())))))
}

/// Returns in which encoding the body of an answer still is: the client has unpacked what it asked for, and taken that
/// out of the header.
fn packed(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let all = values.collect::<Vec<_>>().join(", ");
    let is_plain = |name: &str| name.is_empty() || name.eq_ignore_ascii_case("identity");
    (!all.split(',').map(str::trim).all(is_plain)).then(|| excerpt(&all, SHOWN_ENCODING))
}

/// Whether a redirect changes the method: after 303, and after 301 and 302 to a POST, browsers continue with a GET (RFC
/// 9110, 15.4).
fn changes_method(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        303 => *method != Method::HEAD,
        301 | 302 => *method == Method::POST,
        _ => false,
    }
}

async fn taken(answer: reqwest::Response, limit: u32, carried: &Carried) -> Result<Response, Error> {
    let status = answer.status().as_u16();
    let url = carried.redacted(answer.url().to_string());
    let mut size = 0;
    let headers = answer
        .headers()
        .iter()
        .filter(|(name, _)| !HIDDEN.contains(&name.as_str()))
        .map(|(name, value)| {
            // Some servers send Latin-1, and the guest's type is a string.
            (name.as_str().to_owned(), carried.redacted(String::from_utf8_lossy(value.as_bytes()).into_owned()))
        })
        .take_while(|(name, value)| {
            size += name.len() + value.len();
            size <= MAX_RESPONSE_HEADERS
        })
        .collect();
    let limit = limit as usize;
    // One byte more distinguishes a body that is cut from one that fits.
    let read = limit + carried.margin().max(1);
    let mut body = Vec::new();
    let mut stream = answer.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| Error::Unavailable(words(&error)))?;
        let room = read.saturating_sub(body.len());
        body.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
        if piece.len() > room {
            break;
        }
    }
    // Before it is cut: of a secret at the edge the first half would stay.
    carried.redact(&mut body);
    let cut = body.len() > limit;
    body.truncate(limit);
    Ok(Response { status, url, headers, body, cut })
}
