//! How long to wait before a server is tried again.

use std::time::Duration;

/// Pauses that double with each failure in a row, up to a longest one. Each is randomly shorter or longer, so that the
/// many clients of a server that was down do not all return at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The pause after the first failure.
    pub first: Duration,
    /// The longest pause, before chance changes it.
    pub longest: Duration,
    /// The share by which a pause may be shorter.
    pub shorter: f64,
    /// The share by which a pause may be longer.
    pub longer: f64,
}

impl Backoff {
    /// Returns the pause after this many failures in a row.
    pub fn pause(&self, failures: u32) -> Duration {
        let chance = getrandom::u32().ok().map(|number| f64::from(number) / f64::from(u32::MAX));
        self.pause_by(failures, chance)
    }

    /// Returns the pause by this chance, from 0 for the shortest to 1 for the longest; without one it is not changed.
    pub fn pause_by(&self, failures: u32, chance: Option<f64>) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        let change = chance.map_or(0.0, |chance| chance * (self.shorter + self.longer) - self.shorter);
        doubled.min(self.longest).mul_f64((1.0 + change).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_pauses_double_to_a_longest_and_stray_within_bounds() {
        let backoff =
            Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60), shorter: 0.25, longer: 0.5 };
        for (failures, chance, milliseconds) in [
            (0, None, 1_000),
            (1, None, 1_000),
            (2, None, 2_000),
            (6, None, 32_000),
            (7, None, 60_000),
            (u32::MAX, None, 60_000),
            (3, Some(0.0), 3_000),
            (3, Some(1.0), 6_000),
            (7, Some(1.0), 90_000),
        ] {
            assert_eq!(backoff.pause_by(failures, chance).as_millis(), milliseconds, "{failures} {chance:?}");
        }
        let pause = backoff.pause(3);
        assert!((Duration::from_secs(3)..=Duration::from_secs(6)).contains(&pause), "{pause:?}");
    }
}
