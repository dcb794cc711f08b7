//! The table of attacks.

use clap::ValueEnum;

use super::mounted_store::{AttackOutcome, Kept};
use crate::demo::markdown;
use crate::demo::store::Attack;

const HEADER: [&str; 7] =
    ["attack", "same mount", "other mount", "kill, ms", "programs that ended", "peak MB", ""];

/// One line, to follow the measurement.
pub(super) fn line(attack: Option<Attack>, outcome: &AttackOutcome) -> String {
    let [name, same, other, kill, ..] = cells(attack, outcome);
    format!("{name}: same mount {same}, other mount {other}, killed within {kill} ms")
}

pub(super) fn report(outcomes: &[(Option<Attack>, AttackOutcome)]) -> String {
    let rows: Vec<_> = outcomes.iter().map(|(attack, outcome)| cells(*attack, outcome).to_vec()).collect();
    format!(
        "\n{}\nThe shares are of 100 MB/s, which a reader of another file on the same mount and one on \
         another mount ask for.\n`kill` is the longest time that one of three programs took to end.\n",
        markdown::render(&HEADER.map(str::to_owned), &rows)
    )
}

fn cells(attack: Option<Attack>, outcome: &AttackOutcome) -> [String; 7] {
    let name = attack.and_then(|attack| attack.to_possible_value());
    [
        name.map_or_else(|| "none".to_owned(), |name| name.get_name().to_owned()),
        share(outcome.same_mount),
        share(outcome.other_mount),
        outcome.kill.as_millis().to_string(),
        outcome.ended.to_string(),
        format!("{:.0}", outcome.memory_peak as f64 / 1e6),
        if outcome.holds() { "pass" } else { "FAIL" }.to_owned(),
    ]
}

fn share(kept: Kept) -> String {
    format!("{:.2}{}", kept.share, if kept.is_right { "" } else { " WRONG BYTES" })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_limit_counts() {
        let kept = Kept { share: 0.97, is_right: true };
        let good = AttackOutcome {
            same_mount: kept,
            other_mount: kept,
            kill: Duration::from_millis(3),
            ended: 0,
            memory_peak: 5_000_000,
        };
        let table = report(&[(None, good), (Some(Attack::SlowBody), good)]);
        assert!(table.contains("| slow-body |       0.97 |"), "{table}");
        assert!(!table.contains("FAIL"), "{table}");
        let slow = Kept { share: 0.89, ..kept };
        let wrong = Kept { is_right: false, ..kept };
        for bad in [
            AttackOutcome { same_mount: slow, ..good },
            AttackOutcome { other_mount: slow, ..good },
            AttackOutcome { same_mount: wrong, ..good },
            AttackOutcome { other_mount: wrong, ..good },
            AttackOutcome { kill: Duration::from_millis(1001), ..good },
        ] {
            assert!(report(&[(None, bad)]).contains("FAIL"), "{bad:?}");
        }
    }
}
