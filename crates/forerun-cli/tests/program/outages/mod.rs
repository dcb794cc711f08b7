//! An upstream that is killed, or hangs, while clients read through `forerun serve`. Each read ends in the right
//! bytes or in a clear error, and reads are right again once the upstream is back.

mod load;
mod reads;
mod servers;

use std::thread;
use std::time::{Duration, Instant};

use load::under_load;
use nfs3_types::nfs3::nfsstat3;
use reads::{Answer, Ended, Reader};
use servers::{Servers, Upstream};

use super::nfs_client::bytes_of;

const PART: usize = 1 << 20;
/// A retry timeout that a test can wait for.
const PATIENCE: &str = "3s";
/// A read asks for the size and then for the bytes, and each is tried for [`PATIENCE`]. The rest is for a busy machine.
const REFUSED_WITHIN: Duration = Duration::from_secs(6 + 10);
/// A connection that says nothing is given up after 10 s. The last try may begin just before the patience is over.
const SILENCE_ENDS_WITHIN: Duration = Duration::from_secs(2 * (3 + 10) + 10);

const BEFORE: usize = 0;
const BACK: usize = 2;

/// An outage of the upstream of a server with little patience.
fn outage(away: fn(&mut Upstream), back: fn(&mut Upstream), within: Duration) {
    let mut upstream = Upstream::start();
    let servers = Servers::start(&upstream, PATIENCE);
    let bytes = upstream.bytes.clone();
    let reads = under_load(&servers, &bytes, |load| {
        load.wait(3, |ended| ended == Ended::Right);
        load.next_phase();
        away(&mut upstream);
        load.wait(2, |ended| ended != Ended::Right);
        back(&mut upstream);
        load.next_phase();
        load.wait(5, |ended| ended == Ended::Right);
    });
    for read in &reads {
        assert!(read.took < within, "it hung: {read:?}");
        let must_be_right = read.phases == (BEFORE, BEFORE) || read.phases.0 == BACK;
        assert!(!must_be_right || read.ended == Ended::Right, "{read:?}");
    }
    for said in servers.end() {
        assert!(said.contains("gave up after"), "{said}");
    }
}

#[test]
fn readers_of_a_killed_upstream_get_errors_until_it_is_back() {
    outage(Upstream::kill, Upstream::start_again, REFUSED_WITHIN);
}

#[test]
fn readers_of_an_upstream_that_hangs_get_errors_until_it_answers() {
    outage(|upstream| upstream.stop(), |upstream| upstream.resume(), SILENCE_ENDS_WITHIN);
}

#[test]
fn readers_wait_for_an_upstream_that_is_soon_back() {
    let mut upstream = Upstream::start();
    let servers = Servers::start(&upstream, "60s");
    let bytes = upstream.bytes.clone();
    let reads = under_load(&servers, &bytes, |load| {
        for _ in 0..2 {
            load.wait(3, |ended| ended == Ended::Right);
            load.next_phase();
            upstream.kill();
            // The outage lasts.
            thread::sleep(Duration::from_secs(2));
            upstream.start_again();
        }
        load.wait(5, |ended| ended == Ended::Right);
    });
    assert!(reads.iter().all(|read| read.ended == Ended::Right), "{reads:?}");
    servers.end();
}

/// Answers whose heads and first bytes are there when the upstream goes away.
fn begun(away: fn(&mut Upstream), back: fn(&mut Upstream)) {
    let mut upstream = Upstream::start();
    let servers = Servers::start(&upstream, PATIENCE);
    let bytes = upstream.bytes.clone();
    let targets = servers.targets();
    let begin = |(address, path): &(String, &str)| Answer::begin(address, path, "");
    let mut answers: Vec<Answer> = targets.iter().map(begin).collect();
    answers.iter_mut().for_each(|answer| answer.take(PART));
    away(&mut upstream);
    let began = Instant::now();
    thread::scope(|scope| {
        answers.iter_mut().for_each(|answer| drop(scope.spawn(|| answer.take(usize::MAX))))
    });
    assert!(began.elapsed() < SILENCE_ENDS_WITHIN, "it took {:?}", began.elapsed());
    for (answer, target) in answers.iter().zip(&targets) {
        assert_eq!((answer.status, answer.ended(&bytes)), (200, Ended::Cut), "{target:?}");
    }
    back(&mut upstream);
    for target in &targets {
        let mut answer = begin(target);
        answer.take(usize::MAX);
        assert_eq!(answer.ended(&bytes), Ended::Right, "{target:?}");
    }
}

#[test]
fn an_answer_that_has_begun_is_cut_and_never_looks_complete() {
    begun(Upstream::kill, Upstream::start_again);
    begun(|upstream| upstream.stop(), |upstream| upstream.resume());
}

/// The server owes more replies than it keeps for a client. It reads them again once the client takes them.
#[test]
fn replies_of_nfs_that_are_owed_are_right_or_errors() {
    let mut upstream = Upstream::start();
    let servers = Servers::start(&upstream, PATIENCE);
    let bytes = upstream.bytes.clone();
    let Some(Reader::Nfs { mut client, file }) = servers.readers().pop() else { panic!("it is of NFS") };
    let sent: Vec<u32> =
        (0..24).map(|part| client.send_read(&file, (part * PART) as u64, PART as u32)).collect();
    // Bytes that a client does not take go back to the engine after 50 ms. Nothing tells from outside that they did.
    thread::sleep(Duration::from_secs(1));
    upstream.kill();
    let began = Instant::now();
    let (mut right, mut refused) = (0, 0);
    // Without a reply the connection has ended, which is an error as well.
    while right + refused < sent.len()
        && let Ok((xid, reply)) = client.next()
    {
        let part = sent.iter().position(|sent| *sent == xid).unwrap() * PART;
        match bytes_of(&reply) {
            Ok(read) => {
                assert!(read == bytes[part..part + PART]);
                right += 1;
            }
            Err(status) => {
                assert_eq!(status, nfsstat3::NFS3ERR_IO);
                refused += 1;
            }
        }
    }
    assert!(right < sent.len(), "nothing was owed");
    // Replies do not wait one after the other.
    assert!(began.elapsed() < REFUSED_WITHIN, "it took {:?}", began.elapsed());
    upstream.start_again();
    let mut readers = servers.readers();
    for reader in &mut readers {
        assert_eq!(reader.read(&bytes, 0..PART), Ended::Right);
    }
}
