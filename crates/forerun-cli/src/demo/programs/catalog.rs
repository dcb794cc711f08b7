//! The programs that are measured.

use super::data_set::DataSet;

/// One program.
#[derive(Clone, Copy, Debug)]
pub(in crate::demo) struct Program {
    /// Its name for `--only` and for its file.
    pub(in crate::demo) name: &'static str,
    pub(in crate::demo) file: ProgramFile,
    pub(in crate::demo) title: &'static str,
    pub(in crate::demo) set: DataSet,
}

/// The file that has a program.
#[derive(Clone, Copy, Debug)]
pub(in crate::demo) enum ProgramFile {
    /// A script, and the virtual environment with its packages.
    Script { name: &'static str, venv: &'static str },
    /// `forerun bench-client`.
    Own,
}

const fn row(script: &'static str, name: &'static str, title: &'static str) -> Program {
    Program { name, file: ProgramFile::Script { name: script, venv: VENV }, title, set: DataSet::Mixed }
}

/// The virtual environment that also builds the data set.
pub(super) const VENV: &str = "venv";

pub(super) const PROGRAMS: [Program; 26] = [
    row("tensors.py", "load-file", "safetensors `load_file`, 1 GiB in 2 shards"),
    row("tensors.py", "load-file-2", "the same by 2 processes"),
    row("tensors.py", "load-file-4", "the same by 4 processes"),
    row("tensors.py", "every-5th", "safetensors `safe_open`, every 5th of 1000 tensors"),
    row("tensors.py", "row-slices", "safetensors `get_slice`, a quarter of each tensor's rows"),
    row("tensors.py", "gguf", "gguf `GGUFReader`, every tensor of 500 MiB"),
    row("arrays.py", "memmap", "numpy memmap, one copy of 1 GiB"),
    row("arrays.py", "memmap-backward", "numpy memmap, one copy backward"),
    row("arrays.py", "quarters-threads", "numpy memmap, a quarter for each of 4 threads"),
    row("arrays.py", "quarters-processes", "numpy memmap, a quarter for each of 4 processes"),
    row("arrays.py", "slices", "numpy memmap, slices of 4 MiB in order"),
    row("arrays.py", "slices-random", "numpy memmap, slices of 4 MiB at random"),
    row("arrays.py", "pread", "pread, slices of 4 MiB in order"),
    row("arrays.py", "pread-random", "pread, slices of 4 MiB at random"),
    row("arrays.py", "touches", "numpy memmap, 2000 random pages"),
    row("arrays.py", "players", "2 players of one file, 40 MB/s each, 0.5 s apart"),
    row("tables.py", "parquet", "pyarrow, 3 of 20 columns of a Parquet file"),
    row("tables.py", "duckdb", "DuckDB, 3 of 20 columns of a Parquet file"),
    row("tables.py", "zip-members", "zipfile, 200 of 2000 members"),
    row("tables.py", "h5-chunks", "h5py, 200 of 1024 chunks of 256 KiB at random"),
    row("files.py", "tar", "`tar -x`, 2000 files of 150 KB"),
    row("files.py", "cp", "`cp -r`, 2000 files of 4 to 64 KiB"),
    row("files.py", "grep", "`grep -r`, the same files"),
    row("files.py", "diff", "`diff -r`, the same files with a local copy"),
    row("files.py", "loader", "a loader with 4 processes, 2000 shuffled files of 150 KB"),
    row("files.py", "erofs", "an EROFS image on a loop device, 2000 files of 150 KB"),
];

impl Program {
    /// The program named `name`.
    ///
    /// # Errors
    /// The valid names.
    pub(super) fn parse(name: &str) -> Result<Program, String> {
        PROGRAMS.into_iter().find(|row| row.name == name).ok_or_else(|| expected(&PROGRAMS))
    }
}

/// The valid names of `programs`, as an error.
pub(in crate::demo) fn expected(programs: &[Program]) -> String {
    let names: Vec<_> = programs.iter().map(|row| row.name).collect();
    format!("expected one of {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_rows_by_their_names() {
        for row in PROGRAMS {
            assert_eq!(Program::parse(row.name).unwrap().title, row.title);
        }
        assert!(Program::parse("memory").unwrap_err().contains("memmap-backward"));
    }
}
