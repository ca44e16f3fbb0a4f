use reprise_model::Nanos;

/// The processor time that a server's processes have used so far, where the kernel tells it.
#[cfg(target_os = "linux")]
pub(crate) fn server_cpu(pid: u32) -> Option<Nanos> {
    reprise_load::process_tree_cpu(pid)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn server_cpu(_pid: u32) -> Option<Nanos> {
    None
}
