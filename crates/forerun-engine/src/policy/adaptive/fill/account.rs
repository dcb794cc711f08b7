//! What came of filling: what it cost, and what the waits that it saved are worth, both in
//! bytes, told apart by how much evidence there had been.

/// Evidence is at least 16 times as much as the price, 8 times, ..., once, half, ..., a sixteenth.
const CLASSES: usize = 9;
const FAIR: usize = 4;
const EIGHTH: usize = 7;
/// What may be bet on all objects before anything is known of what comes of it, and a byte more
/// for so many that were read; but never more than a share of what readers waited for.
const BET_BYTES: u64 = 512 << 10;
const READ_SHARE: u64 = 32;
const WAITED_SHARE: u64 = 128;
/// What is filled to stay may have cost so much more in other objects than it gained there.
const KEPT_BYTES: u64 = 8 << 20;
/// What is gained and lost counts up to so much, so that it can change.
const GAINED_MAX: i64 = 64 << 20;

/// How much evidence there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Evidence(u8);

impl Evidence {
    /// Readers have waited for as long as `waited` bytes take, where a price of `cost` is asked.
    /// None if that is far too little.
    pub(super) fn of(waited: u64, cost: u64) -> Option<Evidence> {
        (0..CLASSES as u8).find(|class| waited << class >= cost << FAIR).map(Evidence)
    }

    /// Whoever pays now has paid at most twice what it would have cost to pay at once.
    pub(super) fn is_fair(self) -> bool {
        usize::from(self.0) <= FAIR
    }

    /// Enough where what is filled stays until somebody reads it: for the bold an eighth of it.
    pub(super) fn is_enough_to_keep(self, is_bold: bool) -> bool {
        usize::from(self.0) <= if is_bold { EIGHTH } else { FAIR }
    }
}

/// What came of filling one object.
#[derive(Debug, Default)]
pub(super) struct Account {
    gained: [i64; CLASSES],
    /// Some evidence gained more than may be bet.
    has_proof: bool,
}

impl Account {
    pub(super) fn gain(&mut self, evidence: Evidence, bytes: i64) {
        let gained = &mut self.gained[usize::from(evidence.0)];
        *gained = (*gained + bytes).clamp(-GAINED_MAX, GAINED_MAX);
        self.has_proof = self.gained.iter().any(|gained| *gained > BET_BYTES as i64);
    }

    /// Whether such evidence gained more than may be bet.
    pub(super) fn is_proven(&self, evidence: Evidence) -> bool {
        self.gained[usize::from(evidence.0)] > BET_BYTES as i64
    }

    /// Whether any evidence is.
    pub(super) fn has_proof(&self) -> bool {
        self.has_proof
    }

    /// Whether more was gained than lost.
    pub(super) fn is_ahead(&self) -> bool {
        self.all() > 0
    }

    fn all(&self) -> i64 {
        self.gained.iter().sum()
    }

    /// Whether to fill what stays, as far as other objects tell: of many that each are read a little
    /// none pays.
    pub(super) fn may_keep(&self, trust: &Trust) -> bool {
        trust.kept - self.all() + trust.bet_to_keep() >= 0
    }

    /// Whether more may be filled on such evidence: it is fair, and what was lost by it so far is
    /// no more than may be bet.
    pub(super) fn allows(&self, evidence: Evidence, trust: &Trust) -> bool {
        let bet = trust.bet();
        let all = self.all();
        let is_open = self.gained[usize::from(evidence.0)] + bet >= 0 && all + bet >= 0;
        evidence.is_fair() && is_open && (all > 0 || trust.gained + bet >= 0)
    }
}

/// What came of filling all objects together.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    gained: i64,
    /// The same of objects in which it stays until somebody reads it.
    kept: i64,
    read: u64,
    waited: u64,
}

impl Trust {
    /// Somebody read bytes, and waited as long as so many take.
    pub(super) fn note(&mut self, read: u64, waited: u64) {
        self.read += read;
        self.waited += waited;
    }

    pub(super) fn gain(&mut self, bytes: i64) {
        self.gained = (self.gained + bytes).clamp(-GAINED_MAX, GAINED_MAX);
    }

    pub(super) fn keep(&mut self, bytes: i64) {
        self.kept = (self.kept + bytes).clamp(-GAINED_MAX, GAINED_MAX);
    }

    fn bet_to_keep(&self) -> i64 {
        (KEPT_BYTES + self.waited / WAITED_SHARE) as i64
    }

    fn bet(&self) -> i64 {
        (BET_BYTES + self.read / READ_SHARE).min(self.waited / WAITED_SHARE) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn trusting() -> Trust {
        let mut trust = Trust::default();
        trust.note(0, 1 << 30);
        trust
    }

    #[test]
    fn evidence_is_told_apart_by_halves() {
        let of = |waited| Evidence::of(waited * MIB, 8 * MIB);
        assert!(of(8).unwrap().is_fair() && of(1000).unwrap().is_fair() && !of(7).unwrap().is_fair());
        assert!(of(8).unwrap().is_enough_to_keep(false) && !of(7).unwrap().is_enough_to_keep(false));
        assert!(of(1).unwrap().is_enough_to_keep(true));
        assert_eq!(of(9), of(15));
        assert_ne!(of(8), of(16));
        assert_eq!(Evidence::of(MIB, 17 * MIB), None);
    }

    #[test]
    fn a_bet_that_is_lost_is_not_made_again_on_as_much() {
        let (mut account, mut trust) = (Account::default(), trusting());
        let fair = Evidence::of(MIB, MIB).unwrap();
        assert!(account.allows(fair, &trust));
        account.gain(fair, -(MIB as i64));
        assert!(!account.allows(fair, &trust));
        // Much was read meanwhile.
        trust.note(64 * MIB, 0);
        assert!(account.allows(fair, &trust));
        trust.gain(-(4 * MIB as i64));
        assert!(!account.allows(fair, &trust), "elsewhere it was in vain");
    }

    #[test]
    fn who_has_not_waited_bets_nothing() {
        let fair = Evidence::of(MIB, MIB).unwrap();
        let mut account = Account::default();
        account.gain(fair, -1);
        assert!(!account.allows(fair, &Trust::default()));
    }

    #[test]
    fn what_did_not_pay_in_others_is_not_kept_in_more() {
        let fair = Evidence::of(MIB, MIB).unwrap();
        let mut trust = trusting();
        // What it costs itself is for its own account to say.
        let mut first = Account::default();
        first.gain(fair, -64 * MIB as i64);
        trust.keep(-64 * MIB as i64);
        assert!(first.may_keep(&trust) && !Account::default().may_keep(&trust));
        trust.keep(60 * MIB as i64);
        assert!(Account::default().may_keep(&trust), "somebody came for most of it");
    }
}
