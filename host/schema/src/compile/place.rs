//! The places of subschemas, as links to the parent: a pointer is built only for an error.

use std::borrow::Cow;

/// The index of a place.
pub(super) type PlaceId = usize;

/// The places of one document. The first is its root.
#[derive(Debug)]
pub(super) struct Places<'s> {
    links: Vec<(PlaceId, Cow<'s, str>)>,
}

impl Default for Places<'_> {
    fn default() -> Self {
        Self { links: vec![(0, Cow::Borrowed(""))] }
    }
}

impl<'s> Places<'s> {
    pub(super) fn root(&self) -> PlaceId {
        0
    }

    pub(super) fn child(&mut self, parent: PlaceId, token: impl Into<Cow<'s, str>>) -> PlaceId {
        self.links.push((parent, token.into()));
        self.links.len() - 1
    }

    pub(super) fn pointer(&self, mut place: PlaceId) -> String {
        let mut tokens = Vec::new();
        while place != 0 {
            let (parent, token) = &self.links[place];
            tokens.push(token);
            place = *parent;
        }
        crate::words::pointer(tokens.into_iter().rev())
    }
}
