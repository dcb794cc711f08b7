//! State is small, whatever is open.

#[path = "support/bed.rs"]
mod bed;
#[path = "support/counting.rs"]
mod counting;
#[path = "support/patterns.rs"]
mod patterns;
#[path = "support/state.rs"]
mod state;

#[global_allocator]
static COUNTING: counting::Counting = counting::Counting;

/// One test, since all threads are counted.
#[test]
fn streams_and_idle_objects_take_little() {
    let stream = state::bytes_per_stream();
    let [opened, read_once, read] = [0, 1, 16].map(state::bytes_per_open_object);
    println!(
        "bytes: {stream} a stream, {opened} an open object, {read_once} if it was read once, {read} if often"
    );
    assert!(stream <= 4 << 10, "{stream} bytes for each stream");
    for bytes in [opened, read_once, read] {
        assert!(bytes <= 1 << 10, "{bytes} bytes for each open object that nobody reads");
    }
}
