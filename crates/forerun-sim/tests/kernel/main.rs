//! Kernels of the past, in virtual time.

#[path = "../../../forerun-trace/tests/support/cases.rs"]
mod cases;
mod chaos;
mod fairness;
mod plug;
mod reads;
mod speed;
mod streams;
mod support;
mod writes;
