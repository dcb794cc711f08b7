//! The parameters of a disk.

use super::Seek;

/// Bytes of a disk's sector.
pub const SECTOR_BYTES: u64 = 512;

/// A disk's parameters. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskSpec {
    /// One turn of the platters.
    pub rotation_ns: u64,
    /// Surfaces, and so tracks of a cylinder.
    pub heads: u64,
    /// From the outermost to the innermost.
    pub zones: Vec<Zone>,
    /// The angle between a track's first sector and the end of the track before it in the same cylinder. It
    /// leaves time to switch heads.
    pub track_skew_ns: u64,
    /// The same for the first track of a cylinder.
    pub cylinder_skew_ns: u64,
    /// From one cylinder to another.
    pub seek: Seek,
    /// From one track of a cylinder to another.
    pub head_switch_ns: u64,
    /// Settling more exactly, before writing.
    pub write_settle_ns: u64,
    /// The fixed cost of a command.
    pub overhead: Overhead,
    /// The rate of the bus, in bytes per second.
    pub bus_bytes_per_s: u64,
    /// The buffer for reading.
    pub buffer: BufferSpec,
    /// How many written bytes are kept to be written later; 0 writes through.
    pub write_cache_bytes: u64,
}

/// Cylinders whose tracks have the same number of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// How many cylinders.
    pub cylinders: u64,
    /// Sectors of each of their tracks.
    pub sectors_per_track: u64,
}

/// The time of a command before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// A read from the buffer that goes on where the last read ended.
    pub read_next_ns: u64,
    /// Another read from the buffer.
    pub read_hit_ns: u64,
    /// A read from the platters: after a read, and after a write.
    pub read_miss_ns: [u64; 2],
    /// A write: after a read, and after a write.
    pub write_ns: [u64; 2],
}

impl Overhead {
    /// Always `ns`.
    pub const fn constant(ns: u64) -> Overhead {
        Overhead { read_next_ns: ns, read_hit_ns: ns, read_miss_ns: [ns; 2], write_ns: [ns; 2] }
    }

    /// The least that a read costs.
    pub fn read_ns_min(&self) -> u64 {
        let [after_read, after_write] = self.read_miss_ns;
        self.read_next_ns.min(self.read_hit_ns).min(after_read).min(after_write)
    }
}

/// A segmented track buffer that reads ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSpec {
    /// Places on the disk that are remembered.
    pub segment_count: usize,
    /// The most bytes of each.
    pub segment_bytes: u64,
    /// How far the drive goes on reading behind a request.
    pub ahead_bytes: u64,
    /// How far in front of its head a request may begin for the drive to read on
    /// until it gets there instead of moving.
    pub gap_bytes: u64,
    /// Whether sectors that pass while the head waits for the first one asked for are kept.
    pub on_arrival: bool,
    /// Whether what was written can be read from the buffer.
    pub keeps_written: bool,
}

impl DiskSpec {
    /// Bytes it holds.
    pub fn capacity_bytes(&self) -> u64 {
        let tracks = |zone: &Zone| zone.cylinders * self.heads * zone.sectors_per_track;
        self.zones.iter().map(tracks).sum::<u64>() * SECTOR_BYTES
    }
}
