//! A mount as programs see it. These tests mount, for which they must be root
//! or have `fusermount3`.

mod kernel;
mod support;
mod tree;
mod troubled;
mod versions;
