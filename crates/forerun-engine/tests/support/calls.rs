//! Random calls.

use proptest::prelude::*;

use super::{CLIENTS, OBJECTS, SIZE, SIZE_MAX};

#[derive(Clone, Debug)]
pub(crate) enum Call {
    Open(u64),
    Close(u64),
    Read {
        object: u64,
        offset: u64,
        len: u64,
    },
    ReadOn {
        object: u64,
        len: u64,
    },
    Release(usize),
    Abandon(usize),
    Progress {
        fetch: usize,
        percent: u64,
    },
    Fetched(usize),
    Failed(usize),
    Invalidate {
        object: u64,
        offset: u64,
        len: u64,
    },
    Resize {
        object: u64,
        size: u64,
    },
    Forget(u64),
    /// The memory is the least from now on, and this part of the rest.
    Memory {
        percent: u64,
    },
    /// A client has this weight from now on, and this rate, unless that is 0.
    Client {
        client: u64,
        weight: u32,
        bytes_per_s: u64,
    },
    List {
        directory: u64,
        class: u8,
    },
    Enter {
        directory: u64,
        index: u32,
    },
    /// The touched bytes of each step.
    Trail {
        touched: u64,
    },
    Step {
        place: u32,
    },
    Wait(u64),
    /// Until the engine wants to be asked again.
    Sleep,
    /// All fetches in flight end, but for one that is slow perhaps.
    Land {
        slow: usize,
    },
    Advise {
        object: u64,
        what: u64,
        extents: Vec<(u64, u64)>,
    },
}

pub(crate) fn calls() -> impl Strategy<Value = Vec<Call>> {
    let object = 0..OBJECTS;
    let call = prop_oneof![
        1 => object.clone().prop_map(Call::Open),
        1 => object.clone().prop_map(Call::Close),
        6 => (object.clone(), 0..SIZE + 9000, 0..200_000u64)
            .prop_map(|(object, offset, len)| Call::Read { object, offset, len }),
        12 => (object.clone(), 1..200_000u64).prop_map(|(object, len)| Call::ReadOn { object, len }),
        9 => any::<usize>().prop_map(Call::Release),
        1 => any::<usize>().prop_map(Call::Abandon),
        6 => (any::<usize>(), 0..110u64).prop_map(|(fetch, percent)| Call::Progress { fetch, percent }),
        9 => any::<usize>().prop_map(Call::Fetched),
        2 => any::<usize>().prop_map(Call::Failed),
        1 => (object.clone(), 0..SIZE, 0..SIZE)
            .prop_map(|(object, offset, len)| Call::Invalidate { object, offset, len }),
        1 => (object.clone(), 0..SIZE_MAX).prop_map(|(object, size)| Call::Resize { object, size }),
        1 => object.clone().prop_map(Call::Forget),
        1 => (0..=100u64).prop_map(|percent| Call::Memory { percent }),
        1 => (0..CLIENTS, 0..9u32, prop_oneof![Just(0), Just(1), Just(1_000_000_000)])
            .prop_map(|(client, weight, bytes_per_s)| Call::Client { client, weight, bytes_per_s }),
        1 => (0..2u64, 0..3u8).prop_map(|(directory, class)| Call::List { directory, class }),
        6 => (0..2u64, 0..2 * OBJECTS as u32)
            .prop_map(|(directory, index)| Call::Enter { directory, index }),
        1 => prop_oneof![Just(4096u64), 0..1_000_000u64].prop_map(|touched| Call::Trail { touched }),
        6 => (0..crate::STEPS).prop_map(|place| Call::Step { place }),
        2 => (0..40_000_000_000u64).prop_map(Call::Wait),
        4 => Just(Call::Sleep),
        4 => any::<usize>().prop_map(|slow| Call::Land { slow }),
        2 => (0..OBJECTS, 0..6u64, prop::collection::vec((0..SIZE + 9000, 0..500_000u64), 1..6))
            .prop_map(|(object, what, extents)| Call::Advise { object, what, extents }),
    ];
    prop::collection::vec(call, 1..400)
}

/// Those of a store far away of which some fetches are slow.
#[allow(dead_code, reason = "a test needs only some")]
pub(crate) fn far_calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        8 => (0..2u64, 1..200_000u64).prop_map(|(object, len)| Call::ReadOn { object, len }),
        2 => (0..2u64, 0..SIZE, 0..200_000u64)
            .prop_map(|(object, offset, len)| Call::Read { object, offset, len }),
        8 => any::<usize>().prop_map(Call::Release),
        8 => any::<usize>().prop_map(|slow| Call::Land { slow }),
        12 => Just(Call::Sleep),
        1 => any::<usize>().prop_map(Call::Abandon),
        1 => any::<usize>().prop_map(Call::Failed),
        1 => any::<usize>().prop_map(Call::Fetched),
        1 => (0..2u64, 0..SIZE, 0..SIZE)
            .prop_map(|(object, offset, len)| Call::Invalidate { object, offset, len }),
        1 => (0..2u64, 0..SIZE_MAX).prop_map(|(object, size)| Call::Resize { object, size }),
        1 => (0..2u64).prop_map(Call::Forget),
        1 => (0..=100u64).prop_map(|percent| Call::Memory { percent }),
        1 => (0..CLIENTS, 0..9u32, prop_oneof![Just(0), Just(1), Just(1_000_000_000)])
            .prop_map(|(client, weight, bytes_per_s)| Call::Client { client, weight, bytes_per_s }),
    ];
    prop::collection::vec(call, 100..600)
}
