//! Finitely many elements of an ordered set, which represent everything below one of them.
//!
//! Kept canonical: no element is below another, and they are sorted, so two antichains that represent the same set are
//! equal. If the elements have meets, these sets are a distributive lattice; that is all that grants need, and paths,
//! programs and authorities use this type for it.

/// An element of an antichain, from a set with an order and meets. `Ord` only serves for sorting.
pub(crate) trait Element: Clone + Ord {
    /// Returns the greatest element that is below both; `None` if there is none.
    fn meet(&self, other: &Self) -> Option<Self>;

    /// Returns whether this is below or equal to the other. The partial order agrees with `Eq`: elements that are below
    /// each other are equal.
    fn is_below(&self, other: &Self) -> bool;
}

/// Everything that is below one of some elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Antichain<T>(Vec<T>);

impl<T: Element> Antichain<T> {
    /// Everything that is below one of these.
    pub(crate) fn new(elements: impl IntoIterator<Item = T>) -> Self {
        let mut all: Vec<T> = elements.into_iter().collect();
        all.sort();
        all.dedup();
        let covered = |at: usize| all.iter().enumerate().any(|(other, above)| other != at && all[at].is_below(above));
        let maximal: Vec<bool> = (0..all.len()).map(|at| !covered(at)).collect();
        let mut keep = maximal.into_iter();
        all.retain(|_| keep.next().unwrap_or(true));
        Self(all)
    }

    /// Returns the elements that are in both.
    pub(crate) fn meet(&self, other: &Self) -> Self {
        Self::new(self.0.iter().flat_map(|mine| other.0.iter().filter_map(|theirs| mine.meet(theirs))))
    }

    /// Returns the elements that are in either.
    pub(crate) fn join(&self, other: &Self) -> Self {
        Self::new(self.0.iter().chain(&other.0).cloned())
    }

    /// Returns whether the other contains all of this.
    pub(crate) fn le(&self, other: &Self) -> bool {
        self.0.iter().all(|mine| other.0.iter().any(|theirs| mine.is_below(theirs)))
    }

    /// The greatest elements, sorted.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// Returns whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers under divisibility: a small order with meets that everyone can check by hand.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Number(u32);

    impl Element for Number {
        fn meet(&self, other: &Self) -> Option<Self> {
            (1..=self.0).rev().map(Self).find(|n| n.is_below(self) && n.is_below(other) && n.0 > 1)
        }

        fn is_below(&self, other: &Self) -> bool {
            other.0.is_multiple_of(self.0)
        }
    }

    fn numbers(all: &[u32]) -> Antichain<Number> {
        Antichain::new(all.iter().copied().map(Number))
    }

    #[test]
    fn only_the_greatest_elements_are_kept_in_one_order() {
        assert_eq!(numbers(&[4, 12, 5, 6, 12]), numbers(&[5, 12]));
        assert_eq!(numbers(&[4, 12, 5]).0, [Number(5), Number(12)]);
        assert!(numbers(&[]).is_empty());
    }

    #[test]
    fn meet_join_and_order_are_those_of_the_sets() {
        let (a, b) = (numbers(&[12, 5]), numbers(&[18, 10]));
        assert_eq!(a.meet(&b), numbers(&[6, 5]));
        assert_eq!(a.join(&b), numbers(&[12, 18, 10]));
        assert!(a.meet(&b).le(&a) && a.le(&a.join(&b)));
        assert!(!a.le(&b) && !b.le(&a));
        assert!(numbers(&[4]).meet(&numbers(&[9])).is_empty());
    }
}
