//! Takes a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks for a few lines; a panic elsewhere does not invalidate the content, which is only ever added to.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
