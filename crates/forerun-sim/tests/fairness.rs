//! Readers that want more than the storage gives share it fairly, and leave nothing of it unused.

use forerun_engine::Config;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Sharers, SharingMix};
use forerun_sim::world::World;

const MIB: u64 = 1 << 20;

fn run(mix: SharingMix) -> Run {
    let device = Preset::from_name(mix.device).expect("a device by its name").build(1);
    let world = World::new(Config::new(256 * MIB), device).expect("a configuration that works");
    let Sharers { mut source, owners, weights } = mix.sharers();
    world.shared(&owners, &weights).run(&mut source).expect("nobody hangs")
}

/// The end of the first client to that of the last, and the share of 100 MB/s that all have got.
fn shares(run: &Run) -> (f64, f64) {
    let ends: Vec<u64> = run.clients.iter().map(|client| client.finished_ns).collect();
    let (first, last) = (ends.iter().min().unwrap(), ends.iter().max().unwrap());
    let total = run.read_bytes as f64 * 10.0 / run.elapsed_ns as f64;
    println!("ends {ends:?}: first / last {:.3}, total {total:.3}", *first as f64 / *last as f64);
    (*first as f64 / *last as f64, total)
}

#[test]
fn readers_of_which_one_asks_for_sixteen_pieces_at_once_end_together() {
    let (fair, total) = shares(&run(SharingMix::MANY_AT_ONCE));
    assert!(fair >= 0.9 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

#[test]
fn clients_share_by_their_weights() {
    let (fair, total) = shares(&run(SharingMix::WEIGHTED));
    assert!(fair >= 0.95 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

#[test]
fn a_client_with_many_readers_gets_no_more_than_one_with_one() {
    let (fair, total) = shares(&run(SharingMix::MANY_READERS));
    assert!(fair >= 0.9 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

#[test]
fn random_readers_of_a_client_do_not_keep_another_from_its_share() {
    let run = run(SharingMix::RANDOM_READERS);
    let (_, total) = shares(&run);
    let others = run.clients[1..].iter().map(|client| client.finished_ns).max().unwrap();
    let (fewer, more) = (others.min(run.clients[0].finished_ns), others.max(run.clients[0].finished_ns));
    let fair = fewer as f64 / more as f64;
    assert!(fair >= 0.85 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

#[test]
fn clients_of_a_disk_keep_nine_tenths_of_what_they_get_alone() {
    let rate = |run: &Run| run.read_bytes as f64 * 1e3 / run.elapsed_ns as f64;
    let alone = rate(&run(SharingMix::DISK_ALONE));
    for mix in [SharingMix::DISK_EQUAL, SharingMix::DISK_WEIGHTED] {
        let run = run(mix);
        let ((fair, _), together) = (shares(&run), rate(&run));
        println!("{}: first / last {fair:.3}, {together:.1} of {alone:.1} MB/s", mix.name);
        assert!(
            fair >= 0.9 && together >= 0.9 * alone,
            "{}: {fair:.3}, {together:.1} of {alone:.1} MB/s",
            mix.name
        );
    }
}
