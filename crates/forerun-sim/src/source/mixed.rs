//! Readers of many kinds, each made of a number: nobody could tune a policy for them.

use forerun_trace::generate::Numbers;

use super::{Action, Client, Clients, Extent, ObjectId, place};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Of all readers together.
const READS: u64 = 3000;

/// In which order the reads of a run lie.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Forward,
    Backward,
    /// One of four.
    Strided,
    /// With gaps of up to two reads, of one length in each run.
    Gaps,
}

/// Objects of one size; readers who go from one to the other, and read a few runs of each.
#[derive(Debug)]
pub struct Mixed {
    object_count: u64,
    object_bytes: u64,
    read_bytes: u64,
    run_reads_max: u64,
    pattern: Pattern,
    /// Runs begin in order, not anywhere.
    is_in_order: bool,
    /// Runs in one object before the next.
    stay_runs_max: u64,
    reader_count: u64,
    /// The percentage of runs that are in an object's first tenth.
    hot_percent: u64,
}

impl Mixed {
    /// The workload of `seed`.
    pub fn new(seed: u64) -> Mixed {
        let mut numbers = Numbers::new(seed);
        let mut one_of = |all: &[u64]| all[numbers.below(all.len() as u64) as usize];
        let object_count = one_of(&[1, 2, 5, 20, 100, 500]);
        let object_bytes = one_of(&[64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB]);
        let object_bytes = object_bytes.min(4096 * MIB / object_count);
        Mixed {
            object_count,
            object_bytes,
            read_bytes: one_of(&[4, 8, 16, 32, 64, 128]).saturating_mul(KIB).min(object_bytes),
            run_reads_max: one_of(&[1, 2, 3, 5, 10, 40]),
            pattern: [Pattern::Forward, Pattern::Backward, Pattern::Strided, Pattern::Gaps]
                [one_of(&[0, 1, 2, 3]) as usize],
            is_in_order: one_of(&[0, 0, 0, 1]) == 1,
            stay_runs_max: one_of(&[1, 4, 16, 64]),
            reader_count: one_of(&[1, 1, 1, 2, 8]),
            hot_percent: one_of(&[0, 0, 50, 90]),
        }
    }

    /// Its readers.
    pub fn source(&self) -> Clients<'_> {
        let mut numbers = Numbers::new(7);
        let client = |_| -> Box<dyn Client> {
            let reads = self.reads(&mut numbers);
            Box::new(reads.into_iter().map(|(object, extent)| Action::read(object, extent)))
        };
        let clients = (0..self.reader_count).map(client).collect();
        Clients::new(place((0..self.object_count).map(|_| self.object_bytes), MIB), clients)
    }

    /// Those of one reader.
    fn reads(&self, numbers: &mut Numbers) -> Vec<(ObjectId, Extent)> {
        let mut reads = Vec::new();
        let (mut object, mut runs_left, mut place) = (ObjectId(0), 0, 0);
        while (reads.len() as u64) < READS / self.reader_count {
            if runs_left == 0 {
                object = ObjectId(numbers.below(self.object_count));
                runs_left = 1 + numbers.below(self.stay_runs_max);
            }
            runs_left -= 1;
            let is_hot = numbers.below(100) < self.hot_percent;
            let hot_bytes = self.object_bytes / 10 + self.read_bytes;
            let places =
                if is_hot { hot_bytes.min(self.object_bytes) } else { self.object_bytes } / self.read_bytes;
            place = if self.is_in_order {
                (place + 1 + numbers.below(4)) % places
            } else {
                numbers.below(places)
            };
            reads.extend(self.run(place * self.read_bytes, numbers).map(|extent| (object, extent)));
        }
        reads
    }

    /// One that begins at `start`.
    fn run(&self, start: u64, numbers: &mut Numbers) -> impl Iterator<Item = Extent> + use<> {
        let (len, size, pattern) = (self.read_bytes, self.object_bytes, self.pattern);
        let step = match pattern {
            Pattern::Forward | Pattern::Backward => len,
            Pattern::Strided => 4 * len,
            Pattern::Gaps => len * (1 + numbers.below(3)),
        };
        let count = 1 + numbers.below(self.run_reads_max);
        let offsets = (0..count).map_while(move |at| match pattern {
            Pattern::Backward => start.checked_sub(at * step),
            _ => Some(start + at * step),
        });
        offsets.take_while(move |offset| offset + len <= size).map(move |offset| Extent::new(offset, len))
    }
}
