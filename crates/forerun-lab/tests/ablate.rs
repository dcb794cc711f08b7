//! Every rule can be switched off, and the table says what that costs.

use forerun_lab::gates::generated;
use forerun_lab::quick::Survey;
use forerun_lab::quick::ablate::{Rule, effects, table};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;

/// Rules that cost something measurable on these few rows.
const CARRYING: [Rule; 3] = [Rule::Strides, Rule::Regions, Rule::Disorder];

const ROWS: [&str; 3] = ["gen strided 4K of 64K", "gen random 4K of 64M", "gen displaced by 8"];

// One test: the switches are those of the process.
#[test]
fn readers_get_their_bytes_without_any_one_rule() {
    let mut cases = generated();
    cases.retain(|case| ROWS.contains(&case.workload.name()));
    let devices = ["demo", "ide-2006"].map(|name| Preset::from_name(name).unwrap()).to_vec();
    let plan = Survey { cases, mixed: 1, devices, policies: vec![PolicyKind::Adaptive] };
    let effects = effects(&plan, Rule::ALL, |_| {}).unwrap();
    assert_eq!(effects.len(), Rule::ALL.len());
    for rule in CARRYING {
        let effect = effects.iter().find(|effect| effect.rule == rule).unwrap();
        assert!(effect.gates.mean > 1.01, "{effect:?}");
        let line = table(&effects).to_string();
        assert!(line.contains(rule.name()), "{line}");
    }
    let again = self::effects(&plan, &[Rule::Strides], |_| {}).unwrap();
    assert_eq!(again[0], effects[Rule::Strides as usize], "a rule that was off is on again");
}
