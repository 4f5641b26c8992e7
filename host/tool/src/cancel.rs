//! A cancellation with a reason.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long a cancelled call may take to stop by itself, with a partial result, unless its tool sets a different time.
/// Then it is dropped.
pub const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// The reason for the model if none was given: the parent token was cancelled, which means by the user.
const BY_THE_USER: &str = "cancelled by the user";

/// A cancellation token with a reason for the model. Clones share both.
#[derive(Clone, Debug)]
pub struct Cancel {
    token: CancellationToken,
    reason: Arc<OnceLock<String>>,
}

impl Cancel {
    /// Creates a child of `token`: cancelling `token` cancels it too, but not the reverse.
    pub fn under(token: &CancellationToken) -> Self {
        Self { token: token.child_token(), reason: Arc::default() }
    }

    /// Cancels it. The first reason is kept.
    pub fn cancel(&self, reason: impl Into<String>) {
        if !self.token.is_cancelled() {
            self.reason.get_or_init(|| reason.into());
        }
        self.token.cancel();
    }

    /// Whether it is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Returns the reason, as a text for the model.
    pub fn reason(&self) -> &str {
        self.reason.get().map_or(BY_THE_USER, String::as_str)
    }

    /// Returns the token, for code that waits on it.
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let cancel = Cancel::under(&CancellationToken::new());
        cancel.cancel("first");
        cancel.cancel("second");
        assert_eq!((cancel.is_cancelled(), cancel.reason()), (true, "first"));
    }

    #[test]
    fn a_token_above_is_the_user() {
        let above = CancellationToken::new();
        let cancel = Cancel::under(&above);
        above.cancel();
        cancel.cancel("too late");
        assert_eq!((cancel.is_cancelled(), cancel.reason()), (true, BY_THE_USER));
    }
}
