//! The objects that earlier runs have read, in the order in which they did.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use forerun_backend::{Error, ErrorKind, Result, Version};
use forerun_engine::Extent;

use super::file;
use super::touched::Touched;
use crate::driver::Name;

/// The order in which earlier runs have touched objects and their bytes, as [`Options::learn`] keeps it in a
/// file.
///
/// It has versions of objects in the order in which they were read for the first time. None is there twice.
///
/// [`Options::learn`]: crate::Options::learn
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    objects: Vec<(Name, Touched)>,
    places: HashMap<Name, u32>,
}

/// An object of a [`Profile`].
#[derive(Clone, Copy, Debug)]
pub struct ProfiledObject<'a> {
    name: &'a Name,
    touched: &'a Touched,
}

impl Profile {
    /// The profile in the file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if the file is no profile or cannot be read, and [`ErrorKind::NotFound`] if it
    /// does not exist.
    pub fn read(path: &Path) -> Result<Profile> {
        file::read(path)?.ok_or_else(|| {
            let advice = "name a file that `forerun mount --learn` has written";
            Error::new(
                ErrorKind::NotFound,
                format!("the profile {} does not exist; {advice}", path.display()),
            )
        })
    }

    /// Puts this profile in the place of the file at `path`, as a whole or not at all.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`] if the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        file::write(path, self)
    }

    /// The objects in the order of their first read.
    pub fn objects(&self) -> impl Iterator<Item = ProfiledObject<'_>> {
        self.objects.iter().map(|(name, touched)| ProfiledObject { name, touched })
    }

    /// Adds one as the last, or replaces what is known of it where it is.
    pub(crate) fn put(&mut self, name: Name, touched: Touched) {
        if let Some(place) = self.places.get(&name) {
            self.objects[*place as usize].1 = touched;
            return;
        }
        self.places.insert(name.clone(), self.objects.len() as u32);
        self.objects.push((name, touched));
    }

    /// Where `name` is, and what was touched of it.
    pub(crate) fn get(&self, name: &Name) -> Option<(u32, &Touched)> {
        let place = *self.places.get(name)?;
        Some((place, &self.objects[place as usize].1))
    }

    /// The object at `place`.
    pub(crate) fn at(&self, place: u32) -> Option<(&Name, &Touched)> {
        self.objects.get(place as usize).map(|(name, touched)| (name, touched))
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Name, &Touched)> {
        self.objects.iter().map(|(name, touched)| (name, touched))
    }
}

impl<'a> ProfiledObject<'a> {
    /// The path below the URL that was read.
    pub fn path(&self) -> &'a str {
        &self.name.path
    }

    /// The version that was read.
    pub fn version(&self) -> &'a Version {
        &self.name.version
    }

    /// The size of that version in bytes.
    pub fn size(&self) -> u64 {
        self.name.size
    }

    /// The extents that were touched, in whole blocks and in the order of their first touch.
    pub fn extents(&self) -> &'a [Extent] {
        self.touched.extents()
    }

    /// The time of the first and of the last touch, since the first read of the run. Nothing if no byte was
    /// touched.
    pub fn span(&self) -> Option<(Duration, Duration)> {
        let times_ms = self.touched.times_ms().iter();
        let (first, last) = (times_ms.clone().min()?, times_ms.max()?);
        Some((Duration::from_millis((*first).into()), Duration::from_millis((*last).into())))
    }
}
