//! The thread of a ring. Each turn goes on with what the kernel has done, and begins what waits.

use super::Queue;
use super::job::Job;
use super::kernel::Kernel;

/// Does the jobs of `queue` until that is closed.
pub(super) fn run(mut kernel: Kernel<Job>, queue: &Queue) {
    let mut is_open = true;
    while is_open || !kernel.is_idle() {
        queue.wait();
        for (completed, job) in kernel.take_completed() {
            job.go_on(completed, &mut kernel);
        }
        // After those that go on, which need the entries that they had.
        match queue.take() {
            Some(jobs) => jobs.into_iter().for_each(|job| job.begin(&mut kernel)),
            None => is_open = false,
        }
        if let Err(error) = kernel.submit() {
            tracing::warn!(
                target: "forerun::store", %error,
                "the kernel's io_uring stopped: threads read files instead"
            );
            return;
        }
    }
}
