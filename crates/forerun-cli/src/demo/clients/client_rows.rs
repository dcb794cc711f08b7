//! The clients that are measured, and their goals.

use super::goal::Goal;
use crate::demo::programs::{Contender, Program, ProgramFile};

/// A client and the ways in which it reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientRow {
    pub(super) client: Program,
    pub(super) contenders: &'static [Contender],
    pub(super) goal: Goal,
    /// Bytes that the store may send for each byte that the client asks for.
    pub(super) sent_max: Option<f64>,
}

/// Clients of S3 read from the store as well.
const S3: &[Contender] = &[Contender::Served, Contender::Direct];
const S3_AND_MOUNT: &[Contender] = &[Contender::Served, Contender::Direct, Contender::Forerun];
const NFS: &[Contender] = &[Contender::Served, Contender::Forerun];

/// Bytes sent for each byte asked, unless a row has another limit.
const SENT_MAX: f64 = 1.05;

const fn script(
    (name, venv): (&'static str, &'static str),
    client: &'static str,
    title: &'static str,
    goal: Goal,
) -> ClientRow {
    let client = Program { name: client, file: ProgramFile::Script { name, venv }, title };
    ClientRow { client, contenders: S3, goal, sent_max: Some(SENT_MAX) }
}

const fn native(
    client: &'static str,
    title: &'static str,
    contenders: &'static [Contender],
    goal: Goal,
) -> ClientRow {
    let client = Program { name: client, file: ProgramFile::Own, title };
    ClientRow { client, contenders, goal, sent_max: Some(SENT_MAX) }
}

const LIBRARIES: (&str, &str) = ("clients.py", "venv-clients");
const COMMANDS: (&str, &str) = ("commands.py", "venv-clients");
/// s3fs needs another botocore than boto3.
const S3FS: (&str, &str) = ("s3fs_clients.py", "venv-s3fs");

pub(super) const ROWS: [ClientRow; 14] = [
    script(LIBRARIES, "get-object", "boto3, one `get_object` of 1 GiB", Goal::MbS(320.0)),
    ClientRow {
        sent_max: Some(1.02),
        ..script(LIBRARIES, "get-object-32", "boto3, 128 MiB by each of 32 processes", Goal::NotSlower)
    },
    script(COMMANDS, "aws-cp", "`aws s3 cp` of 1 GiB", Goal::NotSlower),
    script(COMMANDS, "aws-sync", "`aws s3 sync`, 2000 files of 4 to 64 KiB", Goal::NotSlower),
    script(COMMANDS, "rclone-copy", "`rclone copy --transfers 4`, the same files", Goal::TimesDirect(2.5)),
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
    native("interleaved", "object_store, 8 interleaved readers, 8 MiB", S3_AND_MOUNT, Goal::MountShare(0.9)),
    native("backward", "object_store, 1 GiB backward, 8 MiB", S3_AND_MOUNT, Goal::MountShare(0.9)),
    native("nfs-1m", "NFS, 8 interleaved readers, 16 of 1 MiB at a time", NFS, Goal::MountShare(0.9)),
    native("nfs-32k", "NFS, 8 interleaved readers, 16 of 32 KiB at a time", NFS, Goal::MountShare(0.9)),
    ClientRow {
        contenders: NFS,
        ..script(COMMANDS, "nfs-cat", "`nfs-cat` of 1 GiB, beside `cat`", Goal::MountShare(0.9))
    },
];

impl ClientRow {
    /// The row whose client is named `name`.
    ///
    /// # Errors
    /// The valid names.
    pub(super) fn parse(name: &str) -> Result<ClientRow, String> {
        let clients = ROWS.map(|row| row.client);
        let client = Program::named(name, &clients)?;
        ROWS.into_iter().find(|row| row.client.name == client.name).ok_or_else(|| name.to_owned())
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
            assert!(has(Contender::Served), "{}", row.client.name);
            match row.goal {
                Goal::MbS(_) => {}
                Goal::NotSlower | Goal::TimesDirect(_) => assert!(has(Contender::Direct)),
                Goal::MountShare(_) => assert!(has(Contender::Forerun)),
            }
        }
    }
}
