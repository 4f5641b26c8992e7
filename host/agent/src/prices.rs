//! Prices of models, and amounts of money.
//!
//! A price is the user's own, or one of a list that comes with the program; a cost remembers whether a price of the
//! list is part of it, since that makes it an estimate. A model without a price has no cost, which is not a cost of
//! zero.
//!
//! Deliberately not here: the list itself and where the user's prices come from (`host-settings`).

use std::collections::BTreeMap;
use std::fmt;

use host_message::Usage;
use host_model::is_snapshot;
use jiff::civil::Date;

/// Price of a model's tokens, per million, in whatever currency the user counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Tokens sent.
    pub input: f64,
    /// Tokens sent that the service had cached.
    pub cached: f64,
    /// Tokens sent that the service put into its cache.
    pub cache_write: f64,
    /// Tokens of the answer, and of thinking.
    pub output: f64,
}

/// The prices of models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    configured: BTreeMap<String, Price>,
    listed: BTreeMap<String, (Price, Date)>,
}

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceBasis {
    /// The user configured it.
    Configured,
    /// It is in a list that was read on this day, so that a cost is an estimate.
    Listed(Date),
}

/// A cost, and the prices that it is made of: listed ones if any of them is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The amount.
    pub cost: Cost,
    /// Its basis.
    pub basis: PriceBasis,
}

/// An amount of the user's currency, in billionths: adding up fractions must not lose any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u64);

impl Prices {
    /// Creates prices from those that the user configured, by the ids of the models, and from listed ones, which also
    /// apply to the snapshots of their models and have the days on which they were read.
    pub fn new(configured: BTreeMap<String, Price>, listed: BTreeMap<String, (Price, Date)>) -> Self {
        Self { configured, listed }
    }

    /// Returns the price of the model with this id. The user's own wins.
    pub fn of(&self, id: &str) -> Option<(Price, PriceBasis)> {
        if let Some(price) = self.configured.get(id) {
            return Some((*price, PriceBasis::Configured));
        }
        // From the whole id to ever shorter beginnings of it.
        let ends = std::iter::once(id.len()).chain(id.rmatch_indices('-').map(|(at, _)| at));
        let mut found = ends.filter_map(|end| Some((id.get(..end)?, id.get(end..)?)));
        let (name, rest) = found.find(|(name, _)| self.listed.contains_key(*name))?;
        let (price, read) = self.listed.get(name).filter(|_| is_snapshot(rest))?;
        Some((*price, PriceBasis::Listed(*read)))
    }
}

impl Charge {
    /// Returns the sum of two charges, either of which may be missing.
    pub fn sum(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => {
                Some(Self { cost: one.cost.plus(other.cost), basis: one.basis.max(other.basis) })
            }
            (one, other) => one.or(other),
        }
    }
}

impl Price {
    /// Returns the cost of a reply.
    pub fn cost(self, usage: Usage) -> Cost {
        let Usage { input, output, cached, thought, cache_write } = usage;
        let cached = cached.min(input);
        let written = cache_write.min(input - cached);
        let cost = (input - cached - written) as f64 * self.input
            + cached as f64 * self.cached
            + written as f64 * self.cache_write
            + output.saturating_add(thought) as f64 * self.output;
        // Prices are for a million tokens.
        Cost::from_amount(cost / 1e6)
    }
}

impl Cost {
    /// Creates a cost from an amount of the currency; zero if it is negative or not a number.
    pub fn from_amount(amount: f64) -> Self {
        // The cast saturates: a float becomes the nearest representable number.
        Self((amount * 1e9).round() as u64)
    }

    /// Creates a cost from billionths of the currency.
    pub(crate) fn from_billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    /// Returns the billionths of the currency.
    pub(crate) fn billionths(self) -> u64 {
        self.0
    }

    /// Returns the amount in the currency.
    pub fn amount(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the sum, or the largest amount if it is more.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// With as many decimals as it takes, and two at the least.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:09}", self.0 % 1_000_000_000);
        let decimals = decimals.trim_end_matches('0');
        write!(f, "{}.{decimals:0<2}", self.0 / 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_as_people_write_it() {
        for (amount, written) in [
            (0.0, "0.00"),
            (3.0, "3.00"),
            (0.1, "0.10"),
            (1.255, "1.255"),
            (0.000_001_25, "0.00000125"),
            (-1.0, "0.00"),
        ] {
            assert_eq!(Cost::from_amount(amount).to_string(), written);
        }
        assert_eq!(Cost::from_amount(f64::NAN), Cost::default());
    }

    const DAY: Date = jiff::civil::date(2026, 11, 27);

    fn price(input: f64) -> Price {
        Price { input, cached: input, cache_write: input, output: input }
    }

    #[test]
    fn prices_the_longest_listed_name_counts_and_only_snapshots_share_it() {
        let listed = [("a/m-5", 5.0), ("a/m-5-5", 4.0), ("a/m", 1.0)];
        let listed = listed.map(|(id, input)| (id.to_owned(), (price(input), DAY)));
        let configured = BTreeMap::from([("a/m-5-20260101".to_owned(), price(9.0))]);
        let prices = Prices::new(configured, listed.into());
        for (id, expected) in [
            ("a/m-5", Some((5.0, PriceBasis::Listed(DAY)))),
            ("a/m-5-20260102", Some((5.0, PriceBasis::Listed(DAY)))),
            ("a/m-5-2026-01-02", Some((5.0, PriceBasis::Listed(DAY)))),
            ("a/m-5-latest", Some((5.0, PriceBasis::Listed(DAY)))),
            ("a/m-5-preview-09-2025", Some((5.0, PriceBasis::Listed(DAY)))),
            ("a/m-5-001", Some((5.0, PriceBasis::Listed(DAY)))),
            ("a/m-5-5-20260101", Some((4.0, PriceBasis::Listed(DAY)))),
            // The user's own.
            ("a/m-5-20260101", Some((9.0, PriceBasis::Configured))),
            // Other models, whose prices nobody knows.
            ("a/m-5-7", None),
            ("a/m-5-12-20260101", None),
            ("a/m-5-mini", None),
            ("a/m-5-", None),
            ("a/m-5--20260101", None),
            ("a/m-6", None),
            ("b/m-5", None),
            ("a/", None),
            ("", None),
        ] {
            assert_eq!(prices.of(id), expected.map(|(input, basis)| (price(input), basis)), "{id}");
        }
    }

    #[test]
    fn a_sum_with_a_listed_price_is_an_estimate() {
        let charge = |amount, basis| Some(Charge { cost: Cost::from_amount(amount), basis });
        let (own, listed) = (charge(1.0, PriceBasis::Configured), charge(2.0, PriceBasis::Listed(DAY)));
        assert_eq!(Charge::sum(own, listed), charge(3.0, PriceBasis::Listed(DAY)));
        assert_eq!(Charge::sum(own, own), charge(2.0, PriceBasis::Configured));
        assert_eq!((Charge::sum(None, listed), Charge::sum(own, None), Charge::sum(None, None)), (listed, own, None));
    }
}
