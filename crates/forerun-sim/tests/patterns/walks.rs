//! Walks from file to file: what must be read ahead of them, and what not.

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::{Action, Client, Clients, Directory, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

use super::bed::*;

/// The sizes and classes of files in one or more directories, one behind the other.
#[derive(Clone)]
struct Tree {
    sizes: Vec<u64>,
    directories: Vec<Directory>,
}

impl Tree {
    /// `count` directories of `files` files each, of 4 to 64 KiB and `classes` classes
    /// in turns.
    fn new(count: u64, files: u64, classes: u8) -> Tree {
        let mut numbers = Numbers::new(17);
        let sizes = (0..count * files).map(|_| 4 * KIB + numbers.below(60 * KIB + 1)).collect();
        let directory = |number| Directory {
            names: None,
            files: (0..files)
                .map(|at| (ObjectId(number * files + at), (at % u64::from(classes)) as u8))
                .collect(),
        };
        Tree { sizes, directories: (0..count).map(directory).collect() }
    }

    /// The files of a directory, by number.
    fn files(&self, directory: usize) -> Vec<u64> {
        self.directories[directory].files.iter().map(|(object, _)| object.0).collect()
    }

    /// Reads the first `len` bytes of `object`, or all of it.
    fn visit(&self, object: u64, len: u64) -> [Action; 2] {
        let extent = Extent::new(0, self.sizes[object as usize].min(len));
        [Action::read(ObjectId(object), extent), Action::close(ObjectId(object))]
    }

    /// Lists a directory and visits `files`.
    fn walk(&self, directory: usize, files: &[u64], len: u64) -> Vec<Action> {
        let visits = files.iter().flat_map(|object| self.visit(*object, len));
        std::iter::once(Action::list(directory as u64)).chain(visits).collect()
    }

    fn run(&self, clients: Vec<Vec<Action>>, latency_ms: u64, policy: PolicyKind) -> Outcome {
        let name = format!("network:latency={latency_ms}ms,connection=80MB/s,total=400MB/s");
        let device = Preset::from_name(&name).expect("a device by its name").build(1);
        let config = Config { policy: policy.into(), ..Config::new(256 * MIB) };
        let world = World::new(config, device).expect("a configuration that works");
        let clients = clients.into_iter().map(|actions| -> Box<dyn Client> { Box::new(actions.into_iter()) });
        let placed = place(self.sizes.iter().copied(), 4 * KIB);
        let mut source = Clients::new(placed, clients.collect()).with_directories(self.directories.clone());
        Outcome::of(&world.run(&mut source).expect("nobody hangs"))
    }

    /// One program, at 10 ms.
    fn at_10_ms(&self, actions: Vec<Action>) -> Outcome {
        self.run(vec![actions], 10, PolicyKind::Adaptive)
    }
}

const ALL: u64 = u64::MAX;

fn shuffle(files: &mut [u64], seed: u64) {
    let mut numbers = Numbers::new(seed);
    for at in (1..files.len()).rev() {
        files.swap(at, numbers.below(at as u64 + 1) as usize);
    }
}

#[test]
fn a_directory_is_walked_without_waiting() {
    let tree = Tree::new(1, 2000, 1);
    let mut files = tree.files(0);
    tree.at_10_ms(tree.walk(0, &files, ALL)).check("forward", 80.0, 1.1);
    tree.run(vec![tree.walk(0, &files, ALL)], 2, PolicyKind::Adaptive).check("at 2 ms", 150.0, 1.1);
    tree.run(vec![tree.walk(0, &files, ALL)], 50, PolicyKind::Adaptive).check("at 50 ms", 15.0, 1.1);
    tree.run(vec![tree.walk(0, &files, ALL)], 10, PolicyKind::None).check("without", 0.0, 1.1);
    files.reverse();
    tree.at_10_ms(tree.walk(0, &files, ALL)).check("backward", 80.0, 1.1);
}

#[test]
fn a_walk_that_stops_wastes_little() {
    let tree = Tree::new(1, 2000, 1);
    for count in [1, 2, 5, 20, 100, 1000] {
        let outcome = tree.at_10_ms(tree.walk(0, &tree.files(0)[..count], ALL));
        let asked: u64 = tree.sizes[..count].iter().sum();
        let wasted = (outcome.fetched - 1.0) * asked as f64;
        println!("{count} files: {:.1} MB/s, {wasted:.0} bytes wasted", outcome.rate);
        let allowed = (MIB + asked / 10).min(20 * asked);
        assert!(wasted <= allowed as f64 + 64.0 * KIB as f64, "{wasted} wasted of {asked}");
    }
}

#[test]
fn workers_may_take_files_out_of_order() {
    let tree = Tree::new(1, 2000, 1);
    let mut clients = vec![vec![Action::list(0)]; 8];
    for (at, object) in tree.files(0).into_iter().enumerate() {
        clients[at % 8].extend(tree.visit(object, ALL));
    }
    tree.run(clients, 10, PolicyKind::Adaptive).check("8 workers", 120.0, 1.1);
}

#[test]
fn two_trees_are_walked_together() {
    let tree = Tree::new(2, 1000, 1);
    let mut actions = vec![Action::list(0), Action::list(1)];
    for (left, right) in tree.files(0).into_iter().zip(tree.files(1)) {
        actions.extend(tree.visit(left, ALL).into_iter().chain(tree.visit(right, ALL)));
    }
    tree.at_10_ms(actions).check("diff -r", 80.0, 1.1);
}

#[test]
fn the_next_directory_is_begun_when_it_is_listed() {
    let tree = Tree::new(200, 10, 1);
    let walk = |tree: &Tree| (0..200).flat_map(|at| tree.walk(at, &tree.files(at), ALL)).collect::<Vec<_>>();
    tree.at_10_ms(walk(&tree)).check("a tree of 200 directories", 20.0, 1.1);
    let listed = tree.walk(0, &tree.files(0), ALL).into_iter().chain((1..200).map(Action::list));
    let outcome = tree.at_10_ms(listed.collect());
    let asked: u64 = tree.sizes[..10].iter().sum();
    let wasted = (outcome.fetched - 1.0) * asked as f64;
    assert!(wasted <= 1.5 * MIB as f64, "{wasted} wasted on directories that are only listed");
}

#[test]
fn a_directory_whose_names_are_read_is_listed() {
    let mut tree = Tree::new(1, 2000, 1);
    let names = ObjectId(tree.sizes.len() as u64);
    tree.sizes.push(8 * KIB);
    tree.directories[0].names = Some(names);
    let read = Action::read(names, Extent::new(0, 8 * KIB));
    let walk = || tree.files(0).into_iter().flat_map(|object| tree.visit(object, ALL));
    let closed = [read, Action::close(names)].into_iter().chain(walk()).collect();
    tree.at_10_ms(closed).check("its names are read", 80.0, 1.1);
    let open = tree.at_10_ms(std::iter::once(read).chain(walk()).collect());
    assert!(open.rate < 8.0, "{:.1} MB/s, and nobody has listed it yet", open.rate);
}

#[test]
fn no_order_is_no_walk() {
    let tree = Tree::new(1, 2000, 1);
    for seed in 0..4 {
        let mut files = tree.files(0);
        shuffle(&mut files, seed);
        tree.at_10_ms(tree.walk(0, &files[..1000], ALL)).check("half of all, shuffled", 0.0, 1.02);
    }
}

#[test]
fn files_that_walkers_skip_are_not_fetched() {
    let tree = Tree::new(1, 2000, 4);
    let files: Vec<u64> = tree.files(0).into_iter().filter(|file| file % 4 == 2).collect();
    tree.at_10_ms(tree.walk(0, &files, ALL)).check("one class of four", 60.0, 1.1);
    let mut numbers = Numbers::new(3);
    let half: Vec<u64> = tree.files(0).into_iter().filter(|_| numbers.below(2) == 0).collect();
    tree.at_10_ms(tree.walk(0, &half, ALL)).check("half at random", 3.0, 1.2);
}

#[test]
fn walkers_that_read_heads_get_heads() {
    let tree = Tree::new(1, 2000, 1);
    let outcome = tree.at_10_ms(tree.walk(0, &tree.files(0), 4 * KIB));
    // 48 fetches of 4 KiB at once take 10 ms: 19.6 MB/s.
    outcome.check("file *", 12.0, 1.1);
}

/// Reads the end of each file, the index before it, and what that says is wanted.
fn by_index(tree: &Tree, files: &[u64]) -> Vec<Action> {
    let mut numbers = Numbers::new(5);
    let visit = |object: &u64| {
        let (object, size) = (ObjectId(*object), tree.sizes[*object as usize]);
        let chunk = Extent::new(numbers.below(size / 2 / MIB) * MIB, 128 * KIB);
        let index = Extent::new(size - 100 * KIB, 96 * KIB);
        let end = Extent::new(size - 4 * KIB, 4 * KIB);
        let reads = [end, index, chunk].map(|extent| Action::read(object, extent));
        reads.into_iter().chain([Action::close(object)])
    };
    files.iter().flat_map(visit).collect()
}

#[test]
fn an_index_at_the_end_comes_with_the_end() {
    let tree = Tree { sizes: vec![40 * MIB; 200], ..Tree::new(1, 200, 1) };
    let mut files = tree.files(0);
    shuffle(&mut files, 1);
    let seconds = |actions: Vec<Action>, policy| {
        let outcome = tree.run(vec![actions], 10, policy);
        println!("{policy:?}: {:.2} s, {:.3} fetched for each asked", outcome.seconds, outcome.fetched);
        // Of each file, what follows the only read in its middle is a bet.
        assert!(outcome.fetched <= 1.4, "{:.3} fetched for each asked", outcome.fetched);
        outcome.seconds
    };
    let none = seconds(by_index(&tree, &files), PolicyKind::None);
    let learned = seconds(by_index(&tree, &files), PolicyKind::Adaptive);
    assert!(learned < 0.72 * none, "two waits instead of three: {learned} s, without {none} s");
    let listed = std::iter::once(Action::list(0)).chain(by_index(&tree, &tree.files(0))).collect();
    let walked = seconds(listed, PolicyKind::Adaptive);
    assert!(walked < 0.45 * none, "one wait instead of three: {walked} s, without {none} s");
}
