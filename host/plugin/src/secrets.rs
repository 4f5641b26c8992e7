//! Secrets of the user's, which a call sends without ever reading them.
//!
//! Promises: a value goes into one header field of a request to a server that was named for it, over a connection that
//! cannot be read in transit, and nowhere else: not to the target of a redirect, not into anything that a guest
//! receives, not into the output of `Debug`. A value that a server sends back is redacted before the guest gets it.
//!
//! Deliberately not here: a value that a server sends back in a different form, such as base64, which cannot be
//! recognised; which secrets a plugin declares (`host-manifest`), and where their values come from (the binary).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use host_capability::{Authority, Capability, Grants, PluginName};
use host_text::{Secret, exact, excerpt};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use crate::bindings::http::{Denial, Error};

/// The length of a value, in characters. A shorter one would be found by chance in a server's answer and be redacted
/// there; servers do not accept a longer one in a header field.
const CHARACTERS: std::ops::RangeInclusive<usize> = 8..=8192;
/// The longest format, in characters. Protects the line that it is shown on.
const MAX_FORMAT: usize = 100;
/// The placeholder of the value in a format.
const VALUE: &str = "{}";
/// Header fields that a secret may go into although a guest cannot set them.
const FOR_SECRETS: &[&str] = &["authorization", "proxy-authorization"];

/// The place of a secret in a request: a header field, and the text around the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    header: HeaderName,
    before: String,
    after: String,
}

/// Why a secret or its placement is invalid. Reveals nothing of the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The header field is invalid, or belongs to the transport.
    #[error("`{}` is not a header field for a secret", exact(header))]
    Header {
        /// Its name.
        header: String,
    },
    /// The format does not have exactly one place for the value.
    #[error(
        "invalid format `{}` for a secret: it has `{VALUE}` once and at most {MAX_FORMAT} visible ASCII characters and spaces",
        exact(format)
    )]
    Format {
        /// The format.
        format: String,
    },
    /// The value is invalid.
    #[error(
        "a secret has {} to {} visible ASCII characters and no space, but this one {why}",
        CHARACTERS.start(),
        CHARACTERS.end()
    )]
    Value {
        /// The reason, without any part of the value.
        why: String,
    },
}

impl Placement {
    /// Creates a placement in the header field `header`, with the value in place of `{}` in `format`: `authorization`
    /// and `Bearer {}`.
    ///
    /// # Errors
    ///
    /// If the field is invalid or belongs to the transport, or if the format has no `{}` or several.
    pub fn new(header: &str, format: &str) -> Result<Self, SecretError> {
        let lower = header.to_ascii_lowercase();
        let is_free = FOR_SECRETS.contains(&lower.as_str()) || !crate::origin::belongs_to_the_host(&lower);
        let no_header = || SecretError::Header { header: header.chars().take(MAX_FORMAT).collect() };
        let header = HeaderName::from_bytes(lower.as_bytes()).ok().filter(|_| is_free).ok_or_else(no_header)?;
        let no_format = || SecretError::Format { format: format.chars().take(2 * MAX_FORMAT).collect() };
        let visible = format.len() <= MAX_FORMAT && format.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let (before, after) = format.split_once(VALUE).filter(|_| visible).ok_or_else(no_format)?;
        if after.contains(VALUE) {
            return Err(no_format());
        }
        Ok(Self { header, before: before.to_owned(), after: after.to_owned() })
    }
}

/// A value with its placement and the servers that it may go to.
#[derive(Clone, Debug)]
pub struct PlacedSecret {
    value: Secret,
    placement: Placement,
    servers: Grants,
}

impl PlacedSecret {
    /// Creates a secret that is sent to the servers of these grants for `http`, in this place.
    ///
    /// # Errors
    ///
    /// If the value has a character that is not allowed in a header field, or is too short or too long.
    pub fn new(value: &str, placement: Placement, servers: Grants) -> Result<Self, SecretError> {
        let wrong = |why: String| Err(SecretError::Value { why });
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return wrong("has another".to_owned());
        }
        if !CHARACTERS.contains(&value.len()) {
            return wrong(format!("has {}", value.len()));
        }
        Ok(Self { value: Secret::new(value), placement, servers })
    }

    fn permit(&self, name: &str, plugin: &PluginName, method: &Method, url: &Url) -> Result<(), Error> {
        let server = crate::origin::server(url).map_err(|error| Error::Invalid(error.to_string()))?;
        let no = |why: &str| {
            let help = format!("the secret `{name}` is not sent to {server}: {why}");
            refused(format!("`{name}` for {server}"), help)
        };
        if url.scheme() != "https" && !is_this_machine(&server) {
            return Err(no("a secret is sent only over https, or to this machine"));
        }
        let permitted = self.servers.permit_http(plugin, method.as_str(), &server);
        permitted.map(drop).map_err(|_| no("the plugin's manifest does not name that server for it"))
    }
}

/// The secrets of a plugin, by their names.
#[derive(Clone, Debug, Default)]
pub struct Secrets(BTreeMap<String, Held>);

#[derive(Clone, Debug)]
enum Held {
    Given(Arc<PlacedSecret>),
    Missing { help: String },
}

impl Secrets {
    /// Adds a secret that the user gave.
    pub fn give(&mut self, name: &str, secret: PlacedSecret) {
        self.0.insert(name.to_owned(), Held::Given(Arc::new(secret)));
    }

    /// Adds a secret that the user did not give, with the help for giving it.
    pub fn lack(&mut self, name: &str, help: String) {
        self.0.insert(name.to_owned(), Held::Missing { help });
    }

    /// Returns the secrets with these names, for one request.
    ///
    /// # Errors
    ///
    /// If the plugin declares no secret with the name, or if it was not given or may not go with this request.
    pub(crate) fn carried(
        &self,
        names: &[String],
        plugin: &PluginName,
        method: &Method,
        url: &Url,
    ) -> Result<Carried, Error> {
        // What they may be sent to later: scheme, host and port together, so that no downgrade to http carries one.
        let mut carried = Carried { secrets: Vec::new(), names: Vec::new(), origin: url.origin() };
        for name in names {
            match self.0.get(name) {
                None => {
                    let name = excerpt(name, MAX_FORMAT);
                    return Err(Error::Invalid(format!("the plugin's manifest declares no secret `{name}`")));
                }
                Some(Held::Missing { help }) => {
                    let help = format!("the secret `{name}` is not there until {help}");
                    return Err(refused(format!("the secret `{name}`"), help));
                }
                Some(Held::Given(secret)) => {
                    // Each for itself, although the request is granted: a secret has servers of its own.
                    secret.permit(name, plugin, method, url)?;
                    // A name that occurs twice is one secret.
                    if !carried.names.contains(name) {
                        carried.secrets.push(Arc::clone(secret));
                        carried.names.push(name.clone());
                    }
                }
            }
        }
        Ok(carried)
    }
}

/// The secrets that go with one request, as long as it stays with the original server.
pub(crate) struct Carried {
    secrets: Vec<Arc<PlacedSecret>>,
    names: Vec<String>,
    origin: url::Origin,
}

impl Carried {
    /// Puts the secrets for this address into the header: all, or none once a redirect has led elsewhere. Returns their
    /// names.
    pub(crate) fn put(&mut self, url: &Url, headers: &mut HeaderMap) -> Result<Vec<String>, Error> {
        if url.origin() != self.origin {
            // A server that redirects must not be able to send back a request that looks like the user's.
            self.origin = url::Origin::new_opaque();
            return Ok(Vec::new());
        }
        for secret in &self.secrets {
            let Placement { header, before, after } = &secret.placement;
            let mut value =
                HeaderValue::try_from(format!("{before}{}{after}", secret.value.expose())).map_err(|_| {
                    Error::Invalid(format!("the secret is not a valid value for the header field `{header}`"))
                })?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(self.names.clone())
    }

    /// Returns how many bytes of a body beyond its limit must be read, so that no value is cut in two before it is
    /// redacted.
    pub(crate) fn margin(&self) -> usize {
        self.secrets.iter().map(|secret| secret.value.expose().len()).max().unwrap_or(0)
    }

    /// Redacts every value in these bytes.
    pub(crate) fn redact(&self, bytes: &mut [u8]) {
        for secret in &self.secrets {
            let length = secret.value.expose().len();
            let found: Vec<usize> = memchr::memmem::find_iter(bytes, secret.value.expose().as_bytes()).collect();
            for at in found {
                if let Some(value) = bytes.get_mut(at..at + length) {
                    value.fill(b'*');
                }
            }
        }
    }

    /// Redacts every value in a text.
    pub(crate) fn redacted(&self, text: String) -> String {
        self.secrets.iter().map(|secret| secret.value.expose()).fold(text, |text, value| match text.contains(value) {
            true => text.replace(value, &"*".repeat(value.len())),
            false => text,
        })
    }
}

fn refused(wanted: String, help: String) -> Error {
    Error::Denied(Denial { capability: Capability::Http.name().to_owned(), wanted, help })
}

fn is_this_machine(server: &Authority) -> bool {
    server.host() == "localhost" || server.address().is_some_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use host_capability::Scope;

    use super::*;

    const VALUE: &str = "s3cret-of-a-user";

    fn servers(scope: &str) -> Grants {
        Grants::none().with(Scope::parse_absolute(Capability::Http, scope).expect("a scope"))
    }

    fn secrets(scope: &str) -> Secrets {
        let mut secrets = Secrets::default();
        let placement = Placement::new("Authorization", "Bearer {}").expect("a place");
        secrets.give("token", PlacedSecret::new(VALUE, placement, servers(scope)).expect("a secret"));
        secrets.lack("other", "you say so".to_owned());
        secrets
    }

    fn carried(scope: &str, names: &[&str], url: &str) -> Result<Carried, Error> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let url = Url::parse(url).expect("an address");
        secrets(scope).carried(&names, &PluginName::new("acme/fetch"), &Method::GET, &url)
    }

    // promise secret.servers: A plugin never sees its secret; the host adds it to one header for the servers named at
    //   installation, over `https` or to this machine.
    #[test]
    fn a_secret_goes_to_its_servers_alone_and_over_no_open_line() {
        let check = |scope: &str, url: &str, says: Option<&str>| match (carried(scope, &["token"], url), says) {
            (Ok(_), None) => {}
            (Err(Error::Denied(denial)), Some(says)) => {
                let words = format!("{} {}", denial.wanted, denial.help);
                assert!(words.contains(says) && !words.contains(VALUE), "{url}: {words}");
            }
            (Ok(_), Some(_)) => panic!("{url} got it"),
            (Err(error), _) => panic!("{url}: {error:?}"),
        };
        check("api.example.com", "https://api.example.com/x", None);
        check("api.example.com", "https://API.example.com:443/x", None);
        check("api.example.com", "http://api.example.com/x", Some("only over https"));
        check("api.example.com:80", "http://api.example.com/x", Some("only over https"));
        check("api.example.com", "https://evil.example/x", Some("does not name that server"));
        check("api.example.com", "https://api.example.com:8443/x", Some("does not name that server"));
        check("api.example.com", "https://api.example.com.evil.example/x", Some("does not name that server"));
        check("127.0.0.1:99", "http://127.0.0.1:99/x", None);
        check("localhost:99", "http://localhost:99/x", None);
        check("10.0.0.1:99", "http://10.0.0.1:99/x", Some("only over https"));
    }

    #[test]
    fn secrets_not_declared_and_not_provided_are_different_errors() {
        let of = |name: &str| carried("a.example", &[name], "https://a.example/").map(drop);
        assert!(matches!(of("token"), Ok(())));
        assert!(matches!(of("tokem"), Err(Error::Invalid(why)) if why.contains("no secret `tokem`")));
        assert!(
            matches!(of("other"), Err(Error::Denied(denial)) if denial.wanted.contains("`other`") && denial.help.ends_with("until you say so"))
        );
    }

    // promise secret.servers
    #[test]
    fn a_redirect_elsewhere_ends_it_for_good() {
        let mut carried =
            carried("a.example,b.example", &["token", "token"], "https://a.example/").expect("it is sent");
        for (url, sent) in [
            ("https://a.example/1", true),
            ("https://a.example:443/2", true),
            ("https://b.example/", false),
            ("https://a.example/3", false),
        ] {
            let mut headers = HeaderMap::new();
            let names = carried.put(&Url::parse(url).expect("an address"), &mut headers).expect("it fits");
            assert_eq!((headers.contains_key("authorization"), !names.is_empty()), (sent, sent), "{url}");
            assert!(!format!("{headers:?}").contains(VALUE), "{headers:?}");
        }
    }

    // promise secret.redacted
    #[test]
    fn secrets_value_that_comes_back_is_redacted() {
        let carried = carried("a.example", &["token"], "https://a.example/").expect("it is sent");
        let mut bytes = format!("a {VALUE}{VALUE} b").into_bytes();
        carried.redact(&mut bytes);
        assert_eq!(String::from_utf8(bytes).expect("text"), format!("a {} b", "*".repeat(2 * VALUE.len())));
        assert_eq!(carried.redacted(format!("x{VALUE}")), format!("x{}", "*".repeat(VALUE.len())));
        assert_eq!(carried.margin(), VALUE.len());
    }

    // promise secret.redacted
    #[test]
    fn secrets_invalid_value_is_an_error_that_does_not_contain_it() {
        let placement = || Placement::new("x-api-key", "{}").expect("a place");
        for value in ["", "short", "with a space", "line\nfeed-in-it", "ümlaut-in-it", &"x".repeat(8193)] {
            let error =
                PlacedSecret::new(value, placement(), servers("a.example")).expect_err("it is none").to_string();
            assert!(value.is_empty() || !error.contains(value), "{error}");
        }
        let secret = PlacedSecret::new(VALUE, placement(), servers("a.example")).expect("it is one");
        assert!(!format!("{secret:?} {:?}", secrets("a.example")).contains(VALUE));
        for (header, format) in [
            ("", "{}"),
            ("host", "{}"),
            ("cookie", "{}"),
            ("content-length", "{}"),
            ("sec-x", "{}"),
            ("a b", "{}"),
            ("x-key", ""),
            ("x-key", "{}{}"),
            ("x-key", "{}\r\nx: y"),
            ("x-key", &format!("{}{{}}", "x".repeat(100))),
        ] {
            Placement::new(header, format).expect_err(header);
        }
    }
}
