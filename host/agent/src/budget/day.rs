//! What all runs of a user on this machine have used today, in a private file that their processes share.
//!
//! Days are counted in UTC. Promises: a use is added under a lock and the file is replaced whole, so that no process
//! loses what another one counted; a clock that goes backwards begins no new day. A file that cannot be read or written
//! is an error, and never a day with nothing spent.
//!
//! Deliberately not here: when a run stops (`Budget`), and what a model costs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host_files::{Access, PrivateFile};
use host_journal::Clock;
use host_text::counted;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

use super::Cost;

/// The largest file that is read, in bytes. Protects memory; the days that are kept take some 5 KB.
const MAX_FILE: u64 = 64 << 10;

/// The most days that are kept, so that the file stays small; only the last one counts.
const KEPT_DAYS: usize = 62;

/// The layout of the file.
const VERSION: u32 = 1;

/// The limits of a day, over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayLimits {
    /// Maximum total of tokens sent and received.
    pub tokens: Option<u64>,
    /// Maximum total cost.
    pub cost: Option<Cost>,
}

/// The count of each day's use.
#[derive(Debug)]
pub struct DayBudget {
    file: PrivateFile,
    limits: DayLimits,
    clock: Clock,
}

/// What was used on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpending {
    /// The day, in UTC. If the clock went backwards, it is the last day that was counted.
    pub day: Date,
    /// Tokens sent and received.
    pub tokens: u64,
    /// Their cost, as far as their models have a price.
    pub cost: Cost,
}

/// A budget of the day that is used up, or that cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DayExceeded {
    /// Enough tokens were sent and received.
    #[error(
        "the budget of {} for a day is used up: {spent} tokens sent and received on {day} by all runs; the next day \
         begins at 00:00 UTC",
        counted(limit, "token")
    )]
    Tokens {
        /// The most.
        limit: u64,
        /// Number of tokens used.
        spent: u64,
        /// The day.
        day: Date,
    },
    /// It cost enough.
    #[error(
        "the budget of {limit} for a day is used up: all runs of {day} cost {spent} so far; the next day begins at \
         00:00 UTC"
    )]
    Cost {
        /// The most.
        limit: Cost,
        /// Cost so far.
        spent: Cost,
        /// The day.
        day: Date,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Unknown(#[from] DayError),
}

/// Why the use of a day is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tokens and costs of the day in `{}` cannot be {verb}: {why}", path.display())]
pub struct DayError {
    path: PathBuf,
    verb: &'static str,
    why: String,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    days: BTreeMap<Date, Used>,
}

/// The use of one day in it.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Used {
    tokens: u64,
    /// In billionths of the user's currency.
    cost_billionths: u64,
}

impl DayBudget {
    /// Counts in the file at this path, which need not exist.
    pub fn new(path: impl Into<PathBuf>, limits: DayLimits, clock: Clock) -> Self {
        Self { file: PrivateFile::new(path, Access::ReadOrWrite, MAX_FILE), limits, clock }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The limits.
    pub fn limits(&self) -> DayLimits {
        self.limits
    }

    /// Returns what all runs have used today.
    ///
    /// # Errors
    ///
    /// When the file is damaged, exposed to other users, or cannot be read.
    pub fn spent(&self) -> Result<DaySpending, DayError> {
        let days = self.days()?;
        let day = self.day(&days);
        let Used { tokens, cost_billionths } = days.get(&day).copied().unwrap_or_default();
        Ok(DaySpending { day, tokens, cost: Cost::from_billionths(cost_billionths) })
    }

    /// Checks whether the limits of the day allow another request. Without limits the file is not read.
    ///
    /// # Errors
    ///
    /// When a limit is reached, or the use of the day is not known.
    pub fn check(&self) -> Result<(), DayExceeded> {
        let DayLimits { tokens, cost } = self.limits;
        if tokens.is_none() && cost.is_none() {
            return Ok(());
        }
        let DaySpending { day, tokens: used, cost: spent } = self.spent()?;
        match (tokens, cost) {
            (Some(limit), _) if used >= limit => Err(DayExceeded::Tokens { limit, spent: used, day }),
            (_, Some(limit)) if spent >= limit => Err(DayExceeded::Cost { limit, spent, day }),
            _ => Ok(()),
        }
    }

    /// Adds to the use of today.
    ///
    /// # Errors
    ///
    /// When the file is damaged, exposed to other users, or cannot be read or written. It is then as it was.
    pub fn add(&self, tokens: u64, cost: Cost) -> Result<(), DayError> {
        let unwritable = |error: std::io::Error| self.error("counted", &error);
        let locked = self.file.lock().map_err(unwritable)?;
        let mut days = self.days()?;
        let used = days.entry(self.day(&days)).or_default();
        used.tokens = used.tokens.saturating_add(tokens);
        used.cost_billionths = used.cost_billionths.saturating_add(cost.billionths());
        while days.len() > KEPT_DAYS {
            days.pop_first();
        }
        let text = serde_json::to_string_pretty(&Document { version: VERSION, days });
        locked.replace(&text.map_err(|error| unwritable(error.into()))?).map_err(unwritable)
    }

    /// The day that is counted: today, or the last one that was counted if the clock shows an earlier one. Otherwise a
    /// clock that is put back would begin a day with nothing spent.
    fn day(&self, days: &BTreeMap<Date, Used>) -> Date {
        let today = Offset::UTC.to_datetime(self.clock.now()).date();
        days.keys().next_back().map_or(today, |last| today.max(*last))
    }

    fn days(&self) -> Result<BTreeMap<Date, Used>, DayError> {
        let Some(text) = self.file.read().map_err(|error| self.error("read", &error))? else {
            return Ok(BTreeMap::new());
        };
        let document: Document = serde_json::from_str(&text).map_err(|error| self.error("read", &error))?;
        match document.version {
            VERSION => Ok(document.days),
            other => Err(self.error(
                "read",
                &format_args!(
                    "its version is {other}, and this host reads version \
                                                           {VERSION}"
                ),
            )),
        }
    }

    fn error(&self, verb: &'static str, why: &dyn std::fmt::Display) -> DayError {
        DayError { path: self.path().to_owned(), verb, why: why.to_string() }
    }
}

impl DayError {
    /// Returns advice on how to fix it, as a sentence without a full stop.
    pub fn help(&self) -> &'static str {
        "make the file readable and writable for you alone (chmod 600), or remove it; the day is then counted from 0 \
         again"
    }
}

impl DayExceeded {
    /// Returns advice on how to fix it, as a sentence without a full stop.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Tokens { .. } => {
                "wait for the next day, or raise `tokens_per_day` under `[budget]` in the configuration"
            }
            Self::Cost { .. } => "wait for the next day, or raise `cost_per_day` under `[budget]` in the configuration",
            Self::Unknown(error) => error.help(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;

    /// A budget in this folder, at this time.
    fn at(folder: &tempfile::TempDir, time: &str, limits: DayLimits) -> DayBudget {
        let time: Timestamp = time.parse().expect("a time");
        DayBudget::new(folder.path().join("state/spending.json"), limits, Clock::fixed(time))
    }

    fn tokens(limit: u64) -> DayLimits {
        DayLimits { tokens: Some(limit), cost: None }
    }

    const NOON: &str = "2026-11-23T12:00:00Z";

    // promise budget.day
    #[test]
    fn day_two_runs_share_a_day_and_the_next_day_begins_at_zero() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = at(&folder, NOON, tokens(100));
        assert_eq!(first.check(), Ok(()));
        first.add(60, Cost::from_amount(0.5)).expect("counted");
        assert_eq!(first.check(), Ok(()));
        let second = at(&folder, "2026-11-23T23:59:59Z", tokens(100));
        second.add(40, Cost::from_amount(0.25)).expect("counted");
        let day = "2026-11-23".parse().expect("a day");
        assert_eq!(second.spent(), Ok(DaySpending { day, tokens: 100, cost: Cost::from_amount(0.75) }));
        assert_eq!(
            first.check(),
            Err(DayExceeded::Tokens { limit: 100, spent: 100, day }),
            "the other process sees it"
        );
        let limits = DayLimits { tokens: None, cost: Some(Cost::from_amount(0.75)) };
        let spent = Cost::from_amount(0.75);
        assert_eq!(at(&folder, NOON, limits).check(), Err(DayExceeded::Cost { limit: spent, spent, day }));
        let next = at(&folder, "2026-11-24T00:00:00Z", tokens(100));
        assert_eq!((next.check(), next.spent().map(|spent| spent.tokens)), (Ok(()), Ok(0)));
    }

    // promise budget.day
    #[test]
    fn day_clock_that_goes_backwards_begins_no_new_day() {
        let folder = tempfile::tempdir().expect("a folder");
        at(&folder, NOON, tokens(100)).add(100, Cost::default()).expect("counted");
        for earlier in ["2026-11-22T23:59:59Z", "1970-01-01T00:00:00Z"] {
            let earlier = at(&folder, earlier, tokens(100));
            assert!(matches!(earlier.check(), Err(DayExceeded::Tokens { spent: 100.., .. })));
            earlier.add(1, Cost::default()).expect("counted");
        }
        assert_eq!(at(&folder, NOON, tokens(100)).spent().map(|spent| spent.tokens), Ok(102));
    }

    // promise budget.day
    #[test]
    fn day_counts_of_many_at_once_are_all_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let budget = Arc::new(at(&folder, NOON, DayLimits::default()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..8).for_each(|_| budget.add(3, Cost::from_amount(0.1)).expect("counted")));
            }
        });
        let spent = budget.spent().expect("read");
        assert_eq!((spent.tokens, spent.cost), (192, Cost::from_amount(6.4)));
    }

    // promise budget.day
    #[test]
    fn day_file_that_is_damaged_or_exposed_is_an_error_and_not_an_empty_day() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let budget = at(&folder, NOON, tokens(100));
        budget.add(1, Cost::default()).expect("counted");
        let good = std::fs::read_to_string(budget.path()).expect("read");
        let long = " ".repeat(usize::try_from(MAX_FILE).expect("small") + 1);
        for damaged in [
            "",
            "{",
            "[]",
            "{\"version\":2,\"days\":{}}",
            "{\"version\":1,\"days\":{\"x\":{}}}",
            "{\"version\":1,\"days\":{\"2026-11-23\":{\"tokens\":-1,\"cost_billionths\":0}}}",
            long.as_str(),
        ] {
            std::fs::write(budget.path(), damaged).expect("written");
            let Err(DayExceeded::Unknown(error)) = budget.check() else { panic!("{damaged} is no day") };
            assert!(error.to_string().contains("spending.json"), "{error}");
            assert!(budget.add(1, Cost::default()).is_err(), "{damaged}");
            assert_eq!(std::fs::read_to_string(budget.path()).expect("read"), damaged, "it stays as it is");
        }
        std::fs::write(budget.path(), good).expect("written");
        std::fs::set_permissions(budget.path(), std::fs::Permissions::from_mode(0o622)).expect("set");
        assert!(matches!(budget.check(), Err(DayExceeded::Unknown(_))), "others could have written it");
        assert_eq!(at(&folder, NOON, DayLimits::default()).check(), Ok(()), "without a limit nothing is read");
    }

    #[test]
    fn day_file_keeps_no_more_days_than_it_should() {
        let folder = tempfile::tempdir().expect("a folder");
        let begin: Date = "2026-01-01".parse().expect("a day");
        for day in 0..100 {
            let date = begin.checked_add(jiff::Span::new().days(day)).expect("a day");
            at(&folder, &format!("{date}T00:00:00Z"), tokens(1)).add(1, Cost::default()).expect("counted");
        }
        let budget = at(&folder, NOON, tokens(1));
        let days = budget.days().expect("read");
        assert_eq!((days.len(), days.keys().next_back()), (KEPT_DAYS, Some(&"2026-04-10".parse().expect("a day"))));
        assert!(budget.path().metadata().expect("it is there").len() < MAX_FILE / 8);
    }
}
