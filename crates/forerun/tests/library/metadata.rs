//! The backend is asked once, and believed for a while.

use std::sync::atomic::Ordering;
use std::time::Duration;

use forerun::{ErrorKind, Forerun, Options};
use futures::future::join_all;

use crate::gate::{Gate, gate, over, plain, until};

/// How often the backend was asked for a stat and a list.
fn asked(gate: &Gate) -> (usize, usize) {
    (gate.stat_count.load(Ordering::SeqCst), gate.list_count.load(Ordering::SeqCst))
}

fn believing(gate: &std::sync::Arc<Gate>) -> Forerun {
    let options = Options { metadata_ttl: Duration::from_secs(3600), ..plain() };
    Forerun::over(gate.clone(), options).unwrap()
}

#[test]
fn answers_are_kept_negative_ones_too() {
    let (gate, _requests) = gate("dir/a", "abc");
    let forerun = believing(&gate);
    forerun.block_on(async {
        for _ in 0..3 {
            assert_eq!(forerun.stat("dir/a").await.unwrap().size, 3);
            assert_eq!(forerun.stat("none").await.unwrap_err().kind, ErrorKind::NotFound);
            assert_eq!(forerun.list("dir/a").await.unwrap_err().kind, ErrorKind::NotADirectory);
        }
    });
    assert_eq!(asked(&gate), (2, 1));
}

#[test]
fn a_list_answers_for_what_it_holds() {
    let (gate, _requests) = gate("dir/a", "abc");
    gate.objects.replace("dir/b", "defg");
    let forerun = believing(&gate);
    forerun.block_on(async {
        assert_eq!(forerun.list("dir").await.unwrap().len(), 2);
        assert_eq!(forerun.stat("dir/b").await.unwrap().size, 4);
        assert_eq!(asked(&gate), (0, 1));
        gate.objects.replace("dir/b", "h");
        forerun.invalidate_metadata("dir/b");
        assert_eq!(forerun.stat("dir/b").await.unwrap().size, 1);
        assert_eq!(forerun.stat("dir/a").await.unwrap().size, 3);
        assert_eq!(forerun.list("dir").await.unwrap()[1].size, 1);
        assert_eq!(asked(&gate), (1, 2));
    });
}

#[test]
fn nothing_is_kept_without_time_to_live() {
    let (gate, _requests) = gate("a", "abc");
    let forerun = over(&gate);
    forerun.block_on(forerun.stat("a")).unwrap();
    gate.objects.remove("a");
    assert_eq!(forerun.block_on(forerun.stat("a")).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(asked(&gate), (2, 0));
}

#[test]
fn many_who_ask_at_once_share_one_question() {
    let (gate, _requests) = gate("a", "abc");
    let forerun = believing(&gate);
    let answers = forerun.block_on(join_all((0..100).map(|_| forerun.stat("a"))));
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|entry| entry.size == 3)));
    assert_eq!(asked(&gate), (1, 0));
}

#[test]
fn directories_listed_in_order_have_the_next_ones_listed_ahead_and_each_once() {
    let (gate, _requests) = gate("tree/0/a", "abc");
    for directory in 1..8 {
        gate.objects.replace(&format!("tree/{directory}/a"), "abc");
    }
    let forerun = believing(&gate);
    let list = |path: &str| forerun.block_on(forerun.list(path)).unwrap().len();
    assert_eq!(list("tree"), 8);
    list("tree/0");
    assert_eq!(asked(&gate), (0, 2));
    list("tree/1");
    until(|| asked(&gate) == (0, 3 + 4));
    (2..8).for_each(|directory| assert_eq!(list(&format!("tree/{directory}")), 1));
    assert_eq!(asked(&gate), (0, 1 + 8));
}

#[test]
fn a_list_ahead_that_fails_is_nobodys_failure() {
    let (gate, _requests) = gate("tree/0/a", "abc");
    for directory in 1..8 {
        gate.objects.replace(&format!("tree/{directory}/a"), "abc");
    }
    let forerun = believing(&gate);
    let list = |path: &str| forerun.block_on(forerun.list(path)).map(|entries| entries.len());
    assert!(list("tree").is_ok() && list("tree/0").is_ok());
    gate.objects.remove("tree/2/a");
    assert!(list("tree/1").is_ok());
    until(|| asked(&gate) == (0, 3 + 4));
    assert_eq!(list("tree/2").unwrap_err().kind, ErrorKind::NotFound);
    assert!(list("tree/3").is_ok());
}
