//! Cells as CSV, to be compared with those of another build.

use std::fmt::Write;

use super::{Place, Score};

const HEADER: &str = "policy,device,is_mixed,workload,memory_bytes,elapsed_ns,wasted_bytes,fetched_bytes";

/// `cells` as CSV. Names of devices and workloads may have commas, and are quoted.
pub fn write(cells: &[Score]) -> String {
    let mut text = format!("{HEADER}\n");
    for Score { place, policy, elapsed_ns, wasted_bytes, fetched_bytes } in cells {
        let Place { device, is_mixed, workload, memory_bytes } = place;
        writeln!(
            text,
            "{policy},\"{device}\",{is_mixed},\"{workload}\",{memory_bytes},{elapsed_ns},{wasted_bytes},{fetched_bytes}"
        )
        .expect("a string takes all text");
    }
    text
}

/// The cells of a file that [`write()`] made.
///
/// # Errors
/// The line that is none of its lines.
pub fn read(text: &str) -> Result<Vec<Score>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!(
            "it does not begin with `{HEADER}`: write it with `forerun lab gates --quick --csv FILE`"
        ));
    }
    let cell =
        |(number, line)| cell(line).ok_or_else(|| format!("line {number} is not a line of such a file"));
    (2..).zip(lines).map(cell).collect()
}

fn cell(line: &str) -> Option<Score> {
    let mut quoted = line.split('"');
    let policy = quoted.next()?.strip_suffix(',')?.to_owned();
    let device = quoted.next()?.to_owned();
    let is_mixed = quoted.next()?.strip_prefix(',')?.strip_suffix(',')?.parse().ok()?;
    let workload = quoted.next()?.to_owned();
    let mut numbers = quoted.next()?.strip_prefix(',')?.split(',').map(|number| number.parse().ok());
    let mut number = || numbers.next().flatten();
    let place = Place { device, is_mixed, workload, memory_bytes: number()? };
    let cell =
        Score { place, policy, elapsed_ns: number()?, wasted_bytes: number()?, fetched_bytes: number()? };
    (cell.elapsed_ns > 0 && numbers.next().is_none() && quoted.next().is_none()).then_some(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back() {
        let cell = |device: &str, is_mixed| Score {
            place: Place {
                device: device.to_owned(),
                is_mixed,
                workload: "gen sequential 4K, thinks 50us".to_owned(),
                memory_bytes: 16 << 20,
            },
            policy: "adaptive".to_owned(),
            elapsed_ns: u64::MAX,
            wasted_bytes: 0,
            fetched_bytes: 7,
        };
        let cells = [cell("network:latency=2ms,total=1MB/s", false), cell("s3", true)];
        assert_eq!(read(&write(&cells)).unwrap(), cells);
        for wrong in ["", "policy\n", &write(&cells).replace("false", "no"), &(write(&cells) + "x,y\n")] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
