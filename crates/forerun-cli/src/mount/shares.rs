//! The weights and rates of clients.

use forerun::ClientId;
use forerun_serve::client_of;
use forerun_serve::metrics::OTHERS;

use crate::units::parse_size;

/// The largest weight.
const WEIGHT_MAX: u32 = 1000;

/// A client, and how many times the share of others it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Weight {
    pub(super) name: String,
    pub(super) weight: u32,
}

/// The most that is fetched for a client, or for all together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientRate {
    pub(super) name: Option<String>,
    pub(super) bytes_per_s: u64,
}

impl Weight {
    /// Parses `NAME=COUNT`. A name may have `=` in it.
    pub(super) fn parse(text: &str) -> Result<Weight, String> {
        let (name, weight) = text.rsplit_once('=').ok_or("give NAME=COUNT, as in 1000=4")?;
        let weight = weight.parse().ok().filter(|weight| (1..=WEIGHT_MAX).contains(weight));
        let weight = weight.ok_or_else(|| format!("COUNT is a number from 1 to {WEIGHT_MAX}"))?;
        Ok(Weight { name: named(name)?, weight })
    }
}

impl ClientRate {
    /// Parses `SIZE` or `NAME=SIZE`. A name may have `=` in it.
    pub(super) fn parse(text: &str) -> Result<ClientRate, String> {
        let (name, size) = match text.rsplit_once('=') {
            Some((name, size)) => (Some(named(name)?), size),
            None => (None, text),
        };
        match parse_size(size.strip_suffix("/s").unwrap_or(size))? {
            0 => Err("a rate of 0 fetches nothing".to_owned()),
            bytes_per_s => Ok(ClientRate { name, bytes_per_s }),
        }
    }

    /// None for all together.
    pub(super) fn client(&self) -> Option<ClientId> {
        self.name.as_deref().map(client_of)
    }
}

fn named(name: &str) -> Result<String, String> {
    match name {
        "" => Err("give a NAME before =".to_owned()),
        OTHERS => Err(format!("{OTHERS} stands for all clients without a name: give a NAME")),
        name => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_name_and_a_count() {
        assert_eq!(Weight::parse("a=b=4"), Ok(Weight { name: "a=b".to_owned(), weight: 4 }));
        for wrong in ["4", "=4", "others=4", "a=", "a=0", "a=1001", "a=-1", "a=1.5"] {
            assert!(Weight::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rate_is_a_size_and_may_have_a_name() {
        let rate =
            |name: Option<&str>, bytes_per_s| Ok(ClientRate { name: name.map(str::to_owned), bytes_per_s });
        assert_eq!(ClientRate::parse("100MB"), rate(None, 100_000_000));
        assert_eq!(ClientRate::parse("a=b=1MiB/s"), rate(Some("a=b"), 1 << 20));
        for wrong in ["", "0", "=4", "a=", "a=0", "a=-1", "fast"] {
            assert!(ClientRate::parse(wrong).is_err(), "{wrong}");
        }
    }
}
