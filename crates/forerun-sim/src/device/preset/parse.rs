//! A network store from text: `latency=50ms,connection=80MB/s,total=400MB/s`.

use crate::device::{Latency, NetworkSpec};

const KEYS: &str = "latency=50ms, sigma=0.3, tail=0.5%:100ms-1s, connection=80MB/s, total=400MB/s, requests=5500/s and connections=64";

/// The store that `parameters` describe.
///
/// # Errors
/// Which parameter is not understood, and how it is written.
pub(super) fn network(parameters: &str) -> Result<NetworkSpec, String> {
    let mut spec = NetworkSpec {
        latency: Latency::constant(0),
        connection_bytes_per_s: 0,
        total_bytes_per_s: 0,
        request_interval_ns: 0,
        connection_count: 64,
    };
    let mut has_latency = false;
    for parameter in parameters.split(',').filter(|parameter| !parameter.is_empty()) {
        let Some((key, value)) = parameter.split_once('=') else {
            return Err(format!("network: {parameter:?} is not KEY=VALUE; keys are {KEYS}"));
        };
        match key.trim() {
            "latency" => {
                spec.latency.median_ns = duration(value)?;
                has_latency = true;
            }
            "sigma" => spec.latency.sigma_permille = sigma(value)?,
            "tail" => spec.latency = tail(spec.latency, value)?,
            "connection" => spec.connection_bytes_per_s = rate(value)?,
            "total" => spec.total_bytes_per_s = rate(value)?,
            "requests" => spec.request_interval_ns = interval(value)?,
            "connections" => spec.connection_count = count(value)?,
            other => return Err(format!("network: there is no parameter {other:?}; there are {KEYS}")),
        }
    }
    match (spec.connection_bytes_per_s, spec.total_bytes_per_s) {
        _ if !has_latency => Err("network: latency is missing, for example latency=50ms".to_owned()),
        (0, 0) => Err("network: connection or total is missing, for example connection=80MB/s".to_owned()),
        (0, total) => Ok(NetworkSpec { connection_bytes_per_s: total, ..spec }),
        (connection, 0) => {
            let total_bytes_per_s = connection.saturating_mul(spec.connection_count as u64);
            Ok(NetworkSpec { total_bytes_per_s, ..spec })
        }
        _ => Ok(spec),
    }
}

/// A number with up to nine decimals times `unit`, exactly.
fn scaled(text: &str, unit: u64) -> Option<u64> {
    let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) || decimals.len() > 9 {
        return None;
    }
    let fraction = if decimals.is_empty() { 0 } else { decimals.parse::<u128>().ok()? };
    let fraction = fraction * u128::from(unit) / 10_u128.pow(decimals.len() as u32);
    let total = whole.parse::<u128>().ok()?.checked_mul(u128::from(unit))? + fraction;
    u64::try_from(total).ok()
}

/// `text` in one of `units`; the first that it ends with counts.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    units.iter().find_map(|(name, unit)| scaled(text.trim().strip_suffix(name)?, *unit))
}

fn duration(text: &str) -> Result<u64, String> {
    with_unit(text, &[("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)])
        .filter(|ns| *ns <= 3_600_000_000_000)
        .ok_or_else(|| {
            format!("network: {text:?} is not a duration up to an hour, such as 200us, 50ms or 1.5s")
        })
}

fn rate(text: &str) -> Result<u64, String> {
    let units =
        [("kB/s", 1000), ("KB/s", 1000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000), ("MiB/s", 1 << 20)];
    with_unit(text, &units)
        .filter(|rate| *rate > 0)
        .ok_or_else(|| format!("network: {text:?} is not a rate, such as 80MB/s or 1.2GB/s"))
}

fn interval(text: &str) -> Result<u64, String> {
    with_unit(text, &[("/s", 1)])
        .filter(|rate| (1..=1_000_000_000).contains(rate))
        .map(|rate| 1_000_000_000 / rate)
        .ok_or_else(|| format!("network: {text:?} is not a number of requests a second, such as 5500/s"))
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.trim().parse().ok().filter(|count| (1..=65_536).contains(count));
    count.ok_or_else(|| format!("network: {text:?} is not a number of connections from 1 to 65536"))
}

fn sigma(text: &str) -> Result<u64, String> {
    scaled(text, 1000)
        .filter(|sigma| *sigma <= 2000)
        .ok_or_else(|| format!("network: {text:?} is not a sigma from 0 to 2, such as 0.3"))
}

fn tail(latency: Latency, text: &str) -> Result<Latency, String> {
    let parts = text.split_once(':').and_then(|(share, range)| {
        let per_million = with_unit(share, &[("%", 10_000)]).filter(|share| *share <= 1_000_000)?;
        let (from, to) = range.split_once('-')?;
        let (from, to) = (duration(from).ok()?, duration(to).ok()?);
        (from <= to).then_some((per_million, from, to))
    });
    let (per_million, from, to) =
        parts.ok_or_else(|| format!("network: {text:?} is not a tail, such as 0.5%:100ms-1s"))?;
    Ok(latency.with_tail(per_million, from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands() {
        let spec =
            network("latency=1.5ms,connection=80MB/s,total=0.4GB/s,requests=100/s,connections=7").unwrap();
        assert_eq!(spec.latency, Latency::constant(1_500_000));
        assert_eq!((spec.connection_bytes_per_s, spec.total_bytes_per_s), (80_000_000, 400_000_000));
        assert_eq!((spec.request_interval_ns, spec.connection_count), (10_000_000, 7));
        let spec = network("latency=14ms,sigma=0.28,tail=0.5%:100ms-1s,total=1MB/s").unwrap();
        let expected = Latency::log_normal(14_000_000, 280).with_tail(5_000, 100_000_000, 1_000_000_000);
        assert_eq!(spec.latency, expected);
        assert_eq!(spec.connection_bytes_per_s, 1_000_000);
    }

    #[test]
    fn refuses() {
        for (text, part) in [
            ("latency=50", "not a duration"),
            ("latency=-1ms", "not a duration"),
            ("latency=50ms", "connection or total is missing"),
            ("connection=80MB/s", "latency is missing"),
            ("latency=50ms,speed=1MB/s", "no parameter \"speed\""),
            ("latency=50ms,total=0MB/s", "not a rate"),
            ("latency", "KEY=VALUE"),
            ("latency=1ms,total=1MB/s,connections=0", "number of connections"),
            ("latency=1ms,total=1MB/s,tail=5:1ms-2ms", "not a tail"),
        ] {
            let error = network(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
