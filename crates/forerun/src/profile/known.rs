//! The extents that earlier runs have touched, in the order in which they did.

use std::collections::HashMap;

use forerun_engine::Extent;

use crate::driver::Name;

/// Versions of objects in the order in which they were read for the first time, with what was touched first
/// of each, in that order. None is there twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profiles {
    objects: Vec<(Name, Vec<Extent>)>,
    places: HashMap<Name, u32>,
}

impl Profiles {
    /// Adds one as the last, or replaces what is known of it where it is.
    pub(crate) fn put(&mut self, name: Name, extents: Vec<Extent>) {
        if let Some(place) = self.places.get(&name) {
            self.objects[*place as usize].1 = extents;
            return;
        }
        self.places.insert(name.clone(), self.objects.len() as u32);
        self.objects.push((name, extents));
    }

    /// Where `name` is, and what was touched of it.
    pub(crate) fn get(&self, name: &Name) -> Option<(u32, &[Extent])> {
        let place = *self.places.get(name)?;
        Some((place, &self.objects[place as usize].1))
    }

    /// The profile at `place`.
    pub(crate) fn at(&self, place: u32) -> Option<(&Name, &[Extent])> {
        self.objects.get(place as usize).map(|(name, extents)| (name, &**extents))
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Name, &[Extent])> {
        self.objects.iter().map(|(name, extents)| (name, &**extents))
    }

    /// Bytes that were touched of each.
    pub(crate) fn touched(&self) -> impl Iterator<Item = u64> {
        self.iter().map(|(_, extents)| bytes_of(extents))
    }
}

/// The sum of their lengths.
pub(super) fn bytes_of(extents: &[Extent]) -> u64 {
    extents.iter().map(|extent| extent.len).sum()
}
