//! The sentences behind the engine's error codes.

use std::collections::VecDeque;

use forerun_backend::{Error, ErrorKind};
use forerun_engine::FetchError;

/// More failures than can be on their way through the engine to a reader.
const FAILURES_MAX: usize = 256;

/// The last failures; a code is the failure's number.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    errors: VecDeque<Error>,
    /// The code of the first of `errors`.
    first: u32,
}

impl Failures {
    pub(crate) fn add(&mut self, error: Error) -> FetchError {
        if self.errors.len() == FAILURES_MAX {
            self.errors.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.errors.push_back(error);
        FetchError { code: self.first.wrapping_add(self.errors.len() as u32 - 1) }
    }

    pub(crate) fn get(&self, failure: FetchError) -> Error {
        let known = self.errors.get(failure.code.wrapping_sub(self.first) as usize);
        known.cloned().unwrap_or_else(|| {
            Error::new(ErrorKind::Transient, "a fetch failed among too many others; read again")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_finds_its_error_until_too_many_followed() {
        let mut failures = Failures::default();
        let codes: Vec<FetchError> = (0..=FAILURES_MAX)
            .map(|number| failures.add(Error::new(ErrorKind::Denied, number.to_string())))
            .collect();
        assert_eq!(failures.get(codes[FAILURES_MAX]).message, FAILURES_MAX.to_string());
        assert_eq!(failures.get(codes[1]).message, "1");
        assert_eq!(failures.get(codes[0]).kind, ErrorKind::Transient);
    }
}
