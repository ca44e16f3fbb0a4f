//! The client programs: where they stand, and those that are compiled.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A folder for what is compiled and for what clients save.
pub(crate) struct Programs {
    directory: TempDir,
}

impl Programs {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// A file of this test's folder.
    pub(crate) fn client(file: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnose_client/clients").join(file);
        path.to_str().unwrap().to_owned()
    }

    /// A file that a client may write.
    pub(crate) fn file(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    /// The Go program, built once.
    pub(crate) fn go(&self) -> String {
        let program = self.directory.path().join("client-go");
        self.build(&program, Command::new("go").args(["build", "-o"]).arg(&program).arg(Self::client("client.go")));
        program.to_str().unwrap().to_owned()
    }

    /// The folder of the Java class, compiled once.
    pub(crate) fn java(&self) -> String {
        let folder = self.directory.path().join("java");
        self.build(&folder, Command::new("javac").arg("-d").arg(&folder).arg(Self::client("Client.java")));
        folder.to_str().unwrap().to_owned()
    }

    fn build(&self, result: &Path, command: &mut Command) {
        if result.exists() {
            return;
        }
        // The standard library and the toolchain that is here are enough.
        command.envs([("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("CGO_ENABLED", "0"), ("GO111MODULE", "off")]);
        let output = command.current_dir(self.directory.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
