//! `forerun trace formats`.

use std::error::Error;

use forerun_lab::export::json::Json;
use forerun_trace::Format;

use crate::print::show;

/// List the formats
#[derive(Debug, clap::Args)]
pub(super) struct FormatsCommand {
    /// Print JSON instead of words
    #[arg(long)]
    json: bool,
}

impl FormatsCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        show(&if self.json { json() } else { words() })?;
        Ok(())
    }
}

fn words() -> String {
    let row = |format: Format| {
        format!("{format:<14} {}\n", if format.is_writable() { "read, write" } else { "read" })
    };
    Format::all().map(row).collect()
}

fn json() -> String {
    let mut json = Json::default();
    json.array(&Format::all().collect::<Vec<_>>(), |json, format| {
        json.object(|json| {
            json.key("name").text(&format.to_string());
            json.key("access").text(if format.is_writable() { "read, write" } else { "read" });
        });
    });
    json.finish()
}
