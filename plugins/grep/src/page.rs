//! Which of the results a call shows.

/// The most results that one call shows, as the schema says: the answer would be cut elsewhere.
pub(crate) const MAX_LIMIT: usize = 1_000;

/// The most results that are passed over, as the schema says. Protects memory: what is found comes in no order, so what
/// is passed over has to be kept until the end.
pub(crate) const MAX_OFFSET: usize = 5_000;

/// A part of the results in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// How many results come before it.
    pub(crate) offset: usize,
    /// How many it has at most.
    pub(crate) limit: usize,
}

impl Page {
    /// Within the limits, for whoever calls without the schema.
    pub(crate) fn new(offset: usize, limit: usize) -> Self {
        Self { offset: offset.min(MAX_OFFSET), limit: limit.clamp(1, MAX_LIMIT) }
    }

    /// How many results there are up to its end.
    pub(crate) fn end(&self) -> usize {
        self.offset + self.limit
    }

    /// How to get the results behind it.
    pub(crate) fn how_to_go_on(&self) -> String {
        match self.end() {
            next if next <= MAX_OFFSET => format!("go on with `offset: {next}`"),
            _ => format!("no `offset` is over {MAX_OFFSET}, so narrow the search"),
        }
    }
}
