//! The client programs: where they stand, and those that are compiled.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A folder for programs, as they are or with a remedy in them, for what is compiled and for what clients save.
pub(crate) struct Programs {
    directory: TempDir,
    /// What stands in a program, and what takes its place.
    change: Option<(&'static str, String)>,
}

impl Programs {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), change: None }
    }

    /// Of which this stands in place of that.
    pub(crate) fn with(code: &str, fault: &'static str) -> Self {
        Self { change: Some((fault, code.to_owned())), ..Self::new() }
    }

    /// A program of this test's folder.
    pub(crate) fn client(&self, file: &str) -> String {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnose_client/clients").join(file);
        let mut text = std::fs::read_to_string(source).unwrap();
        if let Some((fault, code)) = &self.change {
            assert_eq!(text.matches(fault).count(), 1, "{file}: {fault}");
            text = text.replacen(fault, code, 1);
        }
        let path = self.path(file);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A file that a client may write.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The Go program, built once.
    pub(crate) fn go(&self) -> String {
        self.built("client-go", |program| {
            let mut command = Command::new("go");
            // The standard library and the toolchain that is here are enough.
            command.envs([("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("CGO_ENABLED", "0"), ("GO111MODULE", "off")]);
            command.args(["build", "-o"]).arg(program).arg(self.client("client.go"));
            command
        })
    }

    /// The folder of the Java class, compiled once.
    pub(crate) fn java(&self) -> String {
        self.built("java", |folder| {
            let mut command = Command::new("javac");
            command.arg("-d").arg(folder).arg(self.client("Client.java"));
            command
        })
    }

    /// A program in C, built once.
    pub(crate) fn c(&self, file: &str, libraries: &[&str]) -> String {
        self.built("client-c", |program| {
            let mut command = Command::new("cc");
            command.args(["-Wall", "-Werror", "-o"]).arg(program).arg(self.client(file)).args(libraries);
            command
        })
    }

    fn built(&self, name: &str, command: impl Fn(&Path) -> Command) -> String {
        let result = self.path(name);
        if !result.exists() {
            let output = command(&result).current_dir(self.directory.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        result.to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}
