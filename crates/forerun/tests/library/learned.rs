//! Records of one run that the next one uses, and hints of programs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forerun::{Advice, ErrorKind, Extent, Forerun, Options};

use crate::gate::{Gate, Request, gate, pattern};

const LEN: usize = 16 << 10;
const SIZE: usize = 8 << 20;
/// Where it reads, in this order.
const PLACES: [u64; 5] = [5 << 20, 1 << 20, 7 << 20, 3 << 20, 6 << 20];

fn over(gate: &Arc<Gate>, profile: &Path) -> Forerun {
    let metadata_ttl = Duration::from_secs(3600);
    let options = Options::default().with_learn(Some(profile.to_owned())).with_metadata_ttl(metadata_ttl);
    Forerun::over(gate.clone(), options).unwrap()
}

#[test]
fn the_next_run_reads_ahead_what_this_one_read() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let source = pattern(SIZE);
    {
        let (gate, requests) = gate("a", source.clone());
        let forerun = over(&gate, &profile);
        assert!(profile.exists(), "made at once, so that it is told at once if it cannot be");
        let reader = forerun.open_blocking("a").unwrap();
        // On a busy machine, where waits are long, a fetch would bring more than the read.
        reader.advise(Advice::Random);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut buf = [0; LEN];
                PLACES.iter().for_each(|at| assert_eq!(reader.read_at_blocking(&mut buf, *at).unwrap(), LEN));
            });
            for at in PLACES {
                let request = requests.next();
                assert_eq!(request.extent, at..at + LEN as u64);
                request.send_all();
            }
        });
        forerun.save_learned().unwrap();
    }
    let text = fs::read_to_string(&profile).unwrap();
    assert!(!text.contains(folder.path().to_str().unwrap()), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");

    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate, &profile);
    let reader = forerun.open_blocking("a").unwrap();
    // Nobody has read anything yet.
    let mut places: Vec<u64> = PLACES
        .iter()
        .map(|_| requests.next())
        .map(|request| {
            let at = request.extent.start;
            request.send_all();
            at
        })
        .collect();
    places.sort_unstable();
    let mut expected = PLACES;
    expected.sort_unstable();
    assert_eq!(places, expected);
    let mut buf = [0; LEN];
    for at in PLACES {
        reader.read_at_blocking(&mut buf, at).unwrap();
        assert_eq!(buf, source[at as usize..][..LEN]);
    }
    assert_eq!(forerun.counters().demand_count, 0);
}

#[test]
fn the_next_run_reads_ahead_what_this_one_opened_later() {
    const COUNT: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    // In no order of their names.
    let path = |index: usize| format!("{}/f", index * 7 % COUNT);
    let bytes = |index: usize| pattern(4096 * (index + 1));
    let read = |forerun: &Forerun, index: usize| {
        let reader = forerun.open_blocking(&path(index)).unwrap();
        let mut buf = vec![0; 4096 * (index + 1)];
        assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap(), buf.len());
        buf
    };
    let fill = |gate: &Gate| (1..COUNT).for_each(|index| gate.objects.replace(&path(index), bytes(index)));
    {
        let (gate, requests) = gate(&path(0), bytes(0));
        fill(&gate);
        let forerun = over(&gate, &profile);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..COUNT).for_each(|index| assert_eq!(read(&forerun, index), bytes(index))));
            (0..COUNT).for_each(|_| requests.next().send_all());
        });
        forerun.save_learned().unwrap();
    }

    let (gate, requests) = gate(&path(0), bytes(0));
    fill(&gate);
    // One that has another version by now.
    let changed = vec![7; 4096 * 6];
    gate.objects.replace(&path(5), changed.clone());
    let forerun = over(&gate, &profile);
    let _first: Vec<_> = (0..2).map(|index| forerun.open_blocking(&path(index)).unwrap()).collect();
    // Nobody has opened the next ones yet; of the changed one the version that was learned is not there.
    // The one after it comes instead. They come in any order, since each is looked up by itself.
    let mut early: Vec<Request> = (0..6).map(|_| requests.next()).collect();
    early.sort_by_key(|request| request.extent.end);
    let sizes: Vec<u64> = early.iter().map(|request| request.extent.end).collect();
    assert_eq!(sizes, [1, 2, 3, 4, 5, 7].map(|blocks| 4096 * blocks));
    early.into_iter().for_each(Request::send_all);
    gate.until_stats(6);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for index in 0..COUNT {
                let expected = if index == 5 { changed.clone() } else { bytes(index) };
                assert_eq!(read(&forerun, index), expected);
            }
        });
        let rest = (5..COUNT).filter(|index| *index != 6);
        let mut left: u64 = rest.map(|index| 4096 * (index as u64 + 1)).sum();
        while left > 0 {
            let request = requests.next();
            left -= request.extent.end - request.extent.start;
            request.send_all();
        }
    });
    assert_eq!(forerun.counters().demand_count, 1, "that of the changed one");
}

#[test]
fn what_is_no_profile_is_left_alone_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("notes.txt");
    let (gate, _requests) = gate("a", pattern(LEN));
    for wrong in ["my notes\n", "forerun profile 1\nobject 4096 =1 =a\n0+4096\n"] {
        fs::write(&profile, wrong).unwrap();
        let options = Options::default().with_learn(Some(profile.clone()));
        let error = Forerun::over(gate.clone(), options).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        let text = error.to_string();
        for word in ["notes.txt is not a profile of Forerun", "in line ", "move that file away"] {
            assert!(text.contains(word), "{word} is not in {text}");
        }
        assert_eq!(fs::read_to_string(&profile).unwrap(), wrong);
    }
    let options = Options::default().with_learn(Some(folder.path().join("no/such/folder")));
    let error = Forerun::over(gate, options).unwrap_err().to_string();
    assert!(error.contains("cannot be written") && error.contains("no/such/folder"), "{error}");
}

#[test]
fn a_program_may_say_what_it_will_need() {
    let source = pattern(SIZE);
    let (gate, requests) = gate("a", source.clone());
    let forerun = Forerun::over(gate, Options::default()).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let wanted = PLACES.map(|at| Extent::new(at, LEN as u64));
    reader.advise(Advice::WillNeed(&wanted));
    let mut fetched: Vec<Extent> = Vec::new();
    for _ in wanted {
        let request = requests.next();
        fetched.push(Extent::between(request.extent.start, request.extent.end));
        request.send_all();
    }
    assert!(fetched.iter().all(|extent| wanted.contains(extent)), "{fetched:?}");
    assert_eq!(forerun.counters().readahead_count, PLACES.len() as u64);
}
