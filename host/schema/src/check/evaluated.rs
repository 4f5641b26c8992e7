//! The items and members of a value that some keyword has evaluated, for `unevaluatedItems` and
//! `unevaluatedProperties`.

use std::collections::HashSet;

/// The evaluated parts of one value.
#[derive(Debug, Default)]
pub(super) struct Evaluated<'v> {
    properties: HashSet<&'v str>,
    all_properties: bool,
    /// Every item before this one.
    items_before: usize,
    items: HashSet<usize>,
}

impl<'v> Evaluated<'v> {
    pub(super) fn merge(&mut self, other: Self) {
        self.properties.extend(other.properties);
        self.all_properties |= other.all_properties;
        self.items_before(other.items_before);
        self.items.extend(other.items);
    }

    pub(super) fn property(&mut self, name: &'v str) {
        self.properties.insert(name);
    }

    pub(super) fn every_property(&mut self) {
        self.all_properties = true;
    }

    pub(super) fn has_property(&self, name: &str) -> bool {
        self.all_properties || self.properties.contains(name)
    }

    pub(super) fn items_before(&mut self, index: usize) {
        self.items_before = self.items_before.max(index);
    }

    pub(super) fn item(&mut self, index: usize) {
        self.items.insert(index);
    }

    pub(super) fn has_item(&self, index: usize) -> bool {
        index < self.items_before || self.items.contains(&index)
    }
}
