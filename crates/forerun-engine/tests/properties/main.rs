//! Calls in any order, checked against a model that is too simple to be wrong. Every slot remembers which
//! version of which block it holds.

mod bytes;
#[path = "../support/calls.rs"]
mod calls;
mod limits;
mod model;
#[path = "../support/others.rs"]
mod others;
#[path = "../../../forerun-trace/tests/support/property.rs"]
mod property;

use calls::{Call, calls, far_calls};
use forerun_engine::PolicyChoice;
use limits::*;
use model::Model;
use proptest::prelude::*;

/// The engine's own policies, and others under all rules.
const POLICIES: [PolicyChoice; 5] =
    [PolicyChoice::Adaptive, PolicyChoice::None, others::KERNEL, others::LIBRBD, others::OWN];

proptest! {
    #![proptest_config(property::config(1500))]

    #[test]
    fn any_calls_keep_every_promise(
        calls in calls(),
        policy in 0..POLICIES.len(),
        extra_bytes in prop_oneof![Just(0), 1..4_000_000u64],
        step_ns in prop_oneof![Just(1000), Just(2_000_000)],
        base in 0..BASES.len(),
    ) {
        let mut model = Model::new(POLICIES[policy], extra_bytes, step_ns, BASES[base]);
        for call in calls {
            model.call(call);
        }
        model.settle();
    }

    #[test]
    fn hedged_fetches_keep_every_invariant(
        calls in far_calls(),
        extra_bytes in 0..8_000_000u64,
    ) {
        let mut model = Model::new(PolicyChoice::Adaptive, extra_bytes, 2_000_000, 0);
        (0..2).for_each(|object| model.call(Call::Open(object)));
        for call in calls {
            model.call(call);
        }
        model.settle();
        let counters = model.engine.counters();
        let (made, again) = (counters.demand_count + counters.readahead_count, counters.repeated_count);
        prop_assert!(20 * again <= made + 20, "{again} of {made} were asked for again");
    }
}
