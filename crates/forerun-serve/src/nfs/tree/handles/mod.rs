//! File handles: 64 bytes at most, which clients keep over restarts of the server.
//!
//! A handle has the export, the version of the object, and the path. So nothing has to be stored for it, and a
//! handle of a version that is gone is told from one of the next. A path that has no room is given by hashes of
//! its components instead, by which it is found again (`paths`).

mod digest;
mod paths;

use forerun::{Entry, Kind};

pub(super) use digest::digest;
pub(super) use paths::LongPaths;

/// The most bytes of a handle (RFC 1813, `NFS3_FHSIZE`).
const HANDLE_BYTES_MAX: usize = 64;
/// Form, export and version.
const HEAD_BYTES: usize = 1 + 8 + 8;
/// The longest path that a handle has.
const PATH_BYTES_MAX: usize = HANDLE_BYTES_MAX - HEAD_BYTES;
/// Bytes for all components of a longer path, behind their number and the hash of the path.
const COMPONENT_BYTES_MAX: usize = PATH_BYTES_MAX - 1 - 16;
/// More bytes of one component hardly ever tell two names of a directory apart.
const COMPONENT_BYTES: usize = 4;

/// A handle has its path.
const FORM_PATH: u8 = 1;
/// A handle has hashes of its path.
const FORM_HASHES: u8 = 2;

/// Names an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExportId(pub(super) [u8; 8]);

/// Tells versions of one path apart. All directories have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VersionTag([u8; 8]);

/// A path, as a handle has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HandlePath {
    Whole(String),
    Hashed(HashedPath),
}

/// Hashes of a path and of its components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HashedPath {
    pub(super) whole: [u8; 16],
    /// How many components it has.
    pub(super) depth: usize,
    /// As many bytes of each as there is room for; none for a path of more components.
    components: Vec<u8>,
}

/// A handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileHandle {
    pub(super) export: ExportId,
    pub(super) version: VersionTag,
    pub(super) path: HandlePath,
}

impl ExportId {
    pub(super) fn of(name: &str) -> ExportId {
        ExportId(digest(&[b"export", name.as_bytes()]))
    }
}

impl VersionTag {
    pub(super) fn of(entry: &Entry) -> VersionTag {
        match entry.kind {
            Kind::Directory => VersionTag([0; 8]),
            Kind::File => VersionTag(digest(&[b"file", entry.version.0.as_bytes()])),
            Kind::Symlink => VersionTag(digest(&[b"link", entry.version.0.as_bytes()])),
        }
    }
}

impl HashedPath {
    fn of(path: &str) -> HashedPath {
        let depth = path.split('/').count();
        let width = HashedPath::width(depth);
        let hashes = path
            .split('/')
            .flat_map(|name| digest::<COMPONENT_BYTES>(&[name.as_bytes()]).into_iter().take(width));
        HashedPath { whole: HashedPath::whole(path), depth, components: hashes.collect() }
    }

    pub(super) fn whole(path: &str) -> [u8; 16] {
        digest(&[b"path", path.as_bytes()])
    }

    /// The bytes of each of `depth` components.
    fn width(depth: usize) -> usize {
        COMPONENT_BYTES_MAX.checked_div(depth).map_or(0, |width| width.min(COMPONENT_BYTES))
    }

    /// Whether the component at `depth` may be called `name`. Always false if the components have no room.
    pub(super) fn may_be(&self, depth: usize, name: &str) -> bool {
        let width = HashedPath::width(self.depth);
        let hash = self.components.get(depth * width..(depth + 1) * width).filter(|_| width > 0);
        hash.is_some_and(|hash| digest::<COMPONENT_BYTES>(&[name.as_bytes()]).starts_with(hash))
    }
}

impl FileHandle {
    pub(super) fn of(export: ExportId, entry: &Entry) -> FileHandle {
        let path = match entry.path.len() {
            ..=PATH_BYTES_MAX => HandlePath::Whole(entry.path.clone()),
            _ => HandlePath::Hashed(HashedPath::of(&entry.path)),
        };
        FileHandle { export, version: VersionTag::of(entry), path }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HANDLE_BYTES_MAX);
        bytes.push(if let HandlePath::Whole(_) = self.path { FORM_PATH } else { FORM_HASHES });
        bytes.extend_from_slice(&self.export.0);
        bytes.extend_from_slice(&self.version.0);
        match &self.path {
            HandlePath::Whole(path) => bytes.extend_from_slice(path.as_bytes()),
            HandlePath::Hashed(path) => {
                // Of a deeper path, only the whole counts.
                bytes.push(u8::try_from(path.depth).unwrap_or(u8::MAX));
                bytes.extend_from_slice(&path.whole);
                bytes.extend_from_slice(&path.components);
            }
        }
        bytes
    }

    /// The handle of these bytes; none if this server has never given it.
    pub(super) fn parse(bytes: &[u8]) -> Option<FileHandle> {
        let (form, rest) = bytes.split_first()?;
        let (export, rest) = rest.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let path = match *form {
            FORM_PATH => HandlePath::Whole(str::from_utf8(rest).ok()?.to_owned()),
            FORM_HASHES => {
                let (depth, rest) = rest.split_first()?;
                let (whole, components) = rest.split_first_chunk()?;
                let depth = usize::from(*depth);
                if components.len() != depth * HashedPath::width(depth) {
                    return None;
                }
                HandlePath::Hashed(HashedPath { whole: *whole, depth, components: components.to_vec() })
            }
            _ => return None,
        };
        Some(FileHandle { export: ExportId(*export), version: VersionTag(*version), path })
    }
}

#[cfg(test)]
mod tests {
    use forerun::Version;

    use super::*;

    fn of(path: &str) -> FileHandle {
        FileHandle::of(ExportId::of("data"), &Entry::file(path, 5, Version("1".into())))
    }

    #[test]
    fn a_handle_of_any_path_fits_and_comes_back() {
        let deep = vec!["d"; 200].join("/");
        for path in ["", "a", &"x".repeat(47), &"x".repeat(48), &["component"; 30].join("/"), &deep] {
            let bytes = of(path).to_bytes();
            assert!(bytes.len() <= HANDLE_BYTES_MAX, "{} bytes", bytes.len());
            assert_eq!(FileHandle::parse(&bytes).unwrap(), of(path), "{path}");
        }
    }

    #[test]
    fn versions_kinds_and_exports_have_other_handles() {
        let file = |version: &str| Entry::file("a", 5, Version(version.into()));
        let id = ExportId::of("data");
        let handles = [
            FileHandle::of(id, &file("1")),
            FileHandle::of(id, &file("2")),
            FileHandle::of(id, &file("1").with_kind(Kind::Symlink)),
            FileHandle::of(id, &Entry::directory("a")),
            FileHandle::of(ExportId::of("other"), &file("1")),
        ];
        for (number, handle) in handles.iter().enumerate() {
            assert_eq!(handles.iter().position(|other| other == handle), Some(number));
        }
        let later = Entry::directory("a").with_modified(std::time::SystemTime::now());
        assert_eq!(FileHandle::of(id, &later), handles[3], "a directory stays the same");
    }

    #[test]
    fn components_are_known_by_their_hashes() {
        let path = ["component"; 9].join("/");
        let HandlePath::Hashed(hashed) = of(&path).path else { panic!("it is too long") };
        assert!((0..9).all(|depth| hashed.may_be(depth, "component") && !hashed.may_be(depth, "other")));
        assert!(!hashed.may_be(9, "component"));
        let HandlePath::Hashed(deep) = of(&["d"; 40].join("/")).path else { panic!("it is too long") };
        assert!(!deep.may_be(0, "d"), "there is no room for its components");
    }

    #[test]
    fn bytes_that_are_no_handle_are_told() {
        let handle = of(&"x".repeat(100)).to_bytes();
        for bytes in
            [&[][..], &[1; 16], &[3; 40], &handle[..20], &handle[..handle.len() - 1], &[1; 17], &[0xFF; 64]]
        {
            let parsed = FileHandle::parse(bytes);
            assert!(bytes == [1; 17] || parsed.is_none(), "{bytes:?}");
        }
        let mut no_text = of("a").to_bytes();
        no_text.push(0xC3);
        assert_eq!(FileHandle::parse(&no_text), None);
    }
}
