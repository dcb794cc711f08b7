//! Faults of requests, and the errors that they explain.

use std::time::Duration;

use forerun::ErrorKind;

use crate::random::Random;

/// The silence after which the HTTP client fails a request.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// A fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is refused.
    Refuse,
    /// The connection breaks before the answer.
    Reset,
    /// No answer comes.
    Silence,
    /// The answer takes this many milliseconds more.
    Late(u64),
    /// The server refuses with this status, and may name a time to come back.
    Status(u16, Option<u64>),
    /// The connection breaks after this share of the body, in thousandths.
    Cut(u64),
    /// The body ends there without an error.
    Short(u64),
    /// No further byte comes.
    Stall(u64),
    /// Bytes of the body that arrive each second.
    Trickle(u64),
    /// The body goes on past its end.
    Long,
    /// The server sends other bytes than those asked for, and labels them so.
    Shift,
    /// It reports another size.
    Size,
    /// It states another length of the body than that of its part.
    Length,
    /// It names another version each time.
    Tag,
    /// It sends the whole object.
    Whole,
    /// It says that the body is compressed.
    Compress,
    /// It redirects to another server with the same object.
    Elsewhere,
    /// It redirects in a circle.
    Circle,
    /// The listing names the same next page again, or is no listing.
    Nonsense,
}

/// All kinds, each with a usual strength.
fn kinds(random: &mut Random) -> Vec<Fault> {
    let share = random.within(0..1000);
    let retry_after = random.chance(500).then(|| random.within(0..8));
    vec![
        Fault::Refuse,
        Fault::Reset,
        Fault::Silence,
        Fault::Late(random.within(1..9000)),
        Fault::Status(random.pick(&[429, 503]), retry_after),
        Fault::Status(random.pick(&[408, 500, 502, 504]), None),
        Fault::Status(random.pick(&[403, 404]), None),
        Fault::Cut(share),
        Fault::Short(share),
        Fault::Stall(share),
        Fault::Trickle(random.pick(&[1, 40, 300, 50_000, 1_000_000])),
        Fault::Long,
        Fault::Shift,
        Fault::Size,
        Fault::Length,
        Fault::Tag,
        Fault::Whole,
        Fault::Compress,
        Fault::Elsewhere,
        Fault::Circle,
        Fault::Nonsense,
    ]
}

impl Fault {
    /// The kinds of errors that it explains.
    pub(crate) fn explains(self) -> &'static [ErrorKind] {
        use ErrorKind::{
            Busy, Changed, Denied, Invalid, NoRange, NotADirectory, NotFound, Permanent, Transient,
            Unreachable,
        };
        match self {
            Fault::Late(_) | Fault::Elsewhere => &[],
            Fault::Refuse => &[Unreachable],
            Fault::Reset | Fault::Silence | Fault::Cut(_) | Fault::Stall(_) | Fault::Trickle(_) => {
                &[Transient]
            }
            Fault::Status(403, _) => &[Denied],
            Fault::Status(404, _) => &[NotFound],
            Fault::Status(429 | 503, _) => &[Busy],
            Fault::Status(..) => &[Transient],
            // A listing that seems complete lacks entries.
            Fault::Short(_) => &[Transient, Permanent, NotFound, NotADirectory, NoRange],
            // A body of unknown length does not tell a size.
            Fault::Long => &[Permanent, NoRange],
            Fault::Compress => &[Permanent],
            // The wrong size may be taken for another version.
            Fault::Shift | Fault::Length => &[Changed, Permanent],
            Fault::Size => &[Changed, Permanent, Transient],
            Fault::Tag => &[Changed],
            Fault::Whole => &[NoRange, Permanent],
            // Redirects of object stores are never followed. A circle of late answers takes too
            // long.
            Fault::Circle => &[Permanent, Invalid, Transient],
            // A page of links in place of nothing looks like a directory.
            Fault::Nonsense => &[Permanent, NotFound, NotADirectory, Invalid],
        }
    }
}

/// Chooses the requests that meet faults, and their faults.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    random: Random,
    /// Of a thousand requests.
    per_mille: u64,
    kinds: Vec<Fault>,
    /// The span of an outage, and its fault.
    outage: Option<(Duration, Duration, Fault)>,
}

impl Faults {
    pub(crate) fn none() -> Faults {
        Faults { random: Random::new(0), per_mille: 0, kinds: Vec::new(), outage: None }
    }

    pub(crate) fn new(random: &mut Random) -> Faults {
        let all = kinds(random);
        let count = random.pick(&[1, 1, 2, 3, all.len() as u64]);
        let kinds = (0..count).map(|_| random.pick(&all)).collect();
        let per_mille = random.pick(&[0, 20, 100, 100, 300, 600]);
        let outage = (per_mille == 0 || random.chance(150)).then(|| {
            let from = Duration::from_millis(random.within(0..5000));
            let len = Duration::from_millis(random.pick(&[100, 3000, 20_000, 3_600_000]));
            let gone = [Fault::Refuse, Fault::Silence, Fault::Status(503, None), Fault::Status(429, Some(3))];
            (from, from + len, random.pick(&gone))
        });
        Faults { random: random.fork(), per_mille, kinds, outage }
    }

    /// The fault of a request that is sent at `now`.
    pub(crate) fn draw(&mut self, now: Duration) -> Option<Fault> {
        if let Some((from, to, fault)) = self.outage
            && (from..to).contains(&now)
        {
            return Some(fault);
        }
        let is_hit = self.per_mille > 0 && self.random.chance(self.per_mille);
        is_hit.then(|| self.random.pick(&self.kinds))
    }
}
