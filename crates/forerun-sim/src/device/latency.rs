//! How long a request waits before its first byte: a distribution, drawn in integers.

use super::luck::{Luck, below};

/// A distribution of latencies. Logarithms and exponentials differ between machines,
/// so it is drawn from a table of quantiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Half of all requests wait no longer, leaving the tail aside.
    pub median_ns: u64,
    /// Thousandths of the standard deviation of the latency's logarithm; 0 is constant.
    pub sigma_permille: u64,
    /// How many of a million requests are in the tail instead.
    pub tail_per_million: u64,
    /// The shortest latency in the tail.
    pub tail_ns_min: u64,
    /// The longest latency in the tail.
    pub tail_ns_max: u64,
}

impl Latency {
    /// Always `ns`.
    pub const fn constant(ns: u64) -> Latency {
        Latency { median_ns: ns, sigma_permille: 0, tail_per_million: 0, tail_ns_min: 0, tail_ns_max: 0 }
    }

    /// Log-normal: `median_ns`, and `sigma_permille` thousandths.
    pub const fn log_normal(median_ns: u64, sigma_permille: u64) -> Latency {
        Latency { median_ns, sigma_permille, ..Latency::constant(0) }
    }

    /// The same, with `per_million` requests of a million anywhere from `ns_min` to `ns_max`.
    pub const fn with_tail(self, per_million: u64, ns_min: u64, ns_max: u64) -> Latency {
        Latency { tail_per_million: per_million, tail_ns_min: ns_min, tail_ns_max: ns_max, ..self }
    }

    /// Whether requests differ.
    pub(crate) fn has_luck(&self) -> bool {
        self.sigma_permille > 0 || self.tail_per_million > 0
    }

    /// No request waits less.
    pub fn ns_min(&self) -> u64 {
        let body = Body::new(self).lower[OCTAVES * STEPS];
        if self.tail_per_million == 0 { body } else { body.min(self.tail_ns_min) }
    }
}

/// A distribution made ready to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    latency: Latency,
    luck: Luck,
    body: Option<Box<Body>>,
}

/// The purposes of a request's luck here.
const BODY: u64 = 1;
const IN_TAIL: u64 = 2;
const TAIL: u64 = 3;

impl Draw {
    pub(crate) fn new(latency: Latency, luck: Luck) -> Draw {
        let body = (latency.sigma_permille > 0).then(|| Box::new(Body::new(&latency)));
        Draw { latency, luck, body }
    }

    /// The latency of request `index`.
    pub(crate) fn of(&self, index: u64) -> u64 {
        let latency = &self.latency;
        if latency.tail_per_million > 0
            && below(self.luck.of(index, IN_TAIL), 1_000_000) < latency.tail_per_million
        {
            let span = latency.tail_ns_max.saturating_sub(latency.tail_ns_min) + 1;
            return latency.tail_ns_min + below(self.luck.of(index, TAIL), span);
        }
        match &self.body {
            Some(body) => body.at(self.luck.of(index, BODY)),
            None => latency.median_ns,
        }
    }
}

/// Halvings of the distance to either end of the distribution, and steps in each.
const OCTAVES: usize = 20;
const STEPS: usize = 8;
const NODES: usize = OCTAVES * STEPS + 1;

/// Quantiles of a log-normal distribution, from its median outwards.
#[derive(Clone, Debug)]
struct Body {
    lower: [u64; NODES],
    upper: [u64; NODES],
}

impl Body {
    fn new(latency: &Latency) -> Body {
        let mut body = Body { lower: [0; NODES], upper: [0; NODES] };
        for (node, deviation) in DEVIATIONS.iter().enumerate() {
            let factor = exp(latency.sigma_permille * deviation / 1000);
            body.lower[node] = (latency.median_ns as f64 / factor) as u64;
            body.upper[node] = (latency.median_ns as f64 * factor) as u64;
        }
        body
    }

    /// The quantile at `luck`: its lowest bit says on which side of the median, the
    /// others how far it is from that side's end.
    fn at(&self, luck: u64) -> u64 {
        let nodes = if luck & 1 == 0 { &self.lower } else { &self.upper };
        let distance = luck >> 1;
        let octave = distance.leading_zeros() as usize - 1;
        if octave >= OCTAVES {
            return nodes[NODES - 1];
        }
        // From the octave's beginning (its far end from 0) in 2^-19 of a step.
        let inward = ((1_u64 << (63 - octave)) - distance) >> (40 - octave);
        let (step, fraction) = ((inward >> 19) as usize, inward & ((1 << 19) - 1));
        let node = octave * STEPS + step.min(STEPS - 1);
        let fraction = if step == STEPS { 1 << 19 } else { fraction };
        let (from, to) = (nodes[node], nodes[node + 1]);
        if to >= from {
            from + (((to - from) as u128 * u128::from(fraction)) >> 19) as u64
        } else {
            from - (((from - to) as u128 * u128::from(fraction)) >> 19) as u64
        }
    }
}

/// e to the power of `exponent` / 65536. Multiplications and square roots only, which
/// are exact to the last bit everywhere.
fn exp(exponent: u64) -> f64 {
    // log2 e * 65536.
    let binary = (exponent * 94_548) >> 16;
    let mut power = (0..binary >> 16).fold(1.0, |power, _| power * 2.0);
    let mut root = 2.0_f64;
    for bit in (0..16).rev() {
        root = root.sqrt();
        if (binary >> bit) & 1 == 1 {
            power *= root;
        }
    }
    power
}

/// Normal quantiles in 1/65536 of a standard deviation: for the probabilities
/// 2^-(k+1) (1 - m/16), k = 0..20, m = 0..8, and 2^-21.
#[rustfmt::skip]
const DEVIATIONS: [u64; NODES] = [
    0, 5139, 10310, 15545, 20882, 26362, 32032, 37954, 44203, 47482, 50884, 54428,
    58140, 62048, 66191, 70616, 75389, 77933, 80600, 83408, 86377, 89536, 92917, 96565,
    100540, 102675, 104924, 107304, 109834, 112540, 115453, 118613, 122076, 123944, 125918, 128013,
    130248, 132646, 135235, 138055, 141156, 142834, 144610, 146500, 148519, 150691, 153042, 155608,
    158437, 159970, 161597, 163329, 165184, 167181, 169346, 171714, 174330, 175750, 177257, 178865,
    180588, 182445, 184462, 186670, 189113, 190440, 191851, 193356, 194971, 196714, 198608, 200683,
    202983, 204233, 205563, 206982, 208507, 210153, 211943, 213907, 216085, 217270, 218531, 219878,
    221325, 222888, 224590, 226458, 228531, 229660, 230861, 232145, 233525, 235017, 236642, 238426,
    240408, 241487, 242636, 243865, 245187, 246616, 248173, 249884, 251785, 252821, 253924, 255104,
    256374, 257747, 259244, 260890, 262719, 263716, 264779, 265915, 267138, 268462, 269905, 271492,
    273257, 274219, 275245, 276343, 277524, 278803, 280197, 281732, 283438, 284369, 285361, 286423,
    287567, 288805, 290155, 291642, 293295, 294197, 295159, 296189, 297298, 298499, 299809, 301252,
    302857, 303733, 304667, 305668, 306745, 307912, 309185, 310587, 312148, 313000, 313909, 314882,
    315930, 317065, 318305, 319670, 321190,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(latency: Latency) -> Vec<u64> {
        let draw = Draw::new(latency, Luck::new(5));
        let mut drawn: Vec<u64> = (0..200_000).map(|index| draw.of(index)).collect();
        drawn.sort_unstable();
        drawn
    }

    #[test]
    fn log_normal_has_its_quantiles() {
        let drawn = sorted(Latency::log_normal(14_000_000, 280));
        // 14 ms * exp(0.28 z): p10, p50, p90, p99.
        for (permille, expected) in
            [(100, 9_779_000), (500, 14_000_000), (900, 20_043_000), (990, 26_856_000_u64)]
        {
            let at = drawn[permille * drawn.len() / 1000];
            assert!(at.abs_diff(expected) * 100 < expected, "p{permille}: {at}, not {expected}");
        }
        assert!(drawn[0] >= Latency::log_normal(14_000_000, 280).ns_min());
    }

    #[test]
    fn tail_has_its_share_and_its_range() {
        let latency = Latency::constant(1_000).with_tail(5_000, 100_000, 1_000_000);
        let drawn = sorted(latency);
        let tail: Vec<u64> = drawn.iter().copied().filter(|ns| *ns != 1_000).collect();
        assert!((900..1_100).contains(&tail.len()), "{}", tail.len());
        assert!(tail.iter().all(|ns| (100_000..=1_000_000).contains(ns)));
    }

    #[test]
    fn same_request_same_luck() {
        let draw = |seed| Draw::new(Latency::log_normal(1_000_000, 500), Luck::new(seed)).of(17);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
