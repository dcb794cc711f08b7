//! `forerun profile show`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use forerun::{Profile, ProfiledObject};
use forerun_lab::export::json::Json;
use forerun_lab::table::{Column, Table};

use crate::explain::size;
use crate::print::show;

/// Longer paths and versions are shown without their middle, so that a line has 100 columns at most.
const PATH_CHARS_MAX: usize = 32;
const VERSION_CHARS_MAX: usize = 12;

/// Show the objects of a profile, and how much of each was touched
///
/// The objects are in the order of their first read. Times are those of the first and the last touch, since
/// the first read of the run.
#[derive(Debug, clap::Args)]
pub(super) struct ShowProfileCommand {
    /// The profile
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

impl ShowProfileCommand {
    pub(super) fn run(self) -> Result<(), Box<dyn Error>> {
        let profile = Profile::read(&self.file)?;
        show(&if self.json { json(&profile) } else { words(&profile) })?;
        Ok(())
    }
}

fn words(profile: &Profile) -> String {
    let mut table = Table::new([
        Column::word("object"),
        Column::word("version"),
        Column::number("size"),
        Column::number("extents"),
        Column::number("bytes"),
        Column::number("first s"),
        Column::number("last s"),
    ]);
    for object in profile.objects() {
        let [first, last] = seconds(&object);
        table.row([
            without_middle(object.path(), PATH_CHARS_MAX),
            without_middle(&object.version().0, VERSION_CHARS_MAX),
            size(object.size()),
            object.extents().len().to_string(),
            size(bytes(&object)),
            first,
            last,
        ]);
    }
    let sum = |of: fn(&ProfiledObject<'_>) -> u64| profile.objects().map(|object| of(&object)).sum::<u64>();
    let (objects, extents) = (profile.objects().count(), sum(|object| object.extents().len() as u64));
    format!("objects: {objects}, extents: {extents}, bytes: {}\n\n{table}", size(sum(bytes)))
}

fn json(profile: &Profile) -> String {
    let objects: Vec<_> = profile.objects().collect();
    let mut json = Json::default();
    json.object(|json| {
        json.key("extent_count").number(objects.iter().map(|object| object.extents().len() as u64).sum());
        json.key("bytes").number(objects.iter().map(bytes).sum());
        json.key("objects").array(&objects, |json, object| {
            let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            json.object(|json| {
                json.key("path").text(object.path());
                json.key("version").text(&object.version().0);
                json.key("size").number(object.size());
                json.key("extent_count").number(object.extents().len() as u64);
                json.key("bytes").number(bytes(object));
                json.key("first_ms").maybe(object.span().map(|(first, _)| milliseconds(first)));
                json.key("last_ms").maybe(object.span().map(|(_, last)| milliseconds(last)));
            });
        });
    });
    json.finish()
}

/// The bytes that were touched. Extents have whole blocks, and an object may end within one.
fn bytes(object: &ProfiledObject<'_>) -> u64 {
    object.extents().iter().map(|extent| extent.end().min(object.size()).saturating_sub(extent.offset)).sum()
}

fn seconds(object: &ProfiledObject<'_>) -> [String; 2] {
    let shown = |time: Duration| format!("{:.3}", time.as_secs_f64());
    object.span().map_or_else(Default::default, |(first, last)| [shown(first), shown(last)])
}

/// `text` in `chars_max` characters at most.
fn without_middle(text: &str, chars_max: usize) -> String {
    let chars: Vec<char> = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if chars.len() <= chars_max {
        return chars.into_iter().collect();
    }
    // The end of a path tells more than its beginning.
    let (start, end) = (chars_max / 3, chars_max - chars_max / 3 - 1);
    let (start, end) = (&chars[..start], &chars[chars.len() - end..]);
    start.iter().chain(&['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(without_middle("a/b\nc", 5), "a/b?c");
        assert_eq!(without_middle("abcdefghij", 7), "ab…ghij");
    }
}
