//! Makes small images, also such as no program should make.

/// A cluster of the disk.
#[derive(Clone, Debug)]
pub(crate) enum Cluster {
    Unallocated,
    Zero,
    Data(Vec<u8>),
    /// Compressed as one stored block, which is longer than the cluster.
    Packed(Vec<u8>),
}

/// An image to be made.
#[derive(Clone, Debug)]
pub(crate) struct Maker {
    pub(crate) version: u32,
    pub(crate) bits: u32,
    pub(crate) size: u64,
    pub(crate) clusters: Vec<Cluster>,
    /// The name of the backing file, and its format.
    pub(crate) backing: Option<(String, Option<String>)>,
    /// The second level begins here at the earliest.
    pub(crate) l2_from: usize,
}

/// Words of the file, to change them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) l1: usize,
    pub(crate) l2: usize,
}

impl Maker {
    /// An image of `clusters` with 2^`bits` bytes each.
    pub(crate) fn new(bits: u32, clusters: Vec<Cluster>) -> Maker {
        let size = (clusters.len() as u64) << bits;
        Maker { version: 3, bits, size, clusters, backing: None, l2_from: 0 }
    }

    pub(crate) fn version(self, version: u32) -> Maker {
        Maker { version, ..self }
    }

    /// With the backing file `name` of `format`.
    pub(crate) fn over(self, name: &str, format: &str) -> Maker {
        Maker { backing: Some((name.to_owned(), Some(format.to_owned()))), ..self }
    }

    pub(crate) fn made(&self) -> Vec<u8> {
        self.with_places().0
    }

    /// The file: header, first table, tables of the second level, then clusters.
    pub(crate) fn with_places(&self) -> (Vec<u8>, Places) {
        let cluster = 1_usize << self.bits;
        let per_table = cluster / 8;
        let tables = (self.size.div_ceil(cluster as u64) as usize).div_ceil(per_table);
        let l1 = cluster;
        let l2 = (l1 + (tables * 8).next_multiple_of(cluster)).max(self.l2_from).next_multiple_of(cluster);
        let mut file = vec![0; l2 + tables * cluster];
        self.put_header(&mut file, tables, l1);
        for table in 0..tables {
            put_long(&mut file, l1 + table * 8, 1 << 63 | (l2 + table * cluster) as u64);
        }
        for (index, content) in self.clusters.iter().enumerate() {
            let end = file.len();
            let entry = match content {
                Cluster::Unallocated => 0,
                Cluster::Zero => 1,
                Cluster::Data(bytes) => {
                    file.extend_from_slice(bytes);
                    1 << 63 | end as u64
                }
                Cluster::Packed(bytes) => {
                    let block = stored(bytes);
                    file.extend_from_slice(&block);
                    packed_entry(self.bits, end, block.len())
                }
            };
            // Clusters of data begin at multiples of their size.
            let end = file.len().next_multiple_of(cluster);
            file.resize(end, 0);
            put_long(&mut file, l2 + index * 8, entry);
        }
        (file, Places { l1, l2 })
    }

    fn put_header(&self, file: &mut [u8], tables: usize, l1: usize) {
        file[..4].copy_from_slice(b"QFI\xfb");
        put_word(file, 4, self.version);
        put_word(file, 20, self.bits);
        put_long(file, 24, self.size);
        put_word(file, 36, tables as u32);
        put_long(file, 40, l1 as u64);
        let mut at = 72;
        if self.version == 3 {
            put_word(file, 96, 4);
            put_word(file, 100, 104);
            at = 104;
        }
        let Some((name, format)) = &self.backing else { return };
        if let Some(format) = format {
            put_word(file, at, 0xE279_2ACA);
            put_word(file, at + 4, format.len() as u32);
            file[at + 8..][..format.len()].copy_from_slice(format.as_bytes());
            at += 8 + format.len().next_multiple_of(8);
        }
        // The list of extensions ends with an empty one.
        at += 8;
        put_long(file, 8, at as u64);
        put_word(file, 16, name.len() as u32);
        file[at..][..name.len()].copy_from_slice(name.as_bytes());
    }

    /// The disk of the image, over `below`.
    pub(crate) fn disk(&self, below: &[u8]) -> Vec<u8> {
        let cluster = 1_usize << self.bits;
        let mut disk: Vec<u8> =
            below.iter().copied().chain(std::iter::repeat(0)).take(self.size as usize).collect();
        for (bytes, content) in disk.chunks_mut(cluster).zip(&self.clusters) {
            match content {
                Cluster::Unallocated => {}
                Cluster::Zero => bytes.fill(0),
                Cluster::Data(data) | Cluster::Packed(data) => bytes.copy_from_slice(&data[..bytes.len()]),
            }
        }
        disk
    }
}

/// The entry of a compressed cluster in the file.
pub(crate) fn packed_entry(bits: u32, at: usize, len: usize) -> u64 {
    let sectors = ((at + len - 1) / 512 - at / 512) as u64;
    1 << 62 | sectors << (62 - (bits - 8)) | at as u64
}

/// `bytes` in stored blocks of DEFLATE.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let count = bytes.chunks(0xFFFF).count();
    let block = |(index, part): (usize, &[u8])| {
        let len = part.len() as u16;
        [&[u8::from(index + 1 == count)], &len.to_le_bytes()[..], &(!len).to_le_bytes(), part].concat()
    };
    bytes.chunks(0xFFFF).enumerate().flat_map(block).collect()
}

pub(crate) fn put_word(file: &mut [u8], at: usize, word: u32) {
    file[at..at + 4].copy_from_slice(&word.to_be_bytes());
}

pub(crate) fn put_long(file: &mut [u8], at: usize, long: u64) {
    file[at..at + 8].copy_from_slice(&long.to_be_bytes());
}
