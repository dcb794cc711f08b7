//! What goes wrong with one request, and which errors that explains.

use std::time::Duration;

use forerun::ErrorKind;

use crate::random::Random;

/// How long a peer is silent before the client below the seam fails the request.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// One request's fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nobody takes the connection.
    Refuse,
    /// The connection breaks before the answer.
    Reset,
    /// No answer comes.
    Silence,
    /// The answer takes so many milliseconds more.
    Late(u64),
    /// The server refuses with this status, and names a time to come back or not.
    Status(u16, Option<u64>),
    /// The connection breaks after this share of the body, in thousandths.
    Cut(u64),
    /// The body ends there as if that were all.
    Short(u64),
    /// Nothing more comes from there on.
    Stall(u64),
    /// So many bytes come each second.
    Trickle(u64),
    /// The body goes on past its end.
    Long,
    /// The server sends other bytes than the ones asked for, and says so.
    Shift,
    /// It reports another size.
    Size,
    /// It says another length of the body than its part has.
    Length,
    /// It names another version each time.
    Tag,
    /// It sends the whole object.
    Whole,
    /// It says that the body is compressed.
    Compress,
    /// It redirects to another server that has the same.
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
    /// The kinds of error that may come of it.
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
            // A listing that seems whole lacks entries.
            Fault::Short(_) => &[Transient, Permanent, NotFound, NotADirectory, NoRange],
            // A body of no said length does not tell a size.
            Fault::Long => &[Permanent, NoRange],
            Fault::Compress => &[Permanent],
            // What it says of the size may be taken for another version.
            Fault::Shift | Fault::Length => &[Changed, Permanent],
            Fault::Size => &[Changed, Permanent, Transient],
            Fault::Tag => &[Changed],
            Fault::Whole => &[NoRange, Permanent],
            // Object stores are never followed elsewhere. A circle of late answers takes too long.
            Fault::Circle => &[Permanent, Invalid, Transient],
            // A page of links where there is nothing makes that a directory.
            Fault::Nonsense => &[Permanent, NotFound, NotADirectory, Invalid],
        }
    }
}

/// Which requests meet which faults.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    random: Random,
    /// Of a thousand requests.
    per_mille: u64,
    kinds: Vec<Fault>,
    /// From when to when the server is away, and how that looks.
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

    /// What becomes of a request that is sent `now`.
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
