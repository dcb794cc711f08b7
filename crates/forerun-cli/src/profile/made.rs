//! `forerun profile merge` and `cut`: profiles made from profiles.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forerun::{Profile, ProfileMerge};

use crate::new_file::{check_folder, check_new, check_output};
use crate::print::say;
use crate::units::{parse_duration, parse_size};

/// Join the profiles of several runs of the same objects
///
/// The result begins with what the first run has touched, in its order. After that comes what only the second
/// run has touched, and so on. All runs must have read the same versions.
#[derive(Debug, clap::Args)]
pub(super) struct MergeProfilesCommand {
    /// The profile to write
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The profiles to read, the most important run first
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    inputs: Vec<PathBuf>,

    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
}

impl MergeProfilesCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        check(&self.output, &inputs, self.force)?;
        let mut merge = ProfileMerge::default();
        for path in inputs {
            let added = merge.add(&Profile::read(path)?);
            added.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        if merge.is_full() {
            say(
                "the profiles have more than one may have: later bytes are left out (docs/profiles.md, sizes)",
            );
        }
        Ok(merge.finish().write(&self.output)?)
    }
}

/// Keep only what was touched first
///
/// The order of time counts, across all objects. With both limits, both hold.
#[derive(Debug, clap::Args)]
pub(super) struct CutProfileCommand {
    /// The profile to read
    #[arg(value_name = "FILE")]
    input: PathBuf,

    #[command(flatten)]
    limits: Limits,

    /// The profile to write
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    output: PathBuf,

    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
}

/// One of them, or both.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct Limits {
    /// How many bytes to keep at most, in whole blocks of 4 KiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    bytes: Option<u64>,

    /// Keep what was touched within this time of the run's first read, as in 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time: Option<Duration>,
}

impl CutProfileCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        check(&self.output, &[&self.input], self.force)?;
        let profile = Profile::read(&self.input)?;
        let Limits { bytes, time } = self.limits;
        let cut = profile.cut(bytes.unwrap_or(u64::MAX), time.unwrap_or(Duration::MAX));
        if cut.objects().next().is_none() {
            let shown = self.input.display();
            return Err(format!("nothing of {shown} is within these limits; choose larger ones").into());
        }
        Ok(cut.write(&self.output)?)
    }
}

/// Whether `output` may be written.
fn check(output: &Path, inputs: &[&Path], force: bool) -> Result<(), String> {
    check_output(output, inputs)?;
    check_folder(output)?;
    check_new(output, force)
}
