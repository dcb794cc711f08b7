//! A mount as programs see it. These tests mount, so they need root or `fusermount3`.

mod kernel;
mod support;
mod tree;
mod troubled;
mod versions;
