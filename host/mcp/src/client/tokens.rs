//! The tokens of a login, stored for later sessions.
//!
//! Promises: a file of its own for each server, which no other user can read; bound to the server's address and to the
//! authorization server that issued them.

use std::path::Path;
use std::pin::Pin;

use host_files::{Access, Mode, PrivateFile, make_private_folder, replace};
use host_plugin::Digest;
use rmcp::transport::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};

/// The largest file with tokens, in bytes. Protects the host's memory; tokens have a few kilobytes.
const MAX_FILE: u64 = 256 << 10;

/// The stored tokens of one server.
#[derive(Clone, Debug)]
pub(super) struct Tokens(PrivateFile);

/// What the library's trait returns; it is written with a macro there.
type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

impl Tokens {
    /// Those of the server at this address.
    pub(super) fn new(folder: &Path, url: &str) -> Self {
        let digest = Digest::of(url.as_bytes());
        let name = format!("tokens-{}.json", digest.as_str().get(..32).unwrap_or_default());
        Self(PrivateFile::new(folder.join(name), Access::ReadOrWrite, MAX_FILE))
    }

    /// Returns what the tokens are good for, as far as that is known.
    pub(super) fn granted(&self) -> Vec<String> {
        self.read().ok().flatten().map(|stored| stored.granted_scopes).unwrap_or_default()
    }

    fn failed(&self, error: impl std::fmt::Display) -> AuthError {
        AuthError::CredentialStoreError(format!("`{}`: {error}", self.0.path().display()))
    }

    fn read(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let text = self.0.read().map_err(|error| self.failed(error))?;
        // What cannot be read any more is replaced by the next login.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    fn write(&self, credentials: &StoredCredentials) -> Result<(), AuthError> {
        let text = serde_json::to_vec(credentials).map_err(|error| self.failed(error))?;
        let folder = self.0.path().parent().unwrap_or(Path::new("."));
        let written = make_private_folder(folder).and_then(|()| replace(self.0.path(), &text, Mode::Private));
        written.map_err(|error| self.failed(error))
    }

    fn remove(&self) -> Result<(), AuthError> {
        match std::fs::remove_file(self.0.path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    /// Waits until no other process refreshes them.
    fn lock(&self) -> Result<std::fs::File, AuthError> {
        let folder = self.0.path().parent().unwrap_or(Path::new("."));
        let locked = make_private_folder(folder).and_then(|()| host_files::lock(&self.0.path().with_extension("lock")));
        locked.map_err(|error| self.failed(error))
    }

    /// Runs what may block on a thread for that.
    fn blocking<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(Self) -> Result<T, AuthError> + Send + 'static,
    ) -> Stored<'a, T> {
        let tokens = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(tokens)).await;
            done.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?
        })
    }
}

impl CredentialStore for Tokens {
    fn load<'life0, 'async_trait>(&'life0 self) -> Stored<'async_trait, Option<StoredCredentials>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        self.blocking(|tokens| tokens.read())
    }

    fn save<'life0, 'async_trait>(&'life0 self, credentials: StoredCredentials) -> Stored<'async_trait, ()>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        self.blocking(move |tokens| tokens.write(&credentials))
    }

    fn clear<'life0, 'async_trait>(&'life0 self) -> Stored<'async_trait, ()>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        self.blocking(|tokens| tokens.remove())
    }

    fn acquire_refresh_guard<'life0, 'async_trait>(&'life0 self) -> Stored<'async_trait, Option<CredentialRefreshGuard>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        self.blocking(|tokens| Ok(Some(CredentialRefreshGuard::new(tokens.lock()?))))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn tokens_are_in_a_file_that_no_other_user_can_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("mcp");
        let tokens = Tokens::new(&folder, "https://mcp.example.com/mcp");
        assert!(tokens.load().await.expect("nothing").is_none());
        tokens.save(StoredCredentials::new("client".to_owned(), None, Vec::new(), None)).await.expect("stored");
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(tokens.0.path()), mode(&folder)), (0o600, 0o700));
        assert_eq!(tokens.load().await.expect("read").expect("tokens").client_id, "client");
        let other = Tokens::new(&folder, "https://mcp.example.org/mcp");
        assert!(other.load().await.expect("nothing").is_none(), "they are another server's");

        std::fs::set_permissions(tokens.0.path(), std::fs::Permissions::from_mode(0o644)).expect("changed");
        let error = tokens.load().await.expect_err("others can read it").to_string();
        assert!(error.contains("tokens-"), "{error}");
        tokens.clear().await.expect("removed");
        assert!(tokens.load().await.expect("nothing").is_none());
    }
}
