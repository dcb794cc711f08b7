//! The clients that are measured, and their goals.

use super::goal::Goal;
use crate::demo::programs::{Contender, DataSet, Program, ProgramFile, expected};

/// A client and the ways in which it reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientRow {
    pub(super) client: Program,
    /// The first is the one that has the goal.
    pub(super) contenders: &'static [Contender],
    pub(super) goal: Goal,
    /// Bytes that the store may send for each byte that the client asks for.
    pub(super) sent_max: Option<f64>,
}

/// Clients of S3 read from the store as well.
const S3: &[Contender] = &[Contender::Served, Contender::Direct];
const S3_AND_MOUNT: &[Contender] = &[Contender::Served, Contender::Direct, Contender::Forerun];
const NFS: &[Contender] = &[Contender::Served, Contender::RcloneNfs, Contender::Forerun];
const NODES: &[Contender] = &[Contender::CachedNodes, Contender::Direct];
const NODES_WITHOUT_CACHE: &[Contender] = &[Contender::CachedNodes, Contender::Nodes];

/// Bytes sent for each byte asked, as for readers of a mount (docs/bench.md).
const SENT_MAX: f64 = 1.05;
/// The object fits into the memory of the server, which fetches it once for all processes.
const SHARED_SENT_MAX: f64 = 1.02;
/// The link has 400 MB/s. One client's own processor time takes the rest.
const ONE_CLIENT: Goal = Goal::MbS(320.0);
/// At the store, 4 transfers wait 10 ms for each of 2000 files: 5 s. Readahead saves that, but no processor time.
const SMALL_FILES: Goal = Goal::TimesDirect(2.5);
/// Each of two connections has 20 MB/s, and the link 100 MB/s.
const TWO_NODES: Goal = Goal::TimesDirect(2.0);
/// The cache fetches each byte once.
const CACHED_SENT_MAX: f64 = 1.005;
/// As fast: runs of seconds on a shared machine differ by less.
const LIKE_MOUNT: Goal = Goal::MountShare(0.9);

const fn script(
    (name, venv): (&'static str, &'static str),
    client: &'static str,
    title: &'static str,
    goal: Goal,
) -> ClientRow {
    let client =
        Program { name: client, file: ProgramFile::Script { name, venv }, title, set: DataSet::Mixed };
    ClientRow { client, contenders: S3, goal, sent_max: Some(SENT_MAX) }
}

/// A client with a process on each of two nodes.
const fn frames(client: &'static str, title: &'static str) -> ClientRow {
    let row = script(DASK, client, title, TWO_NODES);
    let client = Program { set: DataSet::Frames, ..row.client };
    ClientRow { client, contenders: NODES, sent_max: Some(CACHED_SENT_MAX), ..row }
}

const fn native(
    client: &'static str,
    title: &'static str,
    contenders: &'static [Contender],
    goal: Goal,
) -> ClientRow {
    let client = Program { name: client, file: ProgramFile::Own, title, set: DataSet::Mixed };
    ClientRow { client, contenders, goal, sent_max: Some(SENT_MAX) }
}

const LIBRARIES: (&str, &str) = ("clients.py", "venv-clients");
const COMMANDS: (&str, &str) = ("commands.py", "venv-clients");
/// s3fs needs another botocore than boto3.
const S3FS: (&str, &str) = ("s3fs_clients.py", "venv-s3fs");

const DASK: (&str, &str) = ("dask_clients.py", "venv-s3fs");

pub(super) const ROWS: [ClientRow; 16] = [
    script(LIBRARIES, "get-object", "boto3, one `get_object` of 1 GiB", ONE_CLIENT),
    ClientRow {
        sent_max: Some(SHARED_SENT_MAX),
        ..script(LIBRARIES, "get-object-32", "boto3, 128 MiB by each of 32 processes", Goal::NotSlower)
    },
    script(COMMANDS, "aws-cp", "`aws s3 cp` of 1 GiB", Goal::NotSlower),
    script(COMMANDS, "aws-sync", "`aws s3 sync`, 2000 files of 4 to 64 KiB", Goal::NotSlower),
    script(COMMANDS, "rclone-copy", "`rclone copy --transfers 4`, the same files", SMALL_FILES),
    script(S3FS, "s3fs-read", "s3fs, 1 GiB in reads of 4 MiB", Goal::NotSlower),
    // Parquet files are read in short extents at places that nothing foretells.
    ClientRow {
        sent_max: None,
        ..script(S3FS, "s3fs-parquet", "pyarrow on s3fs, 3 of 20 Parquet columns", Goal::NotSlower)
    },
    ClientRow {
        sent_max: None,
        ..script(LIBRARIES, "arrow-parquet", "pyarrow's own S3, 3 of 20 Parquet columns", Goal::NotSlower)
    },
    ClientRow {
        sent_max: None,
        ..script(LIBRARIES, "duckdb-parquet", "DuckDB httpfs, 3 of 20 Parquet columns", Goal::NotSlower)
    },
    native("interleaved", "object_store, 8 interleaved readers, 8 MiB", S3_AND_MOUNT, LIKE_MOUNT),
    native("backward", "object_store, 1 GiB backward, 8 MiB", S3_AND_MOUNT, LIKE_MOUNT),
    native("nfs-1m", "NFS, 8 interleaved readers, 16 of 1 MiB at a time", NFS, LIKE_MOUNT),
    native("nfs-32k", "NFS, 8 interleaved readers, 16 of 32 KiB at a time", NFS, LIKE_MOUNT),
    ClientRow {
        contenders: NFS,
        ..script(COMMANDS, "nfs-cat", "`nfs-cat` of 1 GiB, beside `cat`", LIKE_MOUNT)
    },
    frames("dask-parquet", "Dask, 2 workers, half of 2 GB of Parquet each"),
    ClientRow {
        contenders: NODES_WITHOUT_CACHE,
        // The cache makes two nodes slower: nginx looks only twice a second whether a slice has come.
        goal: Goal::Bytes,
        ..frames("dask-parquet-twice", "Dask, 2 workers, all of 2 GB of Parquet each")
    },
];

impl ClientRow {
    /// The row whose client is named `name`.
    ///
    /// # Errors
    /// The valid names.
    pub(super) fn parse(name: &str) -> Result<ClientRow, String> {
        let found = ROWS.into_iter().find(|row| row.client.name == name);
        found.ok_or_else(|| expected(&ROWS.map(|row| row.client)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_rows_by_their_names() {
        for row in ROWS {
            assert_eq!(ClientRow::parse(row.client.name).unwrap().client.title, row.client.title);
        }
        assert!(ClientRow::parse("memory").unwrap_err().contains("aws-sync"));
    }

    #[test]
    fn every_goal_has_the_contenders_that_it_compares_with() {
        for row in ROWS {
            let has = |contender| row.contenders.contains(&contender);
            let own = row.contenders[0];
            assert!([Contender::Served, Contender::CachedNodes].contains(&own), "{}", row.client.name);
            match row.goal {
                Goal::MbS(_) | Goal::Bytes => {}
                Goal::NotSlower | Goal::TimesDirect(_) => assert!(has(Contender::Direct)),
                Goal::MountShare(_) => assert!(has(Contender::Forerun)),
            }
        }
    }
}
