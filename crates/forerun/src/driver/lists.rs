//! Which files the lists are of that programs have told, so that the engine can follow their readers.

use std::collections::HashMap;
use std::sync::Arc;

use forerun_backend::Entry;
use forerun_engine::{List, ListId, ListReport, ObjectId};

use super::Driver;
use super::objects::Name;
use super::state::State;

/// Each list's files, by number; and where each path is in them.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    files: HashMap<ListId, Vec<Name>>,
    places: HashMap<Arc<str>, Vec<(ListId, u32)>>,
    next: u64,
}

impl Lists {
    fn insert(&mut self, files: Vec<Name>) -> ListId {
        let id = ListId(self.next);
        self.next += 1;
        for (name, file) in files.iter().zip(0..) {
            self.places.entry(Arc::clone(&name.path)).or_default().push((id, file));
        }
        self.files.insert(id, files);
        id
    }

    fn remove(&mut self, id: ListId) {
        for name in self.files.remove(&id).into_iter().flatten() {
            if let Some(places) = self.places.get_mut(&name.path) {
                places.retain(|(list, _)| *list != id);
                if places.is_empty() {
                    self.places.remove(&name.path);
                }
            }
        }
    }

    fn name(&self, id: ListId, file: u32) -> Option<&Name> {
        self.files.get(&id)?.get(file as usize)
    }
}

impl State {
    fn start_list(&mut self, files: Vec<Name>, list: List) {
        if !self.closed {
            let id = self.lists.insert(files);
            self.engine.start_list(self.now, id, list);
        }
    }

    /// `entry` was opened as `object`: the version that the lists which name it mean from now on.
    pub(super) fn enter_lists(&mut self, entry: &Entry, object: ObjectId) {
        let Some(places) = self.lists.places.get(entry.path.as_str()) else { return };
        for (id, file) in places {
            self.engine.enter_list(*id, *file, object);
            let name = self.lists.files.get_mut(id).and_then(|files| files.get_mut(*file as usize));
            if let Some(name) = name {
                (name.version, name.size) = (entry.version.clone(), entry.size);
            }
        }
    }

    /// Names the files of lists that the engine wants to read ahead.
    pub(super) fn announce_listed(&mut self) {
        while let Some((id, file)) = self.engine.poll_listed() {
            let Some(name) = self.lists.name(id, file) else {
                self.engine.refuse_listed(id, file);
                continue;
            };
            let object = self.objects.named(name.clone());
            if object.changed.get().is_some() {
                self.engine.refuse_listed(id, file);
            } else if self.engine.announce_listed(self.now, id, file, object.id, name.size) {
                self.expected.insert(object.id);
            }
        }
        while let Some(id) = self.engine.poll_ended() {
            self.lists.remove(id);
        }
    }
}

impl Driver {
    /// A program will read `list`, which is of `files`.
    pub(crate) fn start_list(self: &Arc<Driver>, files: Vec<Name>, list: List) {
        let now = self.now();
        self.step(|state, _| {
            state.advance(now);
            state.start_list(files, list);
        });
    }

    /// Whether the policy follows lists.
    pub(crate) fn follows_lists(&self) -> bool {
        self.lock.look().engine.follows_lists()
    }

    /// Each list, and how many files it has.
    pub(crate) fn lists(&self) -> Vec<(ListReport, usize)> {
        let state = self.lock.look();
        let count = |report: &ListReport| state.lists.files.get(&report.list).map_or(0, Vec::len);
        state.engine.lists().map(|report| (report, count(&report))).collect()
    }
}
