//! Readers of blocks, in orders that no common program has.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;

/// The order of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Order {
    /// From the beginning on.
    Forward,
    /// From the end back.
    Backward,
    /// Random places, the same every time.
    Random,
}

impl Order {
    /// Its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Order::Forward => "forward",
            Order::Backward => "backward",
            Order::Random => "random",
        }
    }

    /// The block that is read after `index` others, of `block_count`.
    fn block(self, index: u64, step: u64, block_count: u64) -> u64 {
        match self {
            Order::Forward => index * step,
            Order::Backward => block_count - 1 - index * step,
            Order::Random => {
                // The finisher of splitmix64.
                let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (mixed >> 8) % block_count
            }
        }
    }
}

/// Read blocks of a file, or of all files of a directory in turn
#[derive(Debug, clap::Args)]
pub(crate) struct ReaderCommand {
    order: Order,
    path: PathBuf,
    /// The size of a read, in bytes
    #[arg(long)]
    block: u64,
    /// The distance from one block to the next, except in random order
    #[arg(long)]
    step: u64,
    /// The number of blocks to read of each file
    #[arg(long)]
    count: u64,
}

impl ReaderCommand {
    /// Reads.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn std::error::Error>> {
        let mut files = Vec::new();
        for path in files_at(&self.path)? {
            let file = File::open(path)?;
            let block_count = file.metadata()?.len() / self.block;
            if self.order != Order::Random && block_count <= (self.count - 1) * self.step {
                return Err(format!("{} is too short", self.path.display()).into());
            }
            files.push((file, block_count));
        }
        let mut buffer = vec![0; usize::try_from(self.block)?];
        for index in 0..self.count {
            for (file, block_count) in &files {
                let block = self.order.block(index, self.step, *block_count);
                file.read_exact_at(&mut buffer, block * self.block)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn files_at(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files: Vec<_> =
        fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders() {
        let blocks =
            |order: Order, step| (0..3).map(|index| order.block(index, step, 100)).collect::<Vec<_>>();
        assert_eq!(blocks(Order::Forward, 4), [0, 4, 8]);
        assert_eq!(blocks(Order::Backward, 1), [99, 98, 97]);
        let random: Vec<u64> = (0..1000).map(|index| Order::Random.block(index, 1, 100)).collect();
        assert!((0..100).all(|block| random.contains(&block)));
    }
}
