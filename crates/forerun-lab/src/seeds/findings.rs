//! The findings of an experiment: tables, and the claims about them.

use std::fmt;

use crate::table::{Column, Table};

/// The findings of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The tables.
    pub tables: Vec<Table>,
    /// The claims about them.
    pub claims: Vec<Claim>,
}

/// Something that was to be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The claim, with the figure of the document and the band.
    pub what: String,
    /// The figure that was seen.
    pub seen: String,
    /// Whether it holds.
    pub verdict: Ruling,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It does.
    Holds,
    /// It does not, and why.
    Fails(&'static str),
}

impl Claim {
    /// A number that lies in `low ..= high`; `why` it does not, if that is known.
    pub fn within(what: impl Into<String>, seen: f64, low: f64, high: f64, why: &'static str) -> Claim {
        let verdict = if (low..=high).contains(&seen) { Ruling::Holds } else { Ruling::Fails(why) };
        let what = format!("{}: {low:.2} to {high:.2}", what.into());
        Claim { what, seen: format!("{seen:.3}"), verdict }
    }

    /// Something that is so or not; `why` it is not, if that is known.
    pub fn that(what: impl Into<String>, seen: impl Into<String>, holds: bool, why: &'static str) -> Claim {
        let verdict = if holds { Ruling::Holds } else { Ruling::Fails(why) };
        Claim { what: what.into(), seen: seen.into(), verdict }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in &self.tables {
            writeln!(f, "{table:#}")?;
        }
        let mut claims = Table::new(["claim", "seen", "verdict"].map(Column::word));
        for claim in &self.claims {
            let verdict = match claim.verdict {
                Ruling::Holds => "holds".to_owned(),
                Ruling::Fails(why) => format!("does not hold: {why}"),
            };
            claims.row([claim.what.clone(), claim.seen.clone(), verdict]);
        }
        write!(f, "{claims:#}")
    }
}
