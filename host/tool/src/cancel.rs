//! A cancel that can say why.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long a cancelled call may take to stop by itself, with a partial result, unless its tool sets another time. Then
/// it is dropped.
pub const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// What the model is told when nobody gave a reason: the token above fired, and above is the user.
const BY_THE_USER: &str = "cancelled by the user";

/// A cancellation token with the reason that the model is told. Clones share both.
#[derive(Clone, Debug)]
pub struct Cancel {
    token: CancellationToken,
    reason: Arc<OnceLock<String>>,
}

impl Cancel {
    /// A cancel that also fires when `token` does; firing it does not reach `token`.
    pub fn under(token: &CancellationToken) -> Self {
        Self { token: token.child_token(), reason: Arc::default() }
    }

    /// Fires. The first reason stays.
    pub fn cancel(&self, reason: impl Into<String>) {
        if !self.token.is_cancelled() {
            self.reason.get_or_init(|| reason.into());
        }
        self.token.cancel();
    }

    /// Whether it has fired.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until it fires.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Why it fired, in words for the model.
    pub fn reason(&self) -> &str {
        self.reason.get().map_or(BY_THE_USER, String::as_str)
    }

    /// The token, for what waits on it.
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
