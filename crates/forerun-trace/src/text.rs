//! Parsing and printing numbers and times.

use std::str::FromStr;

/// The number in `text`; errors call it `what`.
pub(crate) fn number<T: FromStr>(what: &str, text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("{what} is {}, which is not a number in its range", quoted(text)))
}

/// The decimal number `text` times 10^`digits`, cut off below 1.
pub(crate) fn decimal(what: &str, text: &str, digits: usize) -> Result<u64, String> {
    let text = text.trim();
    let wrong = || format!("{what} is {}, which is not a decimal number in its range", quoted(text));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let mut kept = part.bytes().map(|byte| u64::from(byte - b'0')).chain(std::iter::repeat(0)).take(digits);
    kept.try_fold(whole, |value, digit| value.checked_mul(10)?.checked_add(digit)).ok_or_else(wrong)
}

/// `ns` as microseconds, with a point only where needed.
pub(crate) fn microseconds(ns: u64) -> String {
    match ns % 1000 {
        0 => format!("{}", ns / 1000),
        rest => format!("{}.{rest:03}", ns / 1000),
    }
}

/// `text` in quotes, short enough for a message.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{:?}…", &text[..cut]),
        None => format!("{text:?}"),
    }
}

/// Converts a recorder's clock to time from the first record.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    origin: Option<u64>,
}

impl Clock {
    /// Nanoseconds from the first call's `raw_ns`.
    pub(crate) fn since(&mut self, raw_ns: u64) -> Result<u64, String> {
        let origin = *self.origin.get_or_insert(raw_ns);
        raw_ns.checked_sub(origin).ok_or_else(|| {
            format!(
                "its time is {} ns before that of the first record; sort the file by time",
                origin - raw_ns
            )
        })
    }

    /// The clock's time at the first record.
    pub(crate) fn origin_ns(&self) -> Option<u64> {
        self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for (text, digits, value) in
            [("0", 3, 0), ("12", 3, 12_000), ("1.5", 9, 1_500_000_000), ("1.23456", 3, 1234), ("7.", 0, 7)]
        {
            assert_eq!(decimal("x", text, digits), Ok(value), "{text}");
        }
        for text in ["", ".5", "-1", "1.-5", "1e3", "99999999999999999999", "20000000000000000"] {
            assert!(decimal("x", text, 9).is_err(), "{text}");
        }
        assert_eq!(microseconds(1_234_000), "1234");
        assert_eq!(microseconds(1_234_005), "1234.005");
    }
}
