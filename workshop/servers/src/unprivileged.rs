//! Servers that do not run as root, whoever runs the tests.

use std::path::Path;
use std::process::Command;

use reprise_lab::LabError;

use crate::Result;

/// As every Unix numbers it.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

/// Whether this is root. Where there is no such user, nobody is.
pub(super) fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}

/// Where this is root, the program becomes nobody as it starts.
pub(super) fn run_as_nobody(command: &mut Command) {
    // Who may not enter the directory of the tests is not told of it.
    command.current_dir("/");
    #[cfg(unix)]
    if is_root() {
        use std::os::unix::process::CommandExt;
        command.uid(NOBODY).gid(NOBODY);
    }
}

/// The numbers of the user and the group as which a program runs that [`run_as_nobody`] was asked for.
pub(super) fn ids_of_nobody() -> [u32; 2] {
    #[cfg(unix)]
    if !is_root() {
        return [rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()];
    }
    #[cfg(unix)]
    return [NOBODY; 2];
    #[cfg(not(unix))]
    [0; 2]
}

/// Keeps a file from all but its owner.
pub(super) fn owner_alone(path: &Path) -> Result<()> {
    #[cfg(unix)]
    let kept = {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
    };
    #[cfg(not(unix))]
    let kept = Ok(());
    Ok(kept.map_err(|source| LabError::File { path: path.to_owned(), source })?)
}

/// Where this is root, gives a file or folder to nobody.
pub(super) fn hand_over(path: &Path) -> Result<()> {
    #[cfg(unix)]
    let given = if is_root() { std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)) } else { Ok(()) };
    #[cfg(not(unix))]
    let given = Ok(());
    Ok(given.map_err(|source| LabError::File { path: path.to_owned(), source })?)
}

/// Lets a server's own users enter its directory; private keys in it stay private.
pub(super) fn open_to_all(root: &Path) -> Result<()> {
    #[cfg(unix)]
    let opened = {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(root, std::fs::Permissions::from_mode(0o755))
    };
    #[cfg(not(unix))]
    let opened = Ok(());
    Ok(opened.map_err(|source| LabError::File { path: root.to_owned(), source })?)
}
