//! Storage that is not there, refuses, changes or fails: what users are told,
//! what their programs see, and that the mount survives it.

mod changing;
mod failing;
mod interrupted;
mod line;
mod outage;
mod refused;
mod silent;
mod site;
#[path = "../support/mod.rs"]
mod support;
mod vast;
