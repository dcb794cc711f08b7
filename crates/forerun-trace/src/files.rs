//! Names of files and devices, each held once.

use std::collections::HashMap;
use std::sync::Arc;

/// A file or device of a trace; see [`Files::name`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// The names in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub struct Files {
    names: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, FileId>,
}

impl Files {
    /// The file named `name`, which is added if it is new.
    ///
    /// # Panics
    /// After 2³² names.
    pub fn intern(&mut self, name: &str) -> FileId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = FileId(u32::try_from(self.names.len()).expect("fewer than 2^32 names fit in memory"));
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    /// The name of `file`; empty for a file of another table.
    pub fn name(&self, file: FileId) -> &str {
        self.names.get(file.0 as usize).map_or("", |name| name)
    }

    /// All names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
