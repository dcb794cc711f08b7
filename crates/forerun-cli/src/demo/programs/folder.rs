//! The folder of the scripts, their interpreter and the data set.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::process::Command;

use super::catalog::Program;
use crate::print::tell;

/// The scripts, as text: an installed program has no source tree beside it.
const SCRIPTS: [(&str, &str); 6] = [
    ("common.py", include_str!("../../../programs/common.py")),
    ("data.py", DATA_SCRIPT),
    ("arrays.py", include_str!("../../../programs/arrays.py")),
    ("files.py", include_str!("../../../programs/files.py")),
    ("tables.py", include_str!("../../../programs/tables.py")),
    ("tensors.py", include_str!("../../../programs/tensors.py")),
];
const DATA_SCRIPT: &str = include_str!("../../../programs/data.py");

/// The data set, and the scripts that read it.
#[derive(Debug)]
pub(super) struct Folder {
    scripts: TempDir,
    python: PathBuf,
    data: PathBuf,
}

impl Folder {
    /// Builds the data set in `folder` unless it exists.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn open(folder: &Path) -> Result<Folder, String> {
        let folder = std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let python = folder.join("venv/bin/python");
        if !python.exists() {
            return Err(format!(
                "{} is missing: run `make bench-programs`, which installs it",
                python.display()
            ));
        }
        let scripts = write_scripts().map_err(|error| format!("writing the programs: {error}"))?;
        let opened = Folder { scripts, python, data: folder.join("data") };
        // A data set of another version of the script is rebuilt.
        let built_by = folder.join("data.py");
        if fs::read_to_string(&built_by).is_ok_and(|text| text == DATA_SCRIPT) {
            return Ok(opened);
        }
        opened.build().await?;
        fs::write(&built_by, DATA_SCRIPT)
            .map_err(|error| format!("writing {}: {error}", built_by.display()))?;
        Ok(opened)
    }

    async fn build(&self) -> Result<(), String> {
        let data = self.data.display();
        tell(&format!("building the data set, 4.6 GB, in {data}"));
        if self.data.exists() {
            fs::remove_dir_all(&self.data).map_err(|error| format!("removing {data}: {error}"))?;
        }
        fs::create_dir_all(&self.data).map_err(|error| format!("creating {data}: {error}"))?;
        let built = self.script("data.py").arg(&self.data).status().await;
        match built {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("building {data} failed ({status}): see above for why")),
            Err(error) => Err(format!("{} does not start: {error}", self.python.display())),
        }
    }

    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// The program of `row`, which reads below `place`.
    pub(super) fn program(&self, row: Program, place: &Path) -> Command {
        let mut program = self.script(row.script);
        program.arg(row.name).arg(place).env("FORERUN_BENCH_DATA", &self.data);
        program
    }

    fn script(&self, name: &str) -> Command {
        let mut program = Command::new(&self.python);
        program.arg(self.scripts.path().join(name)).kill_on_drop(true);
        program
    }
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

    #[test]
    fn every_row_has_its_script() {
        let scripts = write_scripts().unwrap();
        for row in PROGRAMS {
            let text = fs::read_to_string(scripts.path().join(row.script)).unwrap();
            assert!(text.contains("from common import"), "{}", row.name);
        }
    }

    #[tokio::test]
    async fn a_missing_interpreter_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let error = Folder::open(directory.path()).await.unwrap_err();
        assert!(error.contains("make bench-programs"), "{error}");
    }

    #[tokio::test]
    async fn builds_the_data_set_once_for_each_script() {
        let directory = tempfile::tempdir().unwrap();
        let bin = directory.path().join("venv/bin");
        fs::create_dir_all(&bin).unwrap();
        let log = directory.path().join("log");
        fs::write(bin.join("python"), format!("#!/bin/sh\necho built >> {}\n", log.display())).unwrap();
        fs::set_permissions(bin.join("python"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for script in [None, None, Some("other")] {
            if let Some(script) = script {
                fs::write(directory.path().join("data.py"), script).unwrap();
            }
            Folder::open(directory.path()).await.unwrap();
        }
        assert_eq!(fs::read_to_string(log).unwrap(), "built\nbuilt\n");
    }
}
