//! All policies in the engine: their windows, the rules that fetch and keep them, and any calls in any order.
//! The calls are checked against the model of the engine's own tests.

#[path = "../../../forerun-engine/tests/properties/bytes.rs"]
mod bytes;
#[path = "../../../forerun-engine/tests/support/calls.rs"]
mod calls;
mod historic;
#[path = "../../../forerun-engine/tests/properties/limits.rs"]
mod limits;
#[path = "../../../forerun-engine/tests/properties/model.rs"]
mod model;
#[path = "../../../forerun-trace/tests/support/property.rs"]
mod property;
#[path = "../../../forerun-engine/tests/support/script.rs"]
mod script;
mod windows;

use calls::calls;
use forerun_policies::PolicyKind;
use limits::*;
use model::Model;
use proptest::prelude::*;

proptest! {
    #![proptest_config(property::config(1000))]

    #[test]
    fn any_calls_keep_every_promise(
        calls in calls(),
        policy in 0..PolicyKind::ALL.len(),
        extra_bytes in prop_oneof![Just(0), 1..4_000_000u64],
        step_ns in prop_oneof![Just(1000), Just(2_000_000)],
        base in 0..BASES.len(),
    ) {
        let mut model = Model::new(PolicyKind::ALL[policy].into(), extra_bytes, step_ns, BASES[base]);
        for call in calls {
            model.call(call);
        }
        model.settle();
    }
}
