//! Independent pieces of work on all cores, with results in the order of the pieces.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` for each of `jobs`, as many at a time as there are cores. The results are
/// in the order of the jobs, whoever was done first.
///
/// # Errors
/// That of the first job, in their order, that failed; no job is begun after one failed.
///
/// # Panics
/// If `work` does.
pub fn on_all_cores<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    on_all_cores_with(jobs, work, |_, _| ())
}

/// The same, and `progress` hears how many of all jobs are done: first that none is.
///
/// # Errors
/// As [`on_all_cores`].
///
/// # Panics
/// If `work` or `progress` does.
pub fn on_all_cores_with<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R, E> + Sync,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Vec<R>, E> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    progress(0, jobs.len());
    let results: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(jobs.len()));
    let worker = || {
        // Jobs are begun in order: all before one that failed are done too.
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < jobs.len()) {
            let result = work(&jobs[at]);
            match result {
                Ok(_) => progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len()),
                Err(_) => next.store(jobs.len(), Ordering::Relaxed),
            }
            results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((at, result));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..cores.min(jobs.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let jobs: Vec<u64> = (0..1000).collect();
        let squares = on_all_cores(&jobs, |job| Ok::<u64, ()>(job * job)).unwrap();
        assert!(squares.iter().zip(&jobs).all(|(square, job)| *square == job * job));
        assert_eq!(on_all_cores(&[], |job: &u64| Ok::<u64, ()>(*job)), Ok(vec![]));
    }

    #[test]
    fn each_job_that_is_done_is_told_once() {
        let told = Mutex::new(Vec::new());
        let tell = |done, all| told.lock().unwrap().push((done, all));
        on_all_cores_with(&[1, 2, 3], |_| Ok::<_, ()>(()), tell).unwrap();
        let mut told = told.into_inner().unwrap();
        told.sort_unstable();
        assert_eq!(told, [(0, 3), (1, 3), (2, 3), (3, 3)]);
    }

    #[test]
    fn the_first_failure_counts() {
        let jobs: Vec<u64> = (0..1000).collect();
        let fails = |job: &u64| if job % 7 == 6 { Err(*job) } else { Ok(*job) };
        (0..50).for_each(|_| assert_eq!(on_all_cores(&jobs, fails), Err(6)));
    }
}
