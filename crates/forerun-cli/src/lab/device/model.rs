//! The model of the device.

use forerun_sim::device::{Device, Preset};
use forerun_sim::queue::{ELEVATORS, Plug, Queue, elevator};

/// A device, and the elevator above it if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) preset: Preset,
    pub(crate) seed: u64,
    /// One of [`ELEVATORS`].
    pub(crate) elevator: Option<&'static str>,
}

impl Model {
    /// Builds the device.
    pub(super) fn build(&self) -> Box<dyn Device> {
        let device = self.preset.build(self.seed);
        match self.elevator.map(elevator) {
            Some(Ok(elevator)) => Box::new(Queue::new(device, elevator, Plug::None)),
            // Every name of the list is an elevator's.
            Some(Err(_)) | None => device,
        }
    }
}

/// The elevator called `name`.
///
/// # Errors
/// The valid names.
pub(super) fn parse_elevator(name: &str) -> Result<&'static str, String> {
    let found = ELEVATORS.iter().find(|elevator| **elevator == name);
    found.copied().ok_or_else(|| format!("expected one of {}", ELEVATORS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elevators_by_name() {
        assert!(ELEVATORS.iter().all(|name| parse_elevator(name) == Ok(*name)));
        assert!(parse_elevator("paternoster").unwrap_err().contains("deadline"));
    }
}
