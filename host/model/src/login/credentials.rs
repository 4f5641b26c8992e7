//! The credentials, and the token requests that are made with them.
//!
//! The shapes are those of the files that `gcloud` and the Google Cloud console write: `authorized_user` and
//! `service_account`. Any other type is rejected by its name.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use host_http::is_plain_loopback;
use rustls::sign::SigningKey;
use serde::Deserialize;
use url::Url;
use url::form_urlencoded::Serializer;

use super::{CredentialsFile, Login, LoginError, assertion};
use crate::ApiKey;
use crate::text::clip;

/// The largest file that is read; a legitimate one has some kilobytes.
const MAX_FILE: u64 = 64 << 10;

/// The token endpoint if the file does not name one.
const TOKEN_ENDPOINT: &str = "https://oauth2.googleapis.com/token";

/// The metadata server's usual name, according to Google Cloud's documentation.
const METADATA_HOST: &str = "metadata.google.internal";

/// Validated credentials.
pub(super) struct Credentials {
    pub(super) grant: Grant,
    /// The token endpoint.
    pub(super) endpoint: Url,
    /// Their source, as errors name it.
    pub(super) origin: String,
    pub(super) quota_project: Option<String>,
}

/// What is exchanged for a token.
pub(super) enum Grant {
    ServiceAccount(Account),
    AuthorizedUser(User),
    /// Nothing: running on this machine is enough.
    Metadata,
}

/// An account that a program logs in to with its key.
pub(super) struct Account {
    pub(super) email: String,
    pub(super) key: Arc<dyn SigningKey>,
    pub(super) key_id: Option<String>,
}

/// A user who has logged in and authorised this machine.
pub(super) struct User {
    client_id: String,
    client_secret: ApiKey,
    refresh_token: ApiKey,
}

impl Credentials {
    /// Reads the credentials of the file, or of the metadata server if the file is optional and does not exist.
    pub(super) fn read(login: &Login) -> Result<Self, LoginError> {
        let file = match &login.file {
            None => return Self::from_machine(login, None),
            Some(CredentialsFile::Named(file) | CredentialsFile::Usual(file)) => file,
        };
        let shown = clip(&file.display().to_string());
        match read(file) {
            Ok(text) => {
                let origin = format!("the credentials `{shown}`");
                Self::from_file(&text, &origin).map_err(|why| LoginError::Unusable { origin, why })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && login.is_unnamed() => {
                Self::from_machine(login, Some(&shown))
            }
            Err(error) => Err(LoginError::Unreadable { file: shown, why: error.to_string() }),
        }
    }

    fn from_machine(login: &Login, missing: Option<&str>) -> Result<Self, LoginError> {
        let host = login.metadata_host.as_deref().unwrap_or(METADATA_HOST);
        let address = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
        let missing = missing.map_or_else(String::new, |file| format!(" (there is no file `{file}`)"));
        let unusable = |error: url::ParseError| LoginError::Unusable {
            origin: format!("the metadata server `{}`", clip(host)),
            why: error.to_string(),
        };
        Ok(Self {
            grant: Grant::Metadata,
            endpoint: Url::parse(&address).map_err(unusable)?,
            origin: format!("the account of this machine{missing}"),
            quota_project: None,
        })
    }

    fn from_file(text: &str, origin: &str) -> Result<Self, String> {
        // The parser's message can contain a part of the file, so errors leave it out.
        let not_json = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Data => "it has a field of the wrong type".to_owned(),
            _ => format!("it is not JSON (line {}, column {})", error.line(), error.column()),
        };
        let written: Written = serde_json::from_str(text).map_err(not_json)?;
        let grant = match written.r#type.as_deref() {
            Some("service_account") => Grant::ServiceAccount(Account {
                email: field(written.client_email, "client_email")?,
                // Read at once: a key that cannot sign is an error of the file and not of the first request.
                key: assertion::key(&field(written.private_key, "private_key")?)?,
                key_id: written.private_key_id,
            }),
            Some("authorized_user") => Grant::AuthorizedUser(User {
                client_id: field(written.client_id, "client_id")?,
                client_secret: secret(written.client_secret, "client_secret")?,
                refresh_token: secret(written.refresh_token, "refresh_token")?,
            }),
            Some(other) => {
                return Err(format!(
                    "it is of type `{}`, and only `authorized_user` and `service_account` are known",
                    clip(other)
                ));
            }
            None => return Err("it has no `type`".to_owned()),
        };
        let endpoint = written.token_uri.as_deref().unwrap_or(TOKEN_ENDPOINT);
        let endpoint = Url::parse(endpoint).map_err(|error| format!("invalid `token_uri`: {error}"))?;
        // The refresh token goes there: over plain http others could read it.
        if endpoint.scheme() != "https" && !is_plain_loopback(&endpoint) {
            return Err("its `token_uri` does not begin with `https://`, so others could read along".to_owned());
        }
        let quota_project = written.quota_project_id.filter(|project| !project.is_empty());
        Ok(Self { grant, endpoint, origin: origin.to_owned(), quota_project })
    }

    /// Returns the form to post for a token; `None` if no form is needed.
    pub(super) fn form(&self) -> Result<Option<String>, LoginError> {
        let mut form = Serializer::new(String::new());
        match &self.grant {
            Grant::ServiceAccount(account) => {
                let assertion = account.assertion(&self.endpoint, SystemTime::now()).map_err(|error| {
                    LoginError::Unusable { origin: self.origin.clone(), why: format!("its key does not sign: {error}") }
                })?;
                form.append_pair("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
                form.append_pair("assertion", &assertion);
            }
            Grant::AuthorizedUser(user) => {
                form.append_pair("grant_type", "refresh_token");
                form.append_pair("client_id", &user.client_id);
                form.append_pair("client_secret", user.client_secret.expose());
                form.append_pair("refresh_token", user.refresh_token.expose());
            }
            Grant::Metadata => return Ok(None),
        }
        Ok(Some(form.finish()))
    }

    /// Removes the secrets of the credentials from a text.
    pub(super) fn hide(&self, text: &str) -> String {
        match &self.grant {
            Grant::AuthorizedUser(user) => {
                let text = text.replace(user.refresh_token.expose(), "(refresh token)");
                text.replace(user.client_secret.expose(), "(client secret)")
            }
            // The key itself is never sent.
            Grant::ServiceAccount(_) | Grant::Metadata => text.to_owned(),
        }
    }
}

impl Login {
    fn is_unnamed(&self) -> bool {
        matches!(self.file, None | Some(CredentialsFile::Usual(_)))
    }
}

fn read(file: &Path) -> io::Result<String> {
    Ok(host_files::read_text(file, MAX_FILE)?)
}

fn field(value: Option<String>, name: &str) -> Result<String, String> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| format!("it has no `{name}`"))
}

fn secret(value: Option<String>, name: &str) -> Result<ApiKey, String> {
    value.as_deref().and_then(ApiKey::new).ok_or_else(|| format!("it has no `{name}`"))
}

#[derive(Deserialize)]
struct Written {
    r#type: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    refresh_token: Option<String>,
    client_email: Option<String>,
    private_key: Option<String>,
    private_key_id: Option<String>,
    token_uri: Option<String>,
    quota_project_id: Option<String>,
}
