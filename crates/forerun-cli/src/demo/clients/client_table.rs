//! The table of clients.

use crate::demo::markdown::figure;
use crate::demo::programs::{Contender, ProgramTable, Summary, mb_s_cell};

pub(super) const CLIENT_TABLE: ProgramTable = ProgramTable {
    header: &[
        "client",
        "by",
        "seconds",
        "MB/s",
        "× direct",
        "sent ÷ asked",
        "peak MB",
        "store s",
        "server s",
        "client s",
    ],
    by,
    speed,
};

/// The name of a contender. Forerun is here in two of them.
pub(super) fn by(contender: Contender) -> &'static str {
    if contender == Contender::Forerun { "`forerun mount`" } else { contender.title() }
}

fn speed(summary: &Summary, each: &[(Contender, Summary)]) -> Vec<String> {
    let direct = each.iter().find(|(contender, _)| *contender == Contender::Direct);
    let direct = direct.and_then(|(_, summary)| summary.seconds);
    let times_direct = summary.seconds.zip(direct).map(|(own, direct)| direct / own);
    vec![mb_s_cell(summary), figure(times_direct, 2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_compared_with_those_of_the_store() {
        let summary =
            |seconds| Summary { seconds: Some(seconds), touched: Some(1_000_000_000), ..Summary::default() };
        let both = [(Contender::Served, summary(2.5)), (Contender::Direct, summary(10.0))];
        assert_eq!(speed(&both[0].1, &both), ["400", "4.00"]);
        assert_eq!(speed(&both[1].1, &both), ["100", "1.00"]);
        assert_eq!(speed(&both[0].1, &both[..1]), ["400", ""]);
        assert_eq!(speed(&Summary::default(), &both), ["", ""]);
        assert_eq!([Contender::Forerun, Contender::Served].map(by), ["`forerun mount`", "`forerun serve`"]);
    }
}
