//! The contenders: ways to read the data.

use std::net::SocketAddr;
use std::path::Path;

use tokio::process::Command;

use crate::demo::process::{Ready, rclone, this_program};
use crate::demo::store::BUCKET;

/// The memory of every mount and every server of Forerun.
pub(super) const MEMORY: &str = "256MiB";

/// A way to read the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) enum Contender {
    Forerun,
    None,
    Window,
    Rclone,
    Copy,
    /// `forerun serve`, for clients of its protocols.
    Served,
    /// A server on each of two nodes.
    Nodes,
    /// The same servers, which share a cache.
    CachedNodes,
    /// `rclone serve nfs`, for clients of NFS.
    RcloneNfs,
    /// The store itself, for its own clients.
    Direct,
}

/// The data to mount.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    Store(SocketAddr),
    Directory(&'a Path),
}

impl Contender {
    /// The contenders of programs that read files.
    pub(super) const ALL: [Contender; 5] =
        [Contender::Forerun, Contender::None, Contender::Window, Contender::Rclone, Contender::Copy];

    /// Its name for `--contenders`.
    pub(in crate::demo) fn name(self) -> &'static str {
        match self {
            Contender::Forerun => "forerun",
            Contender::None => "none",
            Contender::Window => "128k",
            Contender::Rclone => "rclone",
            Contender::Copy => "copy",
            Contender::Served => "serve",
            Contender::Nodes => "nodes",
            Contender::CachedNodes => "nodes-nginx",
            Contender::RcloneNfs => "rclone-nfs",
            Contender::Direct => "direct",
        }
    }

    pub(in crate::demo) fn title(self) -> &'static str {
        match self {
            Contender::Forerun => "Forerun",
            Contender::None => "`--policy none`",
            Contender::Window => "`--kernel-readahead 128KiB`",
            Contender::Rclone => "rclone",
            Contender::Copy => "the local copy",
            Contender::Served => "`forerun serve`",
            Contender::Nodes => "2 × `forerun serve`",
            Contender::CachedNodes => "2 × `forerun serve`, nginx",
            Contender::RcloneNfs => "`rclone serve nfs`",
            Contender::Direct => "direct",
        }
    }

    /// The number of servers that it starts, if it has servers.
    pub(super) fn nodes(self) -> Option<usize> {
        match self {
            Contender::Served => Some(1),
            Contender::Nodes | Contender::CachedNodes => Some(2),
            _ => None,
        }
    }

    /// Whether its servers share a cache.
    pub(super) fn has_cache(self) -> bool {
        self == Contender::CachedNodes
    }

    /// The contender named `name`.
    ///
    /// # Errors
    /// The valid names.
    pub(super) fn parse(name: &str) -> Result<Contender, String> {
        Contender::ALL
            .into_iter()
            .find(|one| one.name() == name)
            .ok_or_else(|| format!("expected one of {}", Contender::ALL.map(Contender::name).join(", ")))
    }

    /// The program that mounts `source`, without the directory to mount on. None for contenders that
    /// are read without a mount.
    ///
    /// # Errors
    /// Forerun does not find its own program, or rclone is to mount a directory.
    pub(super) fn mount(self, source: Source<'_>) -> Result<Option<(Command, Ready)>, String> {
        let options: &[&str] = match self {
            Contender::Forerun => &[],
            Contender::None => &["--policy", "none"],
            Contender::Window => &["--kernel-readahead", "128KiB"],
            Contender::Rclone => return rclone_mount(source).map(Some),
            Contender::Copy
            | Contender::Served
            | Contender::Nodes
            | Contender::CachedNodes
            | Contender::RcloneNfs
            | Contender::Direct => return Ok(None),
        };
        let mut program = this_program()?;
        program.args(["mount", "--memory", MEMORY]).args(options);
        match source {
            Source::Store(address) => program
                .args(["--anonymous", "--region", "us-east-1", "--endpoint", &format!("http://{address}")])
                .arg(format!("s3://{BUCKET}")),
            Source::Directory(directory) => program.arg(directory),
        };
        Ok(Some((program, Ready::Told)))
    }
}

fn rclone_mount(source: Source<'_>) -> Result<(Command, Ready), String> {
    let Source::Store(address) = source else {
        return Err("rclone reads from the store: leave it out of --contenders with --local".to_owned());
    };
    Ok((rclone("rclone".as_ref(), &["mount", "--vfs-cache-mode", "off"], address), Ready::Shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(contender: Contender, source: Source<'_>) -> String {
        let (command, _) = contender.mount(source).unwrap().unwrap();
        let arguments = command.as_std().get_args().map(|one| one.to_string_lossy());
        arguments.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn contenders_differ_in_one_option() {
        let source = Source::Store(([127, 0, 0, 1], 80).into());
        let rest = "--anonymous --region us-east-1 --endpoint http://127.0.0.1:80 s3://demo";
        assert_eq!(arguments(Contender::Forerun, source), format!("mount --memory 256MiB {rest}"));
        assert_eq!(arguments(Contender::None, source), format!("mount --memory 256MiB --policy none {rest}"));
        assert!(arguments(Contender::Rclone, source).ends_with("endpoint='http://127.0.0.1:80':demo"));
        let source = Source::Directory(Path::new("/data"));
        let window = "mount --memory 256MiB --kernel-readahead 128KiB /data";
        assert_eq!(arguments(Contender::Window, source), window);
        assert!(Contender::Rclone.mount(source).is_err());
        let unmounted = [
            (Contender::Copy, None),
            (Contender::Direct, None),
            (Contender::Served, Some(1)),
            (Contender::Nodes, Some(2)),
            (Contender::CachedNodes, Some(2)),
            (Contender::RcloneNfs, None),
        ];
        for (contender, nodes) in unmounted {
            assert!(contender.mount(source).unwrap().is_none());
            assert_eq!(contender.nodes(), nodes);
        }
    }

    #[test]
    fn finds_contenders_by_their_names() {
        for contender in Contender::ALL {
            assert_eq!(Contender::parse(contender.name()), Ok(contender));
        }
        assert!(Contender::parse("plain").unwrap_err().contains("128k"));
    }
}
