use super::*;

const SLACK: Slack = Slack { busy: 100, turns: 20 };

/// The bytes for each of `members`, who always wait, in `count` turns of 10 bytes.
fn served<const N: usize>(turns: &mut Turns<usize>, members: [usize; N], count: usize) -> [usize; N] {
    let mut served = [0; N];
    members.iter().for_each(|member| turns.begin_wait(*member, Kind::Read, SLACK));
    for _ in 0..count {
        let next = turns.in_turn(Kind::Read).next().unwrap();
        turns.charge(next, 10, SLACK);
        served[members.iter().position(|member| *member == next).unwrap()] += 10;
    }
    members.iter().for_each(|member| turns.end_wait(*member, Kind::Read));
    assert_eq!(turns.in_turn(Kind::Read).next(), None);
    served
}

#[test]
fn members_share_by_their_weights() {
    let mut turns = Turns::default();
    turns.set_weight(1, 2, SLACK);
    turns.set_weight(2, 4, SLACK);
    let shares = served(&mut turns, [0, 1, 2], 700);
    assert!(shares.iter().zip([1000, 2000, 4000]).all(|(got, due)| got.abs_diff(due) <= 20), "{shares:?}");
}

#[test]
fn a_member_that_returns_makes_up_for_the_slack_alone() {
    let mut turns = Turns::default();
    served(&mut turns, [0, 1], 2);
    served(&mut turns, [0], 1000);
    let [stayed, returned] = served(&mut turns, [0, 1], 100);
    assert!((returned - stayed).abs_diff(SLACK.busy as usize) <= 10, "{stayed} {returned}");
}

#[test]
fn new_members_that_come_one_after_another_keep_none_waiting() {
    let mut turns = Turns::default();
    served(&mut turns, [0, 1], 10);
    turns.begin_wait(0, Kind::Read, SLACK);
    let count = (2..100).take_while(|member| {
        turns.begin_wait(*member, Kind::Read, SLACK);
        let next = turns.in_turn(Kind::Read).next().unwrap();
        turns.charge(next, 10, SLACK);
        turns.end_wait(*member, Kind::Read);
        next == *member
    });
    assert!(count.count() <= 2);
}

#[test]
fn nobody_in_a_crowd_is_left_behind() {
    let mut turns = Turns::default();
    for member in 0..200 {
        turns.charge(member, 10, SLACK);
        turns.count_active(SLACK);
    }
    let members: [usize; 200] = core::array::from_fn(|member| member);
    let shares = served(&mut turns, members, 10 * 200);
    assert!(shares.iter().all(|got| (60..=120).contains(got)), "{shares:?}");
}

#[test]
fn one_is_after_another_once_it_is_ahead_by_more_than_the_slack() {
    let mut turns = Turns::default();
    turns.charge(0, 10, SLACK);
    turns.charge(1, 10, SLACK);
    for _ in 0..30 {
        turns.charge(0, 10, SLACK);
    }
    // Fetches while nobody else wanted anything do not count for ever.
    turns.charge(1, 20, SLACK);
    let is_after = |turns: &Turns<i32>, id, other| turns.is_after(id, other, SLACK);
    assert!(!is_after(&turns, 0, 1));
    turns.begin_wait(1, Kind::Read, SLACK);
    turns.charge(0, 2 * SLACK.busy, SLACK);
    assert!(is_after(&turns, 0, 1) && !is_after(&turns, 1, 0));
}

#[test]
fn idle_members_are_forgotten() {
    let mut turns = Turns::default();
    for member in 0..10 * MEMBERS_MIN {
        turns.charge(member, 10, SLACK);
    }
    assert!(turns.shares.len() <= MEMBERS_MIN, "{}", turns.shares.len());
}
