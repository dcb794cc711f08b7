//! Reads that are awaited, and leases that are kept.

use forerun::{Extent, Forerun};
use futures::FutureExt;
use futures::executor::block_on;

use crate::gate::{gate, over, pattern, plain, until};

const MIB: usize = 1 << 20;

#[test]
fn an_awaited_read_brings_the_bytes_on_any_executor() {
    let source = pattern(64 << 10);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let reader = block_on(forerun.open("a")).unwrap();
    let mut buf = [0; 1000];
    let mut read = Box::pin(reader.read_at(&mut buf, 5000));
    assert!(read.as_mut().now_or_never().is_none());
    requests.next().send_all();
    assert_eq!(block_on(read).unwrap(), 1000);
    assert_eq!(buf[..], source[5000..6000]);
    assert_eq!(reader.read_at(&mut buf, 5001).now_or_never().unwrap().unwrap(), 1000);
    assert_eq!(buf[..], source[5001..6001]);
}

#[test]
fn a_read_that_is_dropped_holds_nothing() {
    let (gate, requests) = gate("a", pattern(8 * MIB));
    let forerun = Forerun::over(gate, plain().with_memory_bytes(4 << 20)).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    // More than the memory holds: if one kept its memory, a later one would never be fetched.
    for half in 0..16 {
        let extent = Extent::new((half * MIB / 2) as u64, MIB as u64 / 2);
        let mut lease = Box::pin(reader.lease(extent.offset, extent.len as usize));
        assert!(lease.as_mut().now_or_never().is_none());
        let requests = requests.bringing(extent.len);
        if half % 2 == 0 {
            // This one has its answer, which nobody has looked at.
            requests.into_iter().for_each(|request| request.send_all());
            until(|| reader.peek(extent, |_| ()).is_some());
        }
        drop(lease);
        assert!(forerun.memory_bytes() <= 4 << 20);
    }
}

#[test]
fn a_read_that_is_dropped_while_it_waits_for_memory_is_not_fetched() {
    let (gate, requests) = gate("a", pattern(8 * MIB));
    let forerun = Forerun::over(gate, plain().with_memory_bytes(4 << 20)).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let lease = |index: u64| {
        let mut lease = Box::pin(reader.lease(index << 20, MIB));
        assert!(lease.as_mut().now_or_never().is_none());
        lease
    };
    let holds: Vec<_> = (0..4).map(lease).collect();
    requests.bringing(4 << 20).into_iter().for_each(|request| request.send_all());
    let leases: Vec<_> = holds.into_iter().map(|lease| block_on(lease).unwrap()).collect();

    drop(lease(4));
    let next = lease(5);
    drop(leases);
    assert!(requests.next().extent.start >= 5 << 20, "nobody wants the bytes before these any more");
    drop(next);
}

#[test]
fn leases_stay_valid_within_the_budget_and_release_their_memory() {
    let source = pattern(8 * MIB);
    let (gate, requests) = gate("a", source.clone());
    let forerun = Forerun::over(gate, plain().with_memory_bytes(4 << 20)).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let lease = |index: usize| {
        let mut lease = Box::pin(reader.lease((index * MIB) as u64, MIB));
        assert!(lease.as_mut().now_or_never().is_none());
        requests.bringing(MIB as u64).into_iter().for_each(|request| request.send_all());
        block_on(lease).unwrap()
    };
    let mut leases: Vec<_> = (0..4).map(lease).collect();
    assert_eq!(forerun.memory_bytes(), 4 << 20);

    let mut waits = Box::pin(reader.lease(7 << 20, MIB));
    assert!(waits.as_mut().now_or_never().is_none());
    assert!(requests.ready().is_none(), "there is no memory for its bytes");
    for (index, lease) in leases.iter().enumerate() {
        assert!(*lease.to_contiguous() == source[index * MIB..][..MIB]);
    }

    let bytes = leases.remove(0).into_bytes();
    std::thread::spawn(move || drop(leases)).join().unwrap();
    requests.bringing(MIB as u64).into_iter().for_each(|request| request.send_all());
    assert!(*block_on(waits).unwrap().to_contiguous() == source[7 * MIB..]);
    assert!(forerun.memory_bytes() <= 4 << 20);
    drop((reader, forerun));
    assert!(bytes.concat() == source[..MIB], "bytes outlive the reader");
}
