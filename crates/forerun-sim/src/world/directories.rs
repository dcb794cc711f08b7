//! Which objects the directories hold that clients list.

use std::collections::{BTreeMap, BTreeSet};

use forerun_engine::{DirectoryId, Engine, ListedFile, ObjectId, Time};

use crate::source::{Directory, Placed};

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Directories {
    directories: Vec<Directory>,
    /// Where each object is listed: directory and index.
    places: BTreeMap<ObjectId, (u64, u32)>,
    /// Whose names each object holds.
    named: BTreeMap<ObjectId, u64>,
    listed: BTreeSet<u64>,
}

impl Directories {
    pub(super) fn new(directories: &[Directory]) -> Directories {
        let files = (0..).zip(directories).flat_map(|(number, directory)| {
            (0..).zip(&directory.files).map(move |(index, (object, _))| (*object, (number, index)))
        });
        let places = files.collect();
        let named = (0..).zip(directories).filter_map(|(number, directory)| Some((directory.names?, number)));
        let named = named.collect();
        Directories { directories: directories.to_vec(), places, named, listed: BTreeSet::new() }
    }

    /// The directory whose names `object` holds.
    pub(super) fn named_by(&self, object: ObjectId) -> Option<u64> {
        self.named.get(&object).copied()
    }

    /// A client lists `directory`.
    pub(super) fn list(&mut self, engine: &mut Engine, now: Time, directory: u64, placed: &[Placed]) {
        self.listed.insert(directory);
        let files = self.directories[directory as usize].files.iter();
        let listed =
            files.map(|(object, class)| ListedFile { size: placed[object.0 as usize].size, class: *class });
        engine.list(now, DirectoryId(directory), listed);
    }

    /// A client has opened `object`.
    pub(super) fn enter(&self, engine: &mut Engine, now: Time, object: ObjectId) {
        if let Some((directory, index)) = self.places.get(&object)
            && self.listed.contains(directory)
        {
            engine.enter(now, DirectoryId(*directory), *index, object);
        }
    }

    /// Says which objects the entries are that the engine wants to read ahead.
    pub(super) fn announce(&self, engine: &mut Engine, now: Time, placed: &[Placed]) {
        while let Some((directory, index)) = engine.poll_entry() {
            let (object, _) = self.directories[directory.0 as usize].files[index as usize];
            engine.announce(now, directory, index, object, placed[object.0 as usize].size);
        }
    }
}
