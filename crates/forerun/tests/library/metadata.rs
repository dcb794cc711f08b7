//! The backend is asked once, and believed for a while.

use std::sync::atomic::Ordering;
use std::time::Duration;

use forerun::{ErrorKind, Forerun};
use futures::future::join_all;

use crate::gate::{Gate, gate, over, plain, until};

/// How often the backend was asked for a stat and a list.
fn asked(gate: &Gate) -> (usize, usize) {
    (gate.stat_count.load(Ordering::SeqCst), gate.list_count.load(Ordering::SeqCst))
}

fn believing(gate: &std::sync::Arc<Gate>) -> Forerun {
    let options = plain().with_metadata_ttl(Duration::from_secs(3600));
    Forerun::over(gate.clone(), options).unwrap()
}

#[test]
fn answers_are_kept_negative_ones_too() {
    let (gate, _requests) = gate("dir/a", "abc");
    let forerun = believing(&gate);
    futures::executor::block_on(async {
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
    futures::executor::block_on(async {
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
    forerun.stat_blocking("a").unwrap();
    gate.objects.remove("a");
    assert_eq!(forerun.stat_blocking("a").unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(asked(&gate), (2, 0));
}

#[test]
fn many_who_ask_at_once_share_one_question() {
    let (gate, _requests) = gate("a", "abc");
    let forerun = believing(&gate);
    let answers = futures::executor::block_on(join_all((0..100).map(|_| forerun.stat("a"))));
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
    let list = |path: &str| forerun.list_blocking(path).unwrap().len();
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
    let list = |path: &str| forerun.list_blocking(path).map(|entries| entries.len());
    assert!(list("tree").is_ok() && list("tree/0").is_ok());
    gate.objects.remove("tree/2/a");
    assert!(list("tree/1").is_ok());
    until(|| asked(&gate) == (0, 3 + 4));
    assert_eq!(list("tree/2").unwrap_err().kind, ErrorKind::NotFound);
    assert!(list("tree/3").is_ok());
}

/// A gate whose lists are whole, with 2000 files in one directory.
fn many_files() -> std::sync::Arc<Gate> {
    let (gate, _requests) = gate("dir/0", "a");
    (1..2000).for_each(|index| gate.objects.replace(&format!("dir/{index}"), vec![0; index + 1]));
    gate.lists_whole.store(true, Ordering::SeqCst);
    gate
}

#[test]
fn files_asked_about_one_after_the_other_are_answered_from_one_list() {
    let gate = many_files();
    let forerun = believing(&gate);
    let size = |index: usize| forerun.stat_blocking(&format!("dir/{index}")).map(|entry| entry.size);
    // A list of two thousand is worth its two requests once eight were asked about. The list before was
    // worth four, and ended after a thousand.
    let mut index = 2000;
    until(|| {
        let (stats, lists) = asked(&gate);
        index += 1;
        assert_eq!(size(index).unwrap_err().kind, ErrorKind::NotFound);
        lists == 2 && asked(&gate) == (stats, 2)
    });
    let (stats, _) = asked(&gate);
    assert!((0..2000).all(|index| size(index * 7 % 2000).unwrap() == index as u64 * 7 % 2000 + 1));
    assert_eq!(asked(&gate), (stats, 2));

    gate.objects.replace("dir/2000", "new");
    forerun.invalidate_metadata("dir/2000");
    assert_eq!(size(2000).unwrap(), 3);
}

#[test]
fn readers_do_not_wait_for_the_list_that_they_have_asked_for() {
    let gate = many_files();
    let forerun = believing(&gate);
    let held = gate.lists.try_write().unwrap();
    let size = |index: usize| forerun.stat_blocking(&format!("dir/{index}")).map(|entry| entry.size);
    assert!((0..100).all(|index| size(index).unwrap() == index as u64 + 1));
    until(|| asked(&gate) == (100, 1));
    drop(held);
}

#[test]
fn readers_of_a_few_files_and_of_files_elsewhere_have_nothing_listed() {
    let gate = many_files();
    (0..100).for_each(|index| gate.objects.replace(&format!("{index}/file"), "abc"));
    let forerun = believing(&gate);
    let stat = |path: &str| forerun.stat_blocking(path).unwrap();
    (0..100).for_each(|index| drop(stat(&format!("{index}/file"))));
    for _ in 0..10 {
        (0..3).for_each(|index| drop(stat(&format!("dir/{index}"))));
    }
    assert_eq!(asked(&gate), (103, 0));
}

#[test]
fn a_backend_whose_lists_are_not_whole_is_asked_about_each_file() {
    let gate = many_files();
    gate.lists_whole.store(false, Ordering::SeqCst);
    let forerun = believing(&gate);
    (0..50).for_each(|index| drop(forerun.stat_blocking(&format!("dir/{index}")).unwrap()));
    assert_eq!(asked(&gate), (50, 0));
}
