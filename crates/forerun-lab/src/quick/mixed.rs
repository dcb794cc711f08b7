//! Workloads that are made of a number.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::Mixed;
use forerun_sim::world::World;

use super::{Place, Score, seeds};
use crate::error::Error;

/// The cost of a read for its reader besides waiting, in nanoseconds.
const READ_COST_NS: u64 = 2000;

/// The workload of `seed` under `policy`.
pub(super) fn run(seed: u64, device: &Preset, memory_bytes: u64, policy: PolicyKind) -> Result<Score, Error> {
    let place = Place {
        device: device.name().to_owned(),
        is_mixed: true,
        workload: format!("mixed {seed}"),
        memory_bytes,
    };
    let workload = Mixed::new(seed);
    let run = |seed| {
        let config = Config { policy: policy.into(), ..Config::new(memory_bytes) };
        let world = World::new(config, device.build(seed))?.read_cost_ns(READ_COST_NS);
        world.run(&mut workload.source()).map_err(|stuck| Error::Stuck {
            cell: format!("{} on {}, {}", place.workload, place.device, policy.name()),
            stuck,
        })
    };
    let runs = seeds(device).map(run).collect::<Result<Vec<_>, _>>()?;
    Ok(place.of(policy, &runs))
}
