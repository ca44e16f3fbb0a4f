//! Networks that a test has for itself, so that it may change their limits and addresses.

use std::env;
use std::process::{Command, Stdio};

use crate::NotRun;

/// Namespaces for networks and processes; everything in them ends with the command.
const APART: [&str; 5] = ["--net", "--pid", "--fork", "--kill-child", "--"];

/// Root may have those as they are, even where no user may be mapped (a chroot, a sysctl); others become root of a namespace
/// first.
const AS: [&[&str]; 2] = [&[], &["--map-root-user"]];

/// Loopback is down in a new network.
const BEGIN: [&str; 4] = ["bash", "-c", r#"PATH="$PATH:/usr/sbin:/sbin"; ip link set lo up && exec "$@""#, "bash"];

/// A command that runs the program which is appended to it, with its arguments, as root of a network of its own where
/// only loopback is up. With its network it also has that network's `/proc/sys/net`.
///
/// `None` where there is no such network to be had: then it says `NOT RUN`, as [`require!`](crate::require) does.
///
/// # Panics
/// In that case, if the environment has `REPRISE_REQUIRE_SERVERS=1` and not `REPRISE_WITHOUT_NAMESPACES=1`. The latter is
/// for machines where namespaces are forbidden by design, such as a container without the right to make more of them.
#[must_use]
pub fn own_network() -> Option<Command> {
    let mut refusal = String::new();
    for who in AS {
        let command = || {
            let mut command = Command::new("unshare");
            command.args(who).args(APART).args(BEGIN).stdin(Stdio::null());
            command
        };
        refusal = match command().arg("true").output() {
            Ok(tried) if tried.status.success() => return Some(command()),
            Ok(tried) => String::from_utf8_lossy(&tried.stderr).trim().to_owned(),
            Err(error) => format!("unshare: {error}"),
        };
    }
    let not_run = NotRun::new(format!("a network of its own ({refusal})"));
    if env::var_os("REPRISE_WITHOUT_NAMESPACES").is_some_and(|value| value == "1") {
        not_run.say();
    } else {
        not_run.announce();
    }
    None
}
