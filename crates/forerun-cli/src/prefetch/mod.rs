//! `forerun prefetch`.

mod list_file;
mod mounted;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use forerun::Part;
use forerun_lab::export::json::Json;

use crate::print::{say, show};
use crate::progress::Progress;
use list_file::{Input, text};
use mounted::MountedDirectory;

const EXAMPLES: &str = "\
Examples:
  Files that will be read as a whole, in this order:
      forerun prefetch /mnt/models/llm/*.safetensors
  A list, with paths relative to the current directory:
      cd /mnt/models/llm
      safetensors_list.py *.safetensors | forerun prefetch -
  A list that was made before, with paths relative to another directory:
      forerun prefetch --base /mnt/data epoch-1.list

A list is text. Each line is PATH, or PATH, a tab and OFFSET, or PATH, a tab, OFFSET, a tab and
LENGTH, in bytes. A name with spaces needs no quotes. docs/lists.md says more.";

/// Tell a mount which files will be read, and in which order
///
/// The mount reads them ahead in this order, with a bounded lead of the programs that read them. The
/// command returns when the mount has looked up the files. A file that is not in a mount is a list; other files will be read whole.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct PrefetchCommand {
    /// A list (`-` for standard input), or files in a mount
    #[arg(value_name = "LIST|FILE", required = true)]
    paths: Vec<PathBuf>,

    /// The directory that the paths of a list are relative to, instead of the current directory
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,

    /// Print what the mount was told as JSON
    #[arg(long)]
    json: bool,
}

impl PrefetchCommand {
    /// Tells the mount, and says what it left out.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let (mounted, parts) = match &self.paths[..] {
            [only] if only == Path::new("-") => list_file::read(&Input::Standard, self.base())?,
            [only] if !mounted::is_in_mount(only) => {
                list_file::read(&Input::File(only.clone()), self.base())?
            }
            files if self.base.is_some() => {
                let shown = files[0].display();
                return Err(format!("--base is for a list, and {shown} is a file in a mount").into());
            }
            files => whole(files)?,
        };
        let progress = Progress::unknown("the mount looks up the files");
        let left_out = mounted.prefetch(&parts)?;
        drop(progress);
        let of = parts.len();
        if self.json {
            let mut json = Json::default();
            json.object(|json| {
                json.key("directory").text(&mounted.directory().display().to_string());
                json.key("part_count").number(of as u64);
                json.key("left_out_count").number(left_out);
            });
            show(&json.finish())?;
        } else if left_out > 0 {
            say(&format!("{left_out} of {of} parts were left out: no such file, or it ends before them"));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn base(&self) -> &Path {
        self.base.as_deref().unwrap_or(Path::new("."))
    }
}

/// All of each of `files`.
fn whole(files: &[PathBuf]) -> Result<(MountedDirectory, Vec<Part>), Box<dyn Error>> {
    let mut mounted: Option<MountedDirectory> = None;
    let mut parts = Vec::with_capacity(files.len());
    for file in files {
        let shown = file.display();
        let path = file.canonicalize().map_err(|error| format!("{shown}: {error}"))?;
        if !path.is_file() {
            return Err(format!("{shown} is not a file; name the files in it").into());
        }
        let parent = path.parent().unwrap_or(Path::new("/"));
        let mount = match &mut mounted {
            Some(mount) => mount,
            None => mounted.insert(MountedDirectory::of(parent).ok_or_else(|| mounted::not_in_mount(file))?),
        };
        let place = mount.place(parent)?.join(path.file_name().unwrap_or_default());
        parts.push(Part::whole(text(&place)?));
    }
    let mounted = mounted.ok_or("name a file")?;
    Ok((mounted, parts))
}
