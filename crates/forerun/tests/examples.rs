//! The examples run.

#[path = "../examples/backend.rs"]
mod backend;

#[test]
fn a_backend_of_ones_own_is_read() {
    backend::main().unwrap();
}
