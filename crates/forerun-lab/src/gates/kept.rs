//! Rows in a file, so that a check that was interrupted goes on where it was.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::kind::Kind;
use super::row::Row;
use crate::error::Error;
use crate::stats::Ratio;

/// Finished rows of one build and plan: a line that names both, then a line for each row.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    file: Mutex<File>,
    rows: HashMap<(String, String, u64), Row>,
}

impl Kept {
    /// The rows in the file at `path`, which is made if there is none. `key` names the build and whatever
    /// else the rows depend on.
    ///
    /// # Errors
    /// The file cannot be read or written, or is none of this `key`.
    pub fn open(path: &Path, key: &str) -> Result<Kept, Error> {
        let unfit = |reason: String| Error::Unfit { name: path.display().to_string(), reason };
        let io = |error: io::Error| unfit(format!("{error}; name a file that can be read and written"));
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let text = io::read_to_string(&file).map_err(io)?;
        // A program that was ended while it wrote has left half a line.
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let mut lines = whole.lines();
        let rows = match lines.next() {
            None => {
                file.rewind().and_then(|()| file.set_len(0)).map_err(io)?;
                writeln!(file, "{key}").map_err(io)?;
                HashMap::new()
            }
            Some(found) if found == key => {
                let row = |(number, line)| {
                    read(line).ok_or_else(|| unfit(format!("line {number} is no row; remove the file")))
                };
                let rows = (2..).zip(lines).map(row).collect::<Result<Vec<Row>, _>>()?;
                file.set_len(whole.len() as u64).map_err(io)?;
                file.seek(SeekFrom::End(0)).map_err(io)?;
                rows.into_iter().map(|row| (place(&row), row)).collect()
            }
            Some(_) => return Err(unfit("is of another build or other options; remove it".to_owned())),
        };
        Ok(Kept { path: path.to_owned(), file: Mutex::new(file), rows })
    }

    /// A row that is finished.
    pub(super) fn find(&self, workload: &str, device: &str, memory_bytes: u64) -> Option<&Row> {
        self.rows.get(&(workload.to_owned(), device.to_owned(), memory_bytes))
    }

    /// Keeps `row` for the next time.
    pub(super) fn add(&self, row: &Row) -> Result<(), Error> {
        let line = line(row);
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        file.write_all(line.as_bytes()).map_err(|error| Error::Unfit {
            name: self.path.display().to_string(),
            reason: format!("{error}; make room, and run it again"),
        })
    }
}

fn place(row: &Row) -> (String, String, u64) {
    (row.workload.clone(), row.device.clone(), row.memory_bytes)
}

/// `row` as a line of fields between tabs. Names have none, and numbers come back exactly.
fn line(row: &Row) -> String {
    let kind = match row.kind {
        Kind::Stream => "stream",
        Kind::Start => "start",
        Kind::Other => "other",
    };
    let ratio = |ratio: Ratio| format!("{:?}\t{:?}\t{:?}", ratio.mean, ratio.low, ratio.high);
    let learned = row.learned.map_or_else(|| "-".to_owned(), |share| format!("{share:?}"));
    let fields = [
        row.workload.clone(),
        row.device.clone(),
        row.memory_bytes.to_string(),
        kind.to_owned(),
        row.seed_count.to_string(),
        format!("{:?}", row.seconds),
        ratio(row.harm),
        ratio(row.peer),
        row.peer_at.to_string(),
        format!("{:?}", row.bound),
        learned,
        row.is_vague.to_string(),
        format!("{:?}", row.fetched),
        format!("{:?}", row.wasted_bytes),
        format!("{:?}", row.waste_bytes_max),
        format!("{:?}", row.peer_wasted_bytes),
    ];
    fields.join("\t") + "\n"
}

fn read(line: &str) -> Option<Row> {
    let mut fields = line.split('\t');
    let (workload, device) = (fields.next()?.to_owned(), fields.next()?.to_owned());
    let memory_bytes = fields.next()?.parse().ok()?;
    let kind = match fields.next()? {
        "stream" => Kind::Stream,
        "start" => Kind::Start,
        "other" => Kind::Other,
        _ => return None,
    };
    let seed_count = fields.next()?.parse().ok()?;
    let mut number = || -> Option<f64> { fields.next()?.parse().ok() };
    let seconds = number()?;
    let harm = Ratio { mean: number()?, low: number()?, high: number()? };
    let peer = Ratio { mean: number()?, low: number()?, high: number()? };
    let peer_at = fields.next()?.parse().ok()?;
    let bound = fields.next()?.parse().ok()?;
    let learned = match fields.next()? {
        "-" => None,
        share => Some(share.parse().ok()?),
    };
    let is_vague = fields.next()?.parse().ok()?;
    let mut number = || -> Option<f64> { fields.next()?.parse().ok() };
    let [fetched, wasted_bytes, waste_bytes_max, peer_wasted_bytes] =
        [number()?, number()?, number()?, number()?];
    fields.next().is_none().then_some(Row {
        workload,
        device,
        memory_bytes,
        kind,
        seed_count,
        seconds,
        harm,
        peer,
        peer_at,
        bound,
        learned,
        is_vague,
        fetched,
        wasted_bytes,
        waste_bytes_max,
        peer_wasted_bytes,
    })
}
