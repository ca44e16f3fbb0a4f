//! What must be settled before a load begins: where it goes, whether it may, and when.

use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{bail, ensure};
use reprise_connection::Fault;
use reprise_load::is_on_this_machine;
use reprise_probe::Interrupt;

use super::LoadArgs;
use crate::notice::notice;

/// Where the target may be: the addresses of its name, or the one that is named.
pub(super) fn addresses(
    arguments: &LoadArgs,
    named: Option<IpAddr>,
    interrupt: &Interrupt,
) -> Result<Vec<SocketAddr>, Fault> {
    let target = &arguments.target;
    match named.or_else(|| target.address()) {
        Some(address) => Ok(vec![SocketAddr::new(address, target.port)]),
        None => reprise_probe::addresses_of(&target.host, target.port, None, arguments.connection.timeout, interrupt),
    }
}

/// Those of them that may be loaded, at least one. A load on somebody else's server is an attack: whoever may make it has to say
/// so.
pub(super) fn without_strangers(arguments: &LoadArgs, addresses: Vec<SocketAddr>) -> anyhow::Result<Vec<SocketAddr>> {
    let is_allowed = |address: &SocketAddr| is_on_this_machine(address.ip()) || arguments.i_may_load_this_target;
    let (allowed, strangers): (Vec<_>, Vec<_>) = addresses.into_iter().partition(is_allowed);
    match strangers.first() {
        Some(stranger) if allowed.is_empty() => bail!(
            "{} is not on this machine. A load test takes capacity away from the server's users, so it needs the owner's \
                consent: if you have it, add --i-may-load-this-target",
            stranger.ip()
        ),
        _ => Ok(allowed),
    }
}

/// Nobody has generators wait for longer.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Several generators begin at the same second of their clocks.
pub(super) fn wait_for_start(arguments: &LoadArgs, interrupt: &Interrupt) -> anyhow::Result<()> {
    let Some(start) = arguments.start_at else { return Ok(()) };
    let now = SystemTime::now();
    let too_late = now + LONGEST_WAIT;
    let start = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(start)).filter(|start| *start <= too_late);
    let Some(start) = start else {
        bail!("--start-at is more than a day ahead: use Unix time in seconds (`date +%s`), not milliseconds");
    };
    if start < now {
        bail!("--start-at is in the past: this generator would start after the others");
    }
    while let Ok(left) = start.duration_since(SystemTime::now()) {
        if interrupt.is_raised() {
            return Ok(());
        }
        thread::sleep(left.min(Duration::from_millis(50)));
    }
    Ok(())
}

/// A process that is not the server would have its processor time shown as the server's: of a plan nothing would be left.
pub(super) fn check_listener(arguments: &LoadArgs, port: u16, is_planned: bool) -> anyhow::Result<()> {
    let Some(pid) = arguments.server_pid else { return Ok(()) };
    let is_ours = reprise_load::has_started(pid, std::process::id());
    if !is_ours && reprise_load::listens_on(pid, port) != Some(false) {
        return Ok(());
    }
    let words = match is_ours {
        true => format!("--server-pid {pid}: this process has started reprise itself"),
        false => format!("--server-pid {pid}: neither this process nor one that it has started listens on port {port}"),
    };
    ensure!(!is_planned, "{words}: name the server's process");
    notice(format!("{words}; if it is not the server's, neither is the processor time"));
    Ok(())
}
