//! The formats and their names. A new format begins here.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `ts_us,op,file_or_dev,offset,length`, and the columns that a header names.
    Csv,
    /// The same, with `asked,service_us,thread,blocking`.
    CsvFull,
    /// The format of `rbd-replay-prep` since 2015.
    RbdReplay,
    /// The format of `rbd-replay-prep` in 2014.
    RbdReplayV0,
    /// The text of `blkparse`, with or without `-t`.
    Blkparse,
    /// The binary files of `blktrace`.
    Blktrace,
    /// Block events and the `blk` tracer of the kernel's ftrace.
    Ftrace,
    /// `fio version 2 iolog`.
    FioV2,
    /// `fio version 3 iolog`.
    FioV3,
    /// `strace -f -ttt -T -y`.
    Strace,
    /// The CSV of the MSR-Cambridge traces.
    Msr,
    /// CloudPhysics' vscsi records of 32 bytes.
    VscsiV1,
    /// CloudPhysics' vscsi records of 40 bytes.
    VscsiV2,
    /// The CSV of the Alibaba block traces.
    Alibaba,
    /// The CSV of the Tencent block storage traces.
    Tencent,
    /// Forerun's own compact format.
    Compact,
}

/// Each format, its name, the usual end of its files' names, and whether it can be written.
const TABLE: &[(Format, &str, &str, bool)] = &[
    (Format::Csv, "csv", ".csv", true),
    (Format::CsvFull, "csv-full", "", true),
    (Format::RbdReplay, "rbd-replay", ".rbdreplay", true),
    (Format::RbdReplayV0, "rbd-replay-v0", "", false),
    (Format::Blkparse, "blkparse", ".blkparse", true),
    (Format::Blktrace, "blktrace", ".blktrace", true),
    (Format::Ftrace, "ftrace", ".ftrace", false),
    (Format::FioV2, "fio-v2", "", true),
    (Format::FioV3, "fio-v3", ".iolog", true),
    (Format::Strace, "strace", ".strace", false),
    (Format::Msr, "msr", "", true),
    (Format::VscsiV1, "vscsi-v1", "", true),
    (Format::VscsiV2, "vscsi-v2", ".vscsi", true),
    (Format::Alibaba, "alibaba", "", true),
    (Format::Tencent, "tencent", "", true),
    (Format::Compact, "forerun", ".frt", true),
];

impl Format {
    /// Every format.
    pub fn all() -> impl Iterator<Item = Format> {
        TABLE.iter().map(|row| row.0)
    }

    /// Whether there is a writer.
    pub fn is_writable(self) -> bool {
        self.row().3
    }

    /// The format that the end of `path` names. `.gz`, `.bz2` and the number of a CPU are ignored.
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = [".gz", ".bz2"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        let name = match name.rsplit_once('.') {
            Some((before, cpu)) if !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit()) => before,
            _ => name,
        };
        TABLE.iter().find(|row| !row.2.is_empty() && name.ends_with(row.2)).map(|row| row.0)
    }

    /// The names of all formats, or of the writable ones, with commas.
    pub fn list(writable: bool) -> String {
        let names: Vec<&str> = TABLE.iter().filter(|row| row.3 || !writable).map(|row| row.1).collect();
        names.join(", ")
    }

    fn row(self) -> &'static (Format, &'static str, &'static str, bool) {
        TABLE.iter().find(|row| row.0 == self).expect("every format has a row")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.row().1)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let row = TABLE.iter().find(|row| row.1 == name);
        row.map(|row| row.0).ok_or_else(|| format!("the formats are {}", Format::list(false)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Format::all().count(), 16);
        for format in Format::all() {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert!("xyz".parse::<Format>().unwrap_err().contains("rbd-replay"));
        for (name, format) in [
            ("a/b.csv.gz", Some(Format::Csv)),
            ("sda.blktrace.3", Some(Format::Blktrace)),
            ("sda.blktrace.3.bz2", Some(Format::Blktrace)),
            ("x.RBDREPLAY", Some(Format::RbdReplay)),
            ("x.frt", Some(Format::Compact)),
            ("x", None),
            ("x.7", None),
        ] {
            assert_eq!(Format::of_name(Path::new(name)), format, "{name}");
        }
    }
}
