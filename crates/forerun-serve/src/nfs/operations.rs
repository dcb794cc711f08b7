//! The operations that calls are counted by.

use super::protocol::Operation;

/// The names of the operations. Those of the mount protocol, and those that would change something, are `nfs_other`.
pub const OPERATIONS: &[&str] =
    &["nfs_read", "nfs_getattr", "nfs_lookup", "nfs_access", "nfs_readdir", "nfs_readdirplus", "nfs_other"];

/// The place of `operation` in [`OPERATIONS`].
pub(super) fn place_of(operation: &Operation) -> usize {
    match operation {
        Operation::Read { .. } => 0,
        Operation::GetAttr { .. } => 1,
        Operation::Lookup { .. } => 2,
        Operation::Access { .. } => 3,
        Operation::ReadDir { is_plus: false, .. } => 4,
        Operation::ReadDir { is_plus: true, .. } => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_their_names() {
        let named = |operation: &Operation| OPERATIONS[place_of(operation)];
        let list = |is_plus| Operation::ReadDir { directory: vec![], cookie: 0, count: 0, is_plus };
        for (operation, name) in [
            (Operation::Read { file: vec![], offset: 0, count: 0 }, "nfs_read"),
            (Operation::GetAttr { object: vec![] }, "nfs_getattr"),
            (Operation::Lookup { directory: vec![], name: vec![] }, "nfs_lookup"),
            (Operation::Access { object: vec![], asked: 0 }, "nfs_access"),
            (list(false), "nfs_readdir"),
            (list(true), "nfs_readdirplus"),
            (Operation::Null, "nfs_other"),
        ] {
            assert_eq!(named(&operation), name);
        }
    }
}
