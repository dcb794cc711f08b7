//! Policies that are not the engine's own, under the rules of other software.

use std::collections::BTreeMap;

use forerun_engine::*;

/// Windows end at multiples of it.
const WINDOW_BYTES: u64 = 4 << 20;

/// Under a kernel's rules.
#[allow(dead_code, reason = "a test needs only some")]
pub(crate) const KERNEL: PolicyChoice = PolicyChoice::Made(|_| Box::new(Other::under(PolicyRules::Kernel)));
/// Under librbd's rules.
#[allow(dead_code, reason = "a test needs only some")]
pub(crate) const LIBRBD: PolicyChoice = PolicyChoice::Made(|_| Box::new(Other::under(PolicyRules::Librbd)));
/// Under the engine's rules.
#[allow(dead_code, reason = "a test needs only some")]
pub(crate) const OWN: PolicyChoice = PolicyChoice::Made(|_| Box::new(Other::under(PolicyRules::Engine)));

/// Reads on to the end of the window where a read begins at the end of the object's last one.
#[derive(Debug)]
struct Other {
    rules: PolicyRules,
    /// Where the last read of each object ended.
    ends: BTreeMap<ObjectId, u64>,
}

impl Other {
    fn under(rules: PolicyRules) -> Other {
        Other { rules, ends: BTreeMap::new() }
    }
}

impl CustomPolicy for Other {
    fn rules(&self) -> PolicyRules {
        self.rules
    }

    fn on_read(&mut self, read: &PolicyRead, _: &PolicyView<'_>, wishes: &mut Wishes) {
        let end = read.extent.end();
        if self.ends.insert(read.object, end) == Some(read.extent.offset) {
            wishes.read_ahead(Extent::between(end, (end / WINDOW_BYTES + 1).saturating_mul(WINDOW_BYTES)));
            wishes.rescue(read.extent);
        }
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.ends.remove(&object);
    }
}
