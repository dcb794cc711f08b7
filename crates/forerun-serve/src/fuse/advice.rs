//! Advice of programs about their reads, in words.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use forerun::{Advice, Extent, Reader};
use parking_lot::Mutex;
use rustix::io::Errno;

/// Limit of the words of one file, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Advice in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Saying {
    Normal,
    Sequential,
    Random,
    WillNeed(Vec<Extent>),
    DontNeed(Extent),
}

/// Advice given as attributes, for readers that open the file later. The mount must let the kernel
/// pass attributes on.
#[derive(Debug)]
pub(crate) struct Advised {
    /// Whether attributes are answered at all.
    pub(super) is_enabled: bool,
    pub(super) by_inode: Mutex<HashMap<u64, Saying>>,
}

impl Advised {
    pub(crate) fn new(is_enabled: bool) -> Advised {
        Advised { is_enabled, by_inode: Mutex::default() }
    }

    /// Applies the advice for inode `ino`, which was opened as `reader`.
    pub(crate) fn apply(&self, ino: u64, reader: &Reader) {
        let saying = self.by_inode.lock().get(&ino).cloned();
        if let Some(saying) = saying {
            reader.advise(saying.advice());
        }
    }
}

impl Saying {
    pub(super) fn advice(&self) -> Advice<'_> {
        match self {
            Saying::Normal => Advice::Normal,
            Saying::Sequential => Advice::Sequential,
            Saying::Random => Advice::Random,
            Saying::WillNeed(extents) => Advice::WillNeed(extents),
            Saying::DontNeed(extent) => Advice::DontNeed(*extent),
        }
    }
}

pub(super) fn parse(text: &[u8]) -> Result<Saying, Errno> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Errno::TOOBIG);
    }
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Errno::INVAL)
}

/// `normal`, `sequential`, `random`, `willneed OFFSET+LENGTH …`, `dontneed OFFSET+LENGTH`.
impl FromStr for Saying {
    type Err = ();

    fn from_str(text: &str) -> Result<Saying, ()> {
        let mut words = text.split_ascii_whitespace();
        let name = words.next().ok_or(())?;
        let extents: Vec<Extent> = words.map(extent).collect::<Option<_>>().ok_or(())?;
        match (name, &extents[..]) {
            ("normal", []) => Ok(Saying::Normal),
            ("sequential", []) => Ok(Saying::Sequential),
            ("random", []) => Ok(Saying::Random),
            ("willneed", [_, ..]) => Ok(Saying::WillNeed(extents)),
            ("dontneed", [extent]) => Ok(Saying::DontNeed(*extent)),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Saying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Saying::Normal => f.write_str("normal"),
            Saying::Sequential => f.write_str("sequential"),
            Saying::Random => f.write_str("random"),
            Saying::DontNeed(extent) => write!(f, "dontneed {extent:?}"),
            Saying::WillNeed(extents) => {
                f.write_str("willneed")?;
                extents.iter().try_for_each(|extent| write!(f, " {extent:?}"))
            }
        }
    }
}

fn extent(word: &str) -> Option<Extent> {
    let (offset, len) = word.split_once('+')?;
    let (offset, len): (u64, u64) = (offset.parse().ok()?, len.parse().ok()?);
    offset.checked_add(len).map(|_| Extent::new(offset, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_shown_in_the_words_that_gave_it() {
        for text in ["normal", "sequential", "random", "willneed 0+1048576 4096+1", "dontneed 0+4096"] {
            let saying: Saying = text.parse().unwrap();
            assert_eq!(saying.to_string(), text);
        }
        let padded: Saying = " willneed\t1+2\n".parse().unwrap();
        assert_eq!(padded, Saying::WillNeed(vec![Extent::new(1, 2)]));
    }

    #[test]
    fn malformed_advice_is_refused() {
        let wrong = ["", "fast", "normal 0+1", "willneed", "willneed 1", "dontneed 0+1 2+1", "willneed 1+-1"];
        for text in wrong {
            assert_eq!(parse(text.as_bytes()).unwrap_err(), Errno::INVAL, "{text}");
        }
        assert!(parse(b"willneed 18446744073709551615+1").is_err());
        assert!(parse(&[b' '; TEXT_BYTES_MAX + 1]).is_err());
    }
}
