//! The user of a call, and its rights. They are those that the modes of the storage give, as in a mount.

use crate::served::Shown;

use super::super::protocol::Credential;

/// The user `nobody` and its group, which every system has.
const NOBODY: u32 = 65_534;
/// The administrator of a client has no more rights here than anybody else.
const ROOT: u32 = 0;

/// Bits of a mode.
pub(super) const READ: u32 = 4;
pub(super) const EXECUTE: u32 = 1;

/// A user as the server takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    user: u32,
    groups: Vec<u32>,
}

impl Caller {
    pub(super) fn of(credential: &Credential) -> Caller {
        match credential {
            Credential::None => Caller { user: NOBODY, groups: vec![NOBODY] },
            Credential::System { user, groups } => {
                let squash = |id: u32| if id == ROOT { NOBODY } else { id };
                Caller { user: squash(*user), groups: groups.iter().copied().map(squash).collect() }
            }
        }
    }

    /// Whether it has one of the rights `bits` on an object.
    pub(super) fn may(&self, bits: u32, shown: &Shown) -> bool {
        let (user, group) = shown.owner;
        let shift = if user == self.user {
            6
        } else if self.groups.contains(&group) {
            3
        } else {
            0
        };
        shown.permissions >> shift & bits != 0
    }

    /// Whether it may read the bytes of a file. Programs are read to be started.
    pub(super) fn may_read(&self, shown: &Shown) -> bool {
        shown.owner.0 == self.user || self.may(READ | EXECUTE, shown)
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn the_modes_count_and_root_is_nobody() {
        let shown = |permissions, owner| Shown { modified: UNIX_EPOCH, permissions, owner };
        let caller = |user, groups: &[u32]| Caller::of(&Credential::System { user, groups: groups.to_vec() });
        let private = shown(0o640, (7, 8));
        for (caller, may_read) in [
            (caller(7, &[1]), true),
            (caller(1, &[1, 8]), true),
            (caller(1, &[1]), false),
            (caller(0, &[0]), false),
            (Caller::of(&Credential::None), false),
        ] {
            assert_eq!(caller.may_read(&private), may_read, "{caller:?}");
            assert_eq!(caller.may(READ, &private), may_read, "{caller:?}");
            assert!(caller.may_read(&shown(0o444, (7, 8))));
        }
        let own = shown(0o200, (7, 8));
        assert!(caller(7, &[]).may_read(&own) && !caller(7, &[]).may(READ, &own));
        assert!(!caller(0, &[0]).may_read(&shown(0o600, (0, 0))), "root has no files here");
        let program = shown(0o711, (7, 8));
        assert!(caller(1, &[]).may_read(&program) && !caller(1, &[]).may(READ, &program));
    }
}
