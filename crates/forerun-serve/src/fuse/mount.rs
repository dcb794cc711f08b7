//! The life of a mount.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use forerun::{Error, ErrorKind, Forerun, Kind, Result};
use tokio::sync::watch;

use super::access::Access;
use super::asked::{Asked, Tally};
use super::attach::{Attachment, Unmounted, attach};
use super::check::check_mount_point;
use super::device::prepare;
use super::filesystem::ForerunFilesystem;
use super::options::MountOptions;
use super::passthrough::Passthrough;
use super::push::push_queue;
use super::session::{Channel, Filesystem, Queues, Session, end_of};
use super::source::mount_source;
use super::tree::Tree;
use super::waits::Waits;
use super::window;
use crate::served::Defaults;

/// A mounted [`Forerun`], or another file system. Dropping it unmounts.
#[derive(Debug)]
pub struct Mount {
    attachment: Attachment,
    /// None after the unmount.
    session: Option<Session>,
    alive: watch::Receiver<()>,
    tally: Arc<Tally>,
    not_passed: Option<String>,
    /// The requests that wait; none for a mount made by [`Mount::of`].
    waits: Option<Arc<Waits>>,
}

impl Mount {
    /// Mounts `forerun` on `directory`, which must be empty. The directory can be used when this
    /// returns.
    ///
    /// # Errors
    /// * [`ErrorKind::Invalid`] if the directory is unsuitable.
    /// * [`ErrorKind::Permanent`] if the system does not allow the mount.
    /// * [`ErrorKind::Denied`] if the kernel's readahead cannot be set as large as the options say.
    /// * The backend's error if its root cannot be read.
    pub fn new(forerun: Forerun, directory: &Path, options: MountOptions) -> Result<Mount> {
        let directory = check_mount_point(directory)?;
        Mount::begin(forerun, options, Queues::Own, |source, access| attach(directory, source, access))
    }

    /// Serves `forerun` by `device`, which another program has opened and mounted, and will
    /// unmount. Messages call it `name`. Needs no rights.
    ///
    /// # Errors
    /// * [`ErrorKind::Invalid`] for an option that only the mounting program can choose.
    /// * [`ErrorKind::Permanent`] if nothing is mounted.
    /// * The backend's error if its root cannot be read.
    pub fn on_device(forerun: Forerun, device: OwnedFd, name: &Path, options: MountOptions) -> Result<Mount> {
        prepare(&device, name, &options)?;
        // A second queue needs the device to be opened, which containers may not do.
        Mount::begin(forerun, options, Queues::Shared, |_, _| Ok((device, Attachment::of_others(name))))
    }

    fn begin(
        forerun: Forerun,
        options: MountOptions,
        queues: Queues,
        attach: impl FnOnce(&str, Access) -> Result<(OwnedFd, Attachment)>,
    ) -> Result<Mount> {
        let root = forerun.stat_blocking("")?;
        if root.kind != Kind::Directory {
            let message = format!("{} is not a directory: mount the directory that holds it", forerun.url());
            return Err(Error::new(ErrorKind::NotADirectory, message));
        }
        let defaults = Defaults::now();
        let source = mount_source(&forerun.url());
        let (ended, alive) = watch::channel(());
        let (pusher, queue) = push_queue();
        let tally = Arc::new(Tally::default());
        let passthrough = options.passthrough.then(Arc::<Passthrough>::default);
        // A mount by another program numbers threads as that program sees them.
        let waits = Arc::new(Waits::new(forerun.clone(), queues == Queues::Own));
        let tree = Tree::new(forerun, root, defaults, options.metadata_ttl, options.hints, waits.clone())
            .with_governor(tally.clone(), options.push.then_some(pusher))
            .with_passthrough(passthrough.clone());
        let filesystem = ForerunFilesystem::new(tree, window::offer(options.kernel_readahead_bytes), ended);
        let access =
            Access { allow_other: options.allow_other, writable: options.hints, noexec: options.noexec };
        let (device, attachment) = attach(&source, access)?;
        let channel = Channel::new(device, options.requests.clone());
        let mut mount = Mount::serve(filesystem, alive, channel, attachment, queues, passthrough.as_deref())?;
        if let Some(session) = &mount.session {
            queue.start(session.channel().clone(), tally.clone());
        }
        window::raise(mount.attachment.file_system(), options.kernel_readahead_bytes)?;
        mount.tally = tally;
        mount.waits = Some(waits);
        Ok(mount)
    }

    /// Mounts any `filesystem` on `directory`, which must be empty. The file system holds the
    /// sender of `alive`, and is dropped when the kernel hangs up. `mount` and `df` show `source`
    /// as mounted.
    ///
    /// # Errors
    /// * [`ErrorKind::Invalid`] if the directory is unsuitable.
    /// * [`ErrorKind::Permanent`] if the system does not allow the mount.
    pub fn of(
        filesystem: impl Filesystem,
        alive: watch::Receiver<()>,
        directory: &Path,
        source: &str,
        access: Access,
    ) -> Result<Mount> {
        let (device, attachment) = attach(check_mount_point(directory)?, source, access)?;
        Mount::serve(filesystem, alive, Channel::new(device, None), attachment, Queues::Own, None)
    }

    fn serve(
        filesystem: impl Filesystem,
        alive: watch::Receiver<()>,
        channel: Channel,
        attachment: Attachment,
        queues: Queues,
        passthrough: Option<&Passthrough>,
    ) -> Result<Mount> {
        // A failed mount is dead, and so can be removed, only once the session has closed the
        // connection.
        let session =
            Session::start(filesystem, channel, queues).map_err(|error| not_accepted(&attachment, &error))?;
        let not_passed = passthrough.and_then(|passthrough| passthrough.begin(session.channel()).err());
        let (session, tally) = (Some(session), Arc::default());
        Ok(Mount { attachment, session, alive, tally, not_passed, waits: None })
    }

    /// Why no file is passed through although [`MountOptions::passthrough`] was chosen, and the
    /// remedy.
    pub fn not_passed(&self) -> Option<&str> {
        self.not_passed.as_deref()
    }

    /// Counters of the kernel's requests; zeros for a mount made by [`Mount::of`].
    pub fn asked(&self) -> Asked {
        self.tally.get()
    }

    /// The full path of the mount point, or the name of a mount by another program.
    pub fn directory(&self) -> &Path {
        self.attachment.directory()
    }

    /// Waits until it is unmounted, by any program.
    pub async fn ended(&self) {
        // An error means that the sender is gone: nothing is ever sent.
        let _ = self.alive.clone().changed().await;
    }

    /// Unmounts; lazily if the mount is in use.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`] if the system does not allow the unmount, or if the session had
    /// ended before for another reason.
    pub fn unmount(mut self) -> Result<Unmounted> {
        self.unmount_now()
    }

    fn unmount_now(&mut self) -> Result<Unmounted> {
        let Some(session) = self.session.take() else { return Ok(Unmounted::Clean) };
        if self.has_ended() {
            // The session first: it holds the connection, and the rest of the mount is dead only
            // without it.
            let end = end_of(session);
            self.attachment.remove_if_dead();
            return match end {
                Some(Err(error)) => Err(self.failed(&error)),
                _ => Ok(Unmounted::Clean),
            };
        }
        // Waiting requests hold pages, for which an unmount waits.
        self.waits.iter().for_each(|waits| waits.close());
        let unmounted = self.attachment.detach()?;
        if unmounted != Unmounted::Clean {
            return Ok(unmounted);
        }
        match end_of(session) {
            Some(end) => {
                if let Err(error) = end {
                    tracing::warn!(
                        target: "forerun::mount",
                        "the mount on {} ended with: {error}", self.directory().display()
                    );
                }
                Ok(Unmounted::Clean)
            }
            None => Ok(Unmounted::Detached),
        }
    }

    fn failed(&self, error: &io::Error) -> Error {
        let shown = self.directory().display();
        Error::new(
            ErrorKind::Permanent,
            format!("the mount on {shown} failed and is gone: {error}; mount it again"),
        )
    }

    fn has_ended(&self) -> bool {
        self.alive.has_changed().is_err()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Err(error) = self.unmount_now() {
            tracing::warn!(target: "forerun::mount", "{error}");
        }
    }
}

fn not_accepted(attachment: &Attachment, error: &io::Error) -> Error {
    attachment.remove_if_dead();
    let shown = attachment.directory().display();
    Error::new(
        ErrorKind::Permanent,
        format!("the kernel does not accept the mount {shown}: {error}; unmount it and mount again"),
    )
}
