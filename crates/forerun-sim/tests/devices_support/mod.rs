//! Driving a device in virtual time.
#![allow(dead_code, reason = "each test uses some of it")]

use forerun_sim::device::{Device, Direction, Notice, Preset, Request, RequestId, Time};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;

pub(crate) fn preset(name: &str) -> Box<dyn Device> {
    Preset::from_name(name).unwrap().build(1)
}

pub(crate) fn read(id: u64, address: u64, len: u64) -> Request {
    Request { id: RequestId(id), address, len, direction: Direction::Read, issuer: 0, urgent: true }
}

pub(crate) fn write(id: u64, address: u64, len: u64) -> Request {
    Request { direction: Direction::Write, ..read(id, address, len) }
}

/// Submits each request at its time and runs to the end: when each was done, by its id.
pub(crate) fn open_loop(device: &mut dyn Device, requests: &[(u64, Request)]) -> Vec<u64> {
    let mut done = vec![0; requests.len()];
    let mut notices = Vec::new();
    let mut requests = requests.iter().peekable();
    loop {
        let due = requests.peek().map(|(time, _)| Time(*time));
        let Some(now) = due.into_iter().chain(device.next_time()).min() else { return done };
        device.advance(now, &mut notices);
        for notice in notices.drain(..) {
            if let Notice::Done { id } = notice {
                assert_eq!(std::mem::replace(&mut done[id.0 as usize], now.0), 0, "done twice");
            }
        }
        if let Some((_, request)) = requests.next_if(|(time, _)| *time <= now.0) {
            device.submit(now, *request);
        }
    }
}

/// Keeps `depth` of `requests` at the device: how long each took, and when all were done.
pub(crate) fn closed_loop(device: &mut dyn Device, requests: &[Request], depth: usize) -> (Vec<u64>, u64) {
    let (mut took, mut submitted) = (vec![0; requests.len()], vec![0; requests.len()]);
    let (mut now, mut next, mut left) = (Time(0), 0, requests.len());
    let mut notices = Vec::new();
    while left > 0 {
        while next < requests.len() && next + left < requests.len() + depth {
            submitted[requests[next].id.0 as usize] = now.0;
            device.submit(now, requests[next]);
            next += 1;
        }
        now = device.next_time().expect("something is under way");
        device.advance(now, &mut notices);
        for notice in notices.drain(..) {
            if let Notice::Done { id } = notice {
                took[id.0 as usize] = now.0 - submitted[id.0 as usize];
                left -= 1;
            }
        }
    }
    (took, now.0)
}

/// `count` reads of `len` bytes that follow each other.
pub(crate) fn sequential(count: u64, len: u64) -> Vec<Request> {
    (0..count).map(|index| read(index, index * len, len)).collect()
}

/// `count` reads of 4 KiB anywhere below `capacity`.
pub(crate) fn random(count: u64, capacity: u64) -> Vec<Request> {
    let mut numbers = forerun_trace::generate::Numbers::new(3);
    (0..count).map(|index| read(index, numbers.below(capacity / 4096) * 4096, 4096)).collect()
}

pub(crate) fn mean(values: &[u64]) -> u64 {
    values.iter().sum::<u64>() / values.len() as u64
}

pub(crate) fn median(values: &[u64]) -> u64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    values[values.len() / 2]
}

#[track_caller]
pub(crate) fn assert_near(value: u64, expected: u64, percent: u64) {
    assert!(
        value.abs_diff(expected) * 100 <= expected * percent,
        "{value} is not within {percent} % of {expected}"
    );
}
