//! The processor time of this client, in its own code and in the kernel.

use reprise_model::ClientCpu;

/// What this thread has used so far; `None` where the system does not tell. The kernel knows the sum to the microsecond; how it divides it
/// between the two is a sample of its own, so that the parts are true of many connections and not of one.
#[cfg(target_os = "linux")]
pub(crate) fn of_thread() -> Option<ClientCpu> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    let ns = |time: nix::sys::time::TimeVal| u64::try_from(time.num_microseconds()).ok().map(|micros| micros * 1000);
    Some(ClientCpu { user: ns(usage.user_time())?, system: ns(usage.system_time())? })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn of_thread() -> Option<ClientCpu> {
    None
}
