//! Sizes and times as users write them.

use std::time::Duration;

/// Bytes from `text`: a whole number and, if wanted, a unit. `K`, `M`, `G`, `T`
/// and `KiB`… are powers of 1024, `kB`, `MB`… powers of 1000.
///
/// # Errors
/// The form of a size.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" | "kib" => Some(1 << 10),
        "m" | "mib" => Some(1 << 20),
        "g" | "gib" => Some(1 << 30),
        "t" | "tib" => Some(1_u64 << 40),
        "kb" => Some(1000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        "tb" => Some(1_000_000_000_000),
        _ => None,
    };
    number
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor))
        .ok_or_else(|| "expected a size in whole bytes, KiB, MiB or GiB, as in 256MiB, 64M or 1G".to_owned())
}

/// A length of time from `text`: a whole number and a unit.
///
/// # Errors
/// The form of a length of time.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let milliseconds = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        // Nothing is the same in every unit.
        "" if number == Some(0) => Some(0),
        _ => None,
    };
    number
        .zip(milliseconds)
        .and_then(|(number, milliseconds)| number.checked_mul(milliseconds))
        .map(Duration::from_millis)
        .ok_or_else(|| "expected a length of time with its unit, as in 500ms, 1s, 5m or 2h".to_owned())
}

/// As [`parse_duration`], and microseconds.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    match text.strip_suffix("us").map(str::parse) {
        Some(Ok(microseconds)) => Ok(Duration::from_micros(microseconds)),
        _ => parse_duration(text),
    }
}

/// `duration` for the lab and its recordings.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// `bytes` in the largest unit that shows it exactly.
pub(crate) fn show_size(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(factor, _)| bytes >= *factor && bytes.is_multiple_of(*factor)) {
        Some((factor, unit)) => format!("{} {unit}", bytes / factor),
        None => format!("{bytes} bytes"),
    }
}

fn split(text: &str) -> (Option<u64>, &str) {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    (number.parse().ok(), unit.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let table = [
            ("0", 0),
            ("4096", 4096),
            ("17b", 17),
            ("64K", 64 << 10),
            ("64k", 64 << 10),
            ("256MiB", 256 << 20),
            ("256 MiB", 256 << 20),
            ("256mib", 256 << 20),
            ("1G", 1 << 30),
            ("2TiB", 2 << 40),
            ("3MB", 3_000_000),
        ];
        for (text, bytes) in table {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1.5G", "12x", "1 2", "99999999999999999999", "99999999T", "0x10"] {
            let error = parse_size(text).unwrap_err();
            assert!(error.contains("256MiB"), "{text}: {error}");
        }
    }

    #[test]
    fn lengths_of_time() {
        let table = [("0", 0), ("0s", 0), ("500ms", 500), ("1s", 1000), ("5m", 300_000), ("2h", 7_200_000)];
        for (text, milliseconds) in table {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "1", "s", "1.5s", "-1s", "1d", "99999999999999999999s", "9999999999999999999h"] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.contains("500ms"), "{text}: {error}");
        }
    }

    #[test]
    fn a_size_is_shown_exactly() {
        assert_eq!(show_size(256 << 20), "256 MiB");
        assert_eq!(show_size(1536 << 20), "1536 MiB");
        assert_eq!(show_size(2 << 40), "2 TiB");
        assert_eq!(show_size(1000), "1000 bytes");
        assert_eq!(show_size(0), "0 bytes");
    }
}
