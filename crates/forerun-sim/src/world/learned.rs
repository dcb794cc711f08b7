//! The profiles and the trail of an earlier run, for the engine of this one.

use std::collections::HashMap;

use forerun_engine::{Engine, Extent, ObjectId, Time};

use crate::source::Placed;

/// Objects in the order in which they were read for the first time.
#[derive(Debug, Default)]
pub(super) struct Learned {
    steps: Vec<(ObjectId, Vec<Extent>)>,
    places: HashMap<ObjectId, u32>,
}

impl Learned {
    pub(super) fn new(profiles: impl IntoIterator<Item = (ObjectId, Vec<Extent>)>) -> Learned {
        let steps: Vec<_> = profiles.into_iter().collect();
        let places = steps.iter().zip(0..).map(|((object, _), place)| (*object, place)).collect();
        Learned { steps, places }
    }

    /// Tells `engine` of the trail.
    pub(super) fn tell(&self, engine: &mut Engine) {
        let touched = |extents: &[Extent]| extents.iter().map(|extent| extent.len).sum::<u64>();
        engine.set_trail(self.steps.iter().map(|(_, extents)| touched(extents)));
    }

    /// `object` was opened.
    pub(super) fn open(&self, engine: &mut Engine, now: Time, object: ObjectId) {
        if let Some(place) = self.places.get(&object) {
            engine.plan(now, object, &self.steps[*place as usize].1);
            engine.enter_step(now, *place, object);
        }
    }

    /// Names the steps that `engine` wants to read ahead.
    pub(super) fn announce(&self, engine: &mut Engine, now: Time, placed: &[Placed]) {
        while let Some(place) = engine.poll_step() {
            let (object, extents) = &self.steps[place as usize];
            let size = placed[object.0 as usize].size;
            engine.announce_step(now, place, *object, size, extents);
        }
    }
}
