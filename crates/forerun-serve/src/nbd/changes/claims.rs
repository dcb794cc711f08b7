//! Blocks that one write at a time changes.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// The blocks of writes that have not ended, in the order in which they came. A write waits for
/// those before it that have some of its blocks. So no two wait for each other.
#[derive(Debug, Default)]
pub(in super::super) struct Claims {
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    next: u64,
    claims: Vec<Claimed>,
}

#[derive(Debug)]
struct Claimed {
    number: u64,
    blocks: Range<u64>,
    /// Closed at its end.
    ended: Arc<Semaphore>,
}

/// The right to change blocks, until it is dropped.
#[derive(Debug)]
pub(in super::super) struct Claim {
    claims: Arc<Claims>,
    number: u64,
}

impl Claims {
    /// Waits until nobody before it changes any of `blocks`.
    pub(in super::super) async fn claim(self: &Arc<Claims>, blocks: Range<u64>) -> Claim {
        let claim = self.enter(blocks.clone());
        while let Some(ended) = self.first_before(claim.number, &blocks) {
            // It fails at the end of the other.
            let _ = ended.acquire().await;
        }
        claim
    }

    fn enter(self: &Arc<Claims>, blocks: Range<u64>) -> Claim {
        let mut list = self.list.lock();
        let number = list.next;
        list.next += 1;
        list.claims.push(Claimed { number, blocks, ended: Arc::new(Semaphore::new(0)) });
        Claim { claims: Arc::clone(self), number }
    }

    fn first_before(&self, number: u64, blocks: &Range<u64>) -> Option<Arc<Semaphore>> {
        let list = self.list.lock();
        let mut before = list.claims.iter().take_while(|claim| claim.number < number);
        let found = before.find(|claim| claim.blocks.start < blocks.end && blocks.start < claim.blocks.end);
        found.map(|claim| Arc::clone(&claim.ended))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut list = self.claims.list.lock();
        if let Ok(at) = list.claims.binary_search_by_key(&self.number, |claim| claim.number) {
            list.claims.remove(at).ended.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn writes_of_the_same_blocks_wait_in_order_and_others_do_not() {
        let claims = Arc::new(Claims::default());
        let first = claims.claim(0..10).now_or_never().expect("nobody is before it");
        assert!(claims.claim(10..20).now_or_never().is_some());
        let mut second = Box::pin(claims.claim(9..12));
        let mut third = Box::pin(claims.claim(11..12));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(third.as_mut().now_or_never().is_none(), "it waits for the second");
        drop(first);
        let second = second.now_or_never().expect("the first has ended");
        assert!(third.as_mut().now_or_never().is_none());
        drop(second);
        assert!(third.now_or_never().is_some());
        assert!(claims.list.lock().claims.is_empty());
    }

    #[test]
    fn a_write_that_is_given_up_holds_up_nobody() {
        let claims = Arc::new(Claims::default());
        let first = claims.claim(0..1).now_or_never().unwrap();
        let mut given_up = Box::pin(claims.claim(0..2));
        assert!(given_up.as_mut().now_or_never().is_none());
        drop(given_up);
        assert!(claims.claim(1..2).now_or_never().is_some());
        drop(first);
    }
}
