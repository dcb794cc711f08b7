//! Numbers for people, with at most three digits.

/// About `bytes`, in powers of 1024.
pub(crate) fn size(bytes: u64) -> String {
    scaled(bytes, 1024, &["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// About `bytes_per_s`, in powers of 1000.
pub(super) fn rate(bytes_per_s: u64) -> String {
    scaled(bytes_per_s, 1000, &["bytes/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

/// About `ns` nanoseconds.
pub(crate) fn time(ns: u64) -> String {
    match ns {
        0..1_000_000 => scaled(ns / 1000, 1000, &["µs"]),
        1_000_000..60_000_000_000 => scaled(ns / 1000, 1000, &["µs", "ms", "s"]),
        _ => format!("{} min", ns / 60_000_000_000),
    }
}

/// `part` of `whole` in percent; only nothing is shown as 0 and only all of it as 100.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let (wide, most) = (u128::from(part) * 1000, if part < whole { 999 } else { 1000 });
    let tenths = (wide + u128::from(whole / 2)).checked_div(u128::from(whole)).unwrap_or(0).min(most);
    match tenths {
        0 if part > 0 => "under 0.1 %".to_owned(),
        _ if tenths.is_multiple_of(10) => format!("{} %", tenths / 10),
        _ => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

fn scaled(number: u64, factor: u64, units: &[&str]) -> String {
    let (mut scale, mut place) = (1_u64, 0);
    while place + 1 < units.len() && number / scale >= factor {
        scale *= factor;
        place += 1;
    }
    let (whole, tenths) = (number / scale, u128::from(number % scale) * 10 / u128::from(scale));
    match whole < 10 && tenths > 0 {
        true => format!("{whole}.{tenths} {}", units[place]),
        false => format!("{whole} {}", units[place]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0, 17, 4096, 1 << 20, 2_300_000_000].map(size),
            ["0 bytes", "17 bytes", "4 KiB", "1 MiB", "2.1 GiB"]
        );
        assert_eq!([95_400_000, 1_250].map(rate), ["95 MB/s", "1.2 kB/s"]);
        assert_eq!(
            [18_400_000, 250_000, 2_500_000_000, 200_000_000_000].map(time),
            ["18 ms", "250 µs", "2.5 s", "3 min"]
        );
        let shown =
            [(998, 1000), (1, 1000), (1, 100_000), (987, 100_000), (0, 5), (5, 5), (0, 0), (99_999, 100_000)];
        let shown = shown.map(|(part, whole)| percent(part, whole));
        assert_eq!(shown, ["99.8 %", "0.1 %", "under 0.1 %", "1 %", "0 %", "100 %", "0 %", "99.9 %"]);
    }
}
