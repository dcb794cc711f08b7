//! Kernels of the past, in virtual time.

mod chaos;
mod fairness;
mod plug;
mod reads;
mod speed;
mod streams;
mod support;
mod writes;
