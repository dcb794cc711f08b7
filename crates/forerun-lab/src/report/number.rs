//! How numbers are written, the same everywhere.

/// A number of an SVG attribute: to a tenth of a pixel.
pub(super) fn coordinate(value: f64) -> String {
    let tenths = (value * 10.0).round();
    if tenths.rem_euclid(10.0) == 0.0 {
        format!("{}", (tenths / 10.0) as i64)
    } else {
        format!("{:.1}", tenths / 10.0)
    }
}

/// Three significant digits, without an exponent.
pub(super) fn short(value: f64) -> String {
    let rounded = |digits: usize| format!("{value:.digits$}");
    match value.abs() {
        size if size >= 99.95 => rounded(0),
        size if size >= 9.995 => rounded(1),
        0.0 => "0".to_owned(),
        size if size >= 0.01 => rounded(2),
        _ => rounded(3),
    }
}

/// Units of time: the least number of nanoseconds for which each is used, which
/// is also its length.
pub(super) const TIMES: [(f64, &str); 6] =
    [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"), (60e9, "min"), (3600e9, "h")];

/// Units of size, likewise.
pub(super) const SIZES: [(f64, &str); 5] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
];

/// The largest of `units` that `value` has one of.
pub(super) fn unit<'a>(units: &[(f64, &'a str)], value: f64) -> (f64, &'a str) {
    units.iter().rev().find(|(size, _)| value >= *size).copied().unwrap_or(units[0])
}

/// A duration: `1.23 s`, `45.6 ms`.
pub(super) fn duration(ns: f64) -> String {
    // Minutes and hours would hide differences of seconds.
    in_unit(&TIMES[..4], ns)
}

/// A size: `1.50 MiB`.
pub(super) fn size(bytes: f64) -> String {
    in_unit(&SIZES, bytes)
}

fn in_unit(units: &[(f64, &str)], value: f64) -> String {
    let (size, name) = unit(units, value);
    if value == 0.0 {
        return format!("0 {name}");
    }
    let value = value / size;
    if value == value.trunc() { format!("{value} {name}") } else { format!("{} {name}", short(value)) }
}

/// A part of a whole in percent, `–` of nothing.
pub(super) fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { NONE.to_owned() }
}

/// Instead of a number that there is none of.
pub(super) const NONE: &str = "–";

/// A count: `1,234,567`.
pub(super) fn count(value: u64) -> String {
    let digits = value.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(["0", "0.50", "12.3", "1235"].map(str::to_owned), [0.0, 0.5, 12.34, 1234.6].map(short));
        assert_eq!(duration(1_234_567.0), "1.23 ms");
        assert_eq!(duration(7_200e9), "7200 s");
        assert_eq!(duration(0.0), "0 ns");
        assert_eq!(size(1_572_864.0), "1.50 MiB");
        assert_eq!(percent(1.0, 8.0), "12.5 %");
        assert_eq!(percent(1.0, 0.0), "–");
        assert_eq!([1, 1000, 1_234_567].map(count), ["1", "1,000", "1,234,567"].map(str::to_owned));
        assert_eq!([3.0, 3.24, -0.01].map(coordinate), ["3", "3.2", "0"].map(str::to_owned));
    }
}
