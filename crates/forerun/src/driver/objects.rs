//! Which number stands for which version of which object.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use forerun_backend::{Entry, Error, Version};
use forerun_engine::ObjectId;

/// One version of one object. The engine's knowledge of it survives its close, until the engine forgets it.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    pub(crate) name: Name,
    /// Set for ever once the backend has another version.
    pub(crate) changed: OnceLock<Error>,
}

/// The identity of one version of an object. The size is part of it
/// so that a backend whose versions are too coarse cannot make a read run past
/// the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) path: Arc<str>,
    pub(crate) version: Version,
    pub(crate) size: u64,
}

/// Every object the engine may have state for.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    by_id: HashMap<ObjectId, Arc<Object>>,
    by_name: HashMap<Name, Arc<Object>>,
    next: u64,
}

impl Objects {
    /// The object that `entry` describes, numbered if it is new.
    pub(crate) fn of(&mut self, entry: &Entry) -> Arc<Object> {
        self.named(Name {
            path: entry.path.as_str().into(),
            version: entry.version.clone(),
            size: entry.size,
        })
    }

    /// The object that `name` stands for, numbered if it is new.
    pub(crate) fn named(&mut self, name: Name) -> Arc<Object> {
        if let Some(object) = self.by_name.get(&name) {
            return Arc::clone(object);
        }
        let id = ObjectId(self.next);
        self.next += 1;
        let object = Arc::new(Object { id, name: name.clone(), changed: OnceLock::new() });
        self.by_name.insert(name, Arc::clone(&object));
        self.by_id.insert(id, Arc::clone(&object));
        object
    }

    pub(crate) fn get(&self, id: ObjectId) -> Option<&Arc<Object>> {
        self.by_id.get(&id)
    }

    pub(crate) fn remove(&mut self, id: ObjectId) {
        if let Some(object) = self.by_id.remove(&id) {
            self.by_name.remove(&object.name);
        }
    }
}
