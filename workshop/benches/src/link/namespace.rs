//! Threads in network namespaces of their own, and the devices in them.

use std::process::Command;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, anyhow, ensure};
use nix::sched::{CloneFlags, unshare};

/// Runs `work` in a thread that has a network to itself: the thread's number, by which devices are moved there, and the thread. `work`
/// begins once `begin` is told to.
///
/// # Errors
/// If there is no such network to be had, which takes root.
pub fn in_namespace<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<(i32, mpsc::Sender<()>, JoinHandle<anyhow::Result<T>>)> {
    let (told, tells) = mpsc::channel();
    let (begin, begins) = mpsc::channel();
    let running = thread::spawn(move || {
        let made = unshare(CloneFlags::CLONE_NEWNET).context("a network of its own");
        let is_made = made.is_ok();
        let _ = told.send(made.map(|()| nix::unistd::gettid().as_raw()));
        ensure!(is_made && begins.recv().is_ok(), "not begun");
        work()
    });
    let number = tells.recv().map_err(|_| anyhow!("the thread ended"))??;
    Ok((number, begin, running))
}

/// Runs `ip` in the calling thread's namespace.
pub(super) fn ip(arguments: &str) -> anyhow::Result<()> {
    let done = Command::new("ip").args(arguments.split_whitespace()).output().context("ip")?;
    ensure!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

/// Gives the device its address.
pub(super) fn set_up(device: &str, own: &str, peer: &str) -> anyhow::Result<()> {
    // Else a connection begins with what another to this address has learned.
    std::fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1").context("tcp_no_metrics_save")?;
    ip("link set lo up")?;
    ip(&format!("addr add {own} peer {peer} dev {device}"))?;
    ip(&format!("link set {device} up"))
}
