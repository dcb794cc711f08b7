//! `forerun list`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use forerun_lab::export::json::Json;

use super::table::mounted;
use crate::explain::{Running, running, size, time};
use crate::print::{say, show};

/// List the mounts of this machine
///
/// Each line has a directory, its URL, the process that serves it, its memory, and how long it is
/// mounted. The processes of other users do not tell the last three.
#[derive(Debug, clap::Args)]
pub(crate) struct ListCommand {
    /// Print JSON instead of words
    #[arg(long)]
    json: bool,
}

/// A line of the list.
struct Row {
    directory: PathBuf,
    url: String,
    running: Option<Running>,
}

impl ListCommand {
    /// Prints a line for each mount, or one value of JSON.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let rows = rows()?;
        if self.json {
            let mut json = Json::default();
            json.array(&rows, Row::write);
            show(&json.finish())?;
        } else if rows.is_empty() {
            say("nothing is mounted: mount with `forerun mount URL DIR`");
        } else {
            show(&rows.iter().map(Row::show).collect::<String>())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The mounts that the kernel knows, and those that only their processes know: a server of /dev/fd/N
/// does not know the directory.
fn rows() -> Result<Vec<Row>, String> {
    let mut running = running();
    let mut rows = Vec::new();
    for mount in mounted()? {
        let at = running.iter().position(|one| one.directory == mount.directory);
        let running = at.map(|at| running.remove(at));
        let url = running.as_ref().map_or(mount.url, |running| running.urls[0].clone());
        rows.push(Row { directory: mount.directory, url, running });
    }
    let is_device = |one: &Running| one.directory.starts_with(Path::new("/dev/fd"));
    rows.extend(running.into_iter().filter(is_device).map(|one| Row {
        directory: one.directory.clone(),
        url: one.urls[0].clone(),
        running: Some(one),
    }));
    Ok(rows)
}

/// How long a mount has been there.
fn age(seconds: u64) -> String {
    match seconds {
        0 => "mounted just now".to_owned(),
        _ => format!("mounted for {}", time(seconds.saturating_mul(1_000_000_000))),
    }
}

impl Row {
    fn show(&self) -> String {
        let state = match &self.running {
            Some(Running { process, memory_bytes, memory_bytes_max, seconds, .. }) => format!(
                "process {process}, {} of {} in use, {}",
                size(*memory_bytes),
                size(*memory_bytes_max),
                age(*seconds),
            ),
            None => "served by another user, or by nobody".to_owned(),
        };
        format!("{}: {}, {state}\n", self.directory.display(), self.url)
    }

    fn write(json: &mut Json, row: &Row) {
        json.object(|json| {
            json.key("directory").text(&row.directory.display().to_string());
            json.key("url").text(&row.url);
            if let Some(running) = &row.running {
                json.key("process").number(u64::from(running.process));
                json.key("memory_bytes").number(running.memory_bytes);
                json.key("memory_bytes_max").number(running.memory_bytes_max);
                json.key("mounted_s").number(running.seconds);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_whole_seconds_or_minutes() {
        for (seconds, expected) in [
            (0, "mounted just now"),
            (1, "mounted for 1 s"),
            (59, "mounted for 59 s"),
            (3600, "mounted for 60 min"),
        ] {
            assert_eq!(age(seconds), expected);
        }
    }
}
