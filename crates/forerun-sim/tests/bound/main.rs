//! Brackets around the best possible time: that they are brackets, and how wide.

mod optimum;
mod properties;
#[path = "../../../forerun-trace/tests/support/shared.rs"]
mod recordings;
mod traces;

use forerun_sim::device::Device;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Placed, Source};

/// Numbers that are the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The actions of some programs, one after the other in each.
#[derive(Clone, Debug)]
struct Programs {
    objects: Vec<Placed>,
    actions: Vec<Vec<Action>>,
}

impl Programs {
    fn source(&self) -> Box<dyn Source + '_> {
        let client = |actions: &'_ Vec<Action>| Box::new(actions.clone().into_iter()) as Box<dyn Client>;
        Box::new(Clients::new(self.objects.clone(), self.actions.iter().map(client).collect()))
    }
}

fn read(object: u64, block: u64, blocks: u64) -> Action {
    Action::read(ObjectId(object), Extent::new(block * 4096, blocks * 4096))
}

type MakeDevice<'a> = &'a (dyn Fn() -> Box<dyn Device> + Sync);
