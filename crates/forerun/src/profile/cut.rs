//! The first part of a profile.

use std::collections::BTreeMap;
use std::time::Duration;

use forerun_engine::{BLOCK_BYTES, Extent};

use super::Profile;

impl Profile {
    /// The bytes that were touched first: those within `time_max` of the first read, and whole blocks of
    /// `bytes_max` at most. Objects of which nothing is left are left out.
    #[must_use]
    pub fn cut(&self, bytes_max: u64, time_max: Duration) -> Profile {
        let places = self.iter().enumerate().flat_map(|(object, (_, touched))| {
            touched.iter().enumerate().map(move |(index, (extent, time_ms))| (time_ms, object, index, extent))
        });
        let is_early = |time_ms: u32| Duration::from_millis(time_ms.into()) <= time_max;
        let mut places: Vec<_> = places.filter(|(time_ms, ..)| is_early(*time_ms)).collect();
        // Extents of one time stay in order.
        places.sort_unstable_by_key(|(time_ms, object, index, _)| (*time_ms, *object, *index));
        let mut left = bytes_max;
        let mut kept: BTreeMap<usize, BTreeMap<usize, (Extent, u32)>> = BTreeMap::new();
        for (time_ms, object, index, extent) in places {
            let len = extent.len.min(left / BLOCK_BYTES * BLOCK_BYTES);
            if len == 0 {
                break;
            }
            left -= len;
            let extent = Extent::new(extent.offset, len);
            kept.entry(object).or_default().insert(index, (extent, time_ms));
        }
        let mut profile = Profile::default();
        for (object, extents) in kept {
            if let Some((name, _)) = self.at(object as u32) {
                profile.put(name.clone(), extents.into_values().collect());
            }
        }
        profile
    }
}

#[cfg(test)]
mod tests {
    use forerun_backend::Version;

    use super::*;
    use crate::driver::Name;

    /// Two objects that were read in turns; the second run of `a` was merged in.
    fn profile() -> Profile {
        let name = |path: &str| Name { path: path.into(), version: Version("1".into()), size: 1 << 30 };
        let mut profile = Profile::default();
        let extents =
            [(Extent::new(8192, 8192), 0), (Extent::new(0, 4096), 30), (Extent::new(65536, 4096), 5)];
        profile.put(name("a"), extents.into_iter().collect());
        profile.put(name("b"), [(Extent::new(0, 12288), 10)].into_iter().collect());
        profile
    }

    #[track_caller]
    fn check(bytes_max: u64, time_max_ms: u64, expected: &[(&str, &[(u64, u64)])]) {
        let cut = profile().cut(bytes_max, Duration::from_millis(time_max_ms));
        let left: Vec<(&str, Vec<(u64, u64)>)> = cut
            .objects()
            .map(|object| {
                (object.path(), object.extents().iter().map(|extent| (extent.offset, extent.len)).collect())
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(path, extents)| (*path, extents.to_vec())).collect();
        assert_eq!(left, expected, "{bytes_max} bytes, {time_max_ms} ms");
    }

    #[test]
    fn the_bytes_that_were_touched_first_are_left_in_their_order() {
        let all: &[(&str, &[(u64, u64)])] =
            &[("a", &[(8192, 8192), (0, 4096), (65536, 4096)]), ("b", &[(0, 12288)])];
        check(u64::MAX, u64::MAX, all);
        check(u64::MAX, 30, all);
        check(u64::MAX, 29, &[("a", &[(8192, 8192), (65536, 4096)]), ("b", &[(0, 12288)])]);
        check(u64::MAX, 9, &[("a", &[(8192, 8192), (65536, 4096)])]);
        check(20479, u64::MAX, &[("a", &[(8192, 8192), (65536, 4096)]), ("b", &[(0, 4096)])]);
        check(12288, u64::MAX, &[("a", &[(8192, 8192), (65536, 4096)])]);
        check(4096, u64::MAX, &[("a", &[(8192, 4096)])]);
        check(4095, u64::MAX, &[]);
    }
}
