//! `--server-pid`: the processor time of a local server process and its children.

use reprise_model::Nanos;

/// The processor time that they have used so far, where the kernel tells it.
pub(crate) fn server_cpu(pid: u32) -> Option<Nanos> {
    #[cfg(target_os = "linux")]
    return reprise_load::process_tree_cpu(pid);
    #[cfg(not(target_os = "linux"))]
    return Some(pid).and(None);
}

/// A process that is not there would be shown as one that used nothing, or not at all.
pub(crate) fn check_server(pid: Option<u32>) -> anyhow::Result<()> {
    match pid {
        // 0 is no process, though the kernel names it as the parent of the first.
        Some(pid) if pid == 0 || server_cpu(pid).is_none() => anyhow::bail!("--server-pid {pid}: no such process"),
        _ => Ok(()),
    }
}
