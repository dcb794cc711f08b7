//! The examples run.

#[path = "../examples/backend.rs"]
mod backend;
#[path = "../examples/policy.rs"]
mod policy;

#[test]
fn a_backend_of_ones_own_is_read() {
    backend::main().unwrap();
}

#[test]
fn a_policy_of_ones_own_reads_ahead() {
    policy::main().unwrap();
}
