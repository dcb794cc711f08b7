//! The places of sectors, unrolled: a sector's angle grows from the first to the last.
//!
//! The angle of a sector is the time in nanoseconds at which it begins to pass under the heads. The disk is
//! then read from its first sector on. Skew hides the switches of head and cylinder. So reading from one
//! sector to another takes the difference of their angles. The place of a sector on its circle is its angle
//! modulo one turn.

use super::spec::{DiskSpec, SECTOR_BYTES};

/// A track: which cylinder, which head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track {
    pub(super) cylinder: u64,
    pub(super) head: u64,
    /// Its first sector.
    pub(super) first: u64,
    /// Its first sector's angle.
    pub(super) angle: u64,
    pub(super) sectors: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Geometry {
    rotation_ns: u64,
    heads: u64,
    track_ns: u64,
    cylinder_ns: u64,
    zones: Vec<Band>,
    pub(super) sectors: u64,
    pub(super) cylinders: u64,
}

/// A zone, and what comes before it.
#[derive(Clone, Copy, Debug)]
struct Band {
    first_sector: u64,
    first_cylinder: u64,
    first_angle: u64,
    sectors_per_track: u64,
}

/// How much angle a cylinder takes.
pub(super) fn cylinder_ns(spec: &DiskSpec) -> u64 {
    spec.heads * spec.rotation_ns + (spec.heads - 1) * spec.track_skew_ns + spec.cylinder_skew_ns
}

impl Geometry {
    pub(super) fn new(spec: &DiskSpec) -> Geometry {
        let cylinder_ns = cylinder_ns(spec);
        let (mut sector, mut cylinder, mut angle) = (0, 0, 0);
        let mut zones = Vec::new();
        for zone in &spec.zones {
            zones.push(Band {
                first_sector: sector,
                first_cylinder: cylinder,
                first_angle: angle,
                sectors_per_track: zone.sectors_per_track,
            });
            sector += zone.cylinders * spec.heads * zone.sectors_per_track;
            cylinder += zone.cylinders;
            angle += zone.cylinders * cylinder_ns;
        }
        Geometry {
            rotation_ns: spec.rotation_ns,
            heads: spec.heads,
            track_ns: spec.rotation_ns + spec.track_skew_ns,
            cylinder_ns,
            zones,
            sectors: sector,
            cylinders: cylinder,
        }
    }

    /// The track of `sector`.
    pub(super) fn track(&self, sector: u64) -> Track {
        let band = &self.zones[self.zones.partition_point(|band| band.first_sector <= sector) - 1];
        let index = (sector - band.first_sector) / band.sectors_per_track;
        let (cylinder, head) = (index / self.heads, index % self.heads);
        Track {
            cylinder: band.first_cylinder + cylinder,
            head,
            first: band.first_sector + index * band.sectors_per_track,
            angle: band.first_angle + cylinder * self.cylinder_ns + head * self.track_ns,
            sectors: band.sectors_per_track,
        }
    }

    /// When `sector` begins to pass.
    pub(super) fn angle(&self, sector: u64) -> u64 {
        let track = self.track(sector);
        track.angle + ((sector - track.first) * self.rotation_ns).div_ceil(track.sectors)
    }

    /// When the sector before `end` has passed.
    pub(super) fn angle_end(&self, end: u64) -> u64 {
        let track = self.track(end - 1);
        track.angle + ((end - track.first) * self.rotation_ns).div_ceil(track.sectors)
    }

    /// The first sector that has not wholly passed at `angle`.
    pub(super) fn reached(&self, angle: u64) -> u64 {
        let band = &self.zones[self.zones.partition_point(|band| band.first_angle <= angle) - 1];
        let inside = angle - band.first_angle;
        let cylinder = inside / self.cylinder_ns;
        let head = (inside % self.cylinder_ns / self.track_ns).min(self.heads - 1);
        let turned = inside % self.cylinder_ns - head * self.track_ns;
        let passed = (turned * band.sectors_per_track / self.rotation_ns).min(band.sectors_per_track);
        let tracks = cylinder * self.heads + head;
        (band.first_sector + tracks * band.sectors_per_track + passed).min(self.sectors)
    }

    /// How long after `time` the disk is turned to `angle`.
    pub(super) fn wait(&self, time: u64, angle: u64) -> u64 {
        (angle % self.rotation_ns + self.rotation_ns - time % self.rotation_ns) % self.rotation_ns
    }
}

/// The sectors that `bytes` at `address` touch: the first, and one past the last.
pub(super) fn sectors_of(address: u64, bytes: u64) -> (u64, u64) {
    (address / SECTOR_BYTES, (address + bytes).div_ceil(SECTOR_BYTES))
}
