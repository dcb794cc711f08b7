//! Readers that do not repeat what was learned.
