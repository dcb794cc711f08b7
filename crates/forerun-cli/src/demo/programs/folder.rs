//! The folder of the scripts, their interpreter and the data set.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::process::Command;

use super::catalog::{Program, ProgramFile, VENV};
use super::contender::Contender;
use super::data_set::DataSet;
use crate::demo::process::this_program;
use crate::print::tell;

/// The scripts, as text: an installed program has no source tree beside it.
const SCRIPTS: [(&str, &str); 11] = [
    ("common.py", include_str!("../../../programs/common.py")),
    ("data.py", DATA_SCRIPT),
    ("arrays.py", include_str!("../../../programs/arrays.py")),
    ("clients.py", include_str!("../../../programs/clients.py")),
    ("dask_clients.py", include_str!("../../../programs/dask_clients.py")),
    ("commands.py", include_str!("../../../programs/commands.py")),
    ("endpoint.py", include_str!("../../../programs/endpoint.py")),
    ("files.py", include_str!("../../../programs/files.py")),
    ("s3fs_clients.py", include_str!("../../../programs/s3fs_clients.py")),
    ("tables.py", include_str!("../../../programs/tables.py")),
    ("tensors.py", include_str!("../../../programs/tensors.py")),
];
const DATA_SCRIPT: &str = include_str!("../../../programs/data.py");

/// The data sets, and the scripts that read them.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    scripts: TempDir,
}

impl Folder {
    /// Opens the folder at `folder`.
    ///
    /// # Errors
    /// It lacks what builds the data sets.
    pub(super) fn open(folder: &Path) -> Result<Folder, String> {
        let folder = std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let python = python(&folder, VENV);
        if !python.exists() {
            return Err(format!(
                "{} is missing: run `make bench-programs`, which installs it",
                python.display()
            ));
        }
        let scripts = write_scripts().map_err(|error| format!("writing the programs: {error}"))?;
        Ok(Folder { scripts, path: folder })
    }

    /// Builds `set` unless it exists.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn prepare(&self, set: DataSet) -> Result<(), String> {
        // A data set of another version of the script is rebuilt.
        let built_by = self.path.join(set.name()).with_extension("py");
        if fs::read_to_string(&built_by).is_ok_and(|text| text == DATA_SCRIPT) {
            return Ok(());
        }
        self.build(set).await?;
        fs::write(&built_by, DATA_SCRIPT).map_err(|error| format!("writing {}: {error}", built_by.display()))
    }

    async fn build(&self, set: DataSet) -> Result<(), String> {
        let directory = self.data(set);
        let data = directory.display();
        tell(&format!("building the data set, {}, in {data}", set.size()));
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(|error| format!("removing {data}: {error}"))?;
        }
        fs::create_dir_all(&directory).map_err(|error| format!("creating {data}: {error}"))?;
        let built = self.script("data.py", VENV).arg(&directory).arg(set.name()).status().await;
        match built {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("building {data} failed ({status}): see above for why")),
            Err(error) => Err(format!("{} does not start: {error}", python(&self.path, VENV).display())),
        }
    }

    /// The directory of `set`.
    pub(super) fn data(&self, set: DataSet) -> PathBuf {
        self.path.join(set.name())
    }

    /// The program of `row`, which reads below `place`.
    ///
    /// # Errors
    /// This program does not find its own file.
    pub(super) fn program(&self, row: Program, place: &OsStr) -> Result<Command, String> {
        let mut program = match row.file {
            ProgramFile::Script { name, venv } => self.script(name, venv),
            ProgramFile::Own => {
                let mut own = this_program()?;
                own.arg("bench-client");
                own
            }
        };
        program.arg(row.name).arg(place).env("FORERUN_BENCH_DATA", self.data(row.set));
        Ok(program)
    }

    /// The rclone that serves NFS.
    pub(super) fn rclone(&self) -> PathBuf {
        self.path.join("rclone/rclone")
    }

    /// The virtual environment that the program of `row` lacks, or the program that `contender` lacks, as a sentence.
    pub(super) fn lack(&self, row: Program, contender: Contender) -> Option<String> {
        if contender == Contender::RcloneNfs && !self.rclone().exists() {
            return Some("no rclone that serves NFS is installed".to_owned());
        }
        match row.file {
            ProgramFile::Script { venv, .. } if !python(&self.path, venv).exists() => {
                Some(format!("{venv} is not installed"))
            }
            _ => None,
        }
    }

    fn script(&self, name: &str, venv: &str) -> Command {
        let mut program = Command::new(python(&self.path, venv));
        program.arg(self.scripts.path().join(name)).kill_on_drop(true);
        program
    }
}

/// The interpreter of a virtual environment in `folder`.
fn python(folder: &Path, venv: &str) -> PathBuf {
    folder.join(venv).join("bin/python")
}

fn write_scripts() -> std::io::Result<TempDir> {
    let directory = tempfile::tempdir()?;
    for (name, text) in SCRIPTS {
        fs::write(directory.path().join(name), text)?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::super::catalog::PROGRAMS;
    use super::*;
    use crate::demo::clients::clients;

    #[test]
    fn every_row_has_its_script() {
        let scripts = write_scripts().unwrap();
        for row in PROGRAMS.into_iter().chain(clients()) {
            let ProgramFile::Script { name, .. } = row.file else { continue };
            let text = fs::read_to_string(scripts.path().join(name)).unwrap();
            assert!(text.contains("from common import"), "{}", row.name);
        }
    }

    #[test]
    fn a_program_may_lack_its_package_but_not_what_that_imports() {
        let scripts = write_scripts().unwrap();
        fs::write(scripts.path().join("client_with_a_lack.py"), "import absent_codec").unwrap();
        let script = "from common import main, package, program\n\
                      @program\ndef absent(place, clock): package('absent_client.parts')\n\
                      @program\ndef broken(place, clock): package('client_with_a_lack')\n\
                      main()\n";
        let run = |program: &str| {
            let mut python = std::process::Command::new("python3");
            python.current_dir(scripts.path());
            python.args(["-c", script, program, "http://place"]).output().unwrap()
        };
        assert_eq!(run("absent").stdout, b"unavailable absent_client is not installed\n");
        let broken = run("broken");
        assert!(!broken.status.success() && broken.stdout.is_empty(), "{broken:?}");
        assert!(String::from_utf8_lossy(&broken.stderr).contains("absent_codec"), "{broken:?}");
    }

    #[test]
    fn a_missing_interpreter_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let error = Folder::open(directory.path()).unwrap_err();
        assert!(error.contains("make bench-programs"), "{error}");
    }

    #[tokio::test]
    async fn builds_each_data_set_once_for_each_script() {
        let directory = tempfile::tempdir().unwrap();
        let bin = directory.path().join("venv/bin");
        fs::create_dir_all(&bin).unwrap();
        let log = directory.path().join("log");
        fs::write(bin.join("python"), format!("#!/bin/sh\necho built $3 >> {}\n", log.display())).unwrap();
        fs::set_permissions(bin.join("python"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let folder = Folder::open(directory.path()).unwrap();
        for (set, script) in [
            (DataSet::Mixed, None),
            (DataSet::Mixed, None),
            (DataSet::Frames, None),
            (DataSet::Mixed, Some("other")),
            (DataSet::Frames, None),
        ] {
            if let Some(script) = script {
                fs::write(directory.path().join("data.py"), script).unwrap();
            }
            folder.prepare(set).await.unwrap();
        }
        assert_eq!(fs::read_to_string(log).unwrap(), "built data\nbuilt frames\nbuilt data\n");
    }
}
