//! The capability `http`: fetching from the authorities that were granted.
//!
//! A token of the user's is a secret: `plugin.toml` says which header field of which servers it goes into, the user gives
//! it, and [`fetch_with_secrets`] names it. The plugin never has it.
//!
//! ```
//! use host_sdk::{Failure, http};
//!
//! fn issue(number: u32) -> Result<Vec<u8>, Failure> {
//!     let request = http::Request::get(format!("https://api.example.com/issues/{number}"), 100_000);
//!     Ok(http::fetch_with_secrets(&request, &["token".to_owned()])?.body)
//! }
//!
//! let host = host_sdk::fake::FakeHost::new().secret("token", "api.example.com");
//! let host = host.http("GET", "https://api.example.com/issues/7", "It rains.");
//! assert_eq!(host.run(|| issue(7)), Ok(b"It rains.".to_vec()));
//! assert_eq!(host.carried(), [["token"]]);
//! ```

use crate::Failure;
pub use crate::bindings::host::cap::http::{Error, Request, Response};
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::cap::http::{fetch, fetch_with_secrets};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::http::{fetch, fetch_with_secrets};

impl Request {
    /// A `GET` of an address, without headers, of which at most `size_limit` bytes of the body are taken.
    pub fn get(url: impl Into<String>, size_limit: u32) -> Self {
        Self {
            method: "GET".to_owned(),
            url: url.into(),
            headers: Vec::new(),
            body: None,
            time_limit: None,
            size_limit,
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Response {
    /// The first header of this name, without regard to case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(denial) | Error::RedirectDenied(denial) => denial.into(),
            Error::Invalid(why) => Self::InvalidArguments(why),
            Error::TimedOut => Self::Unavailable("the server took too long to answer".to_owned()),
            Error::Unavailable(why) => Self::Unavailable(why),
        }
    }
}
