//! Each side on a core of its own.

/// Two cores that this process may use, the first and the last, which share the least; `None` where there is only one.
#[cfg(target_os = "linux")]
pub(crate) fn two() -> Option<[usize; 2]> {
    let allowed = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).ok()?;
    let cores: Vec<usize> =
        (0..nix::sched::CpuSet::count()).filter(|core| allowed.is_set(*core).unwrap_or_default()).collect();
    match cores.as_slice() {
        [first, .., last] => Some([*first, *last]),
        _ => None,
    }
}

/// This process stays there from now on. Where the system refuses, it stays where it is.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on(core: usize) {
    let mut set = nix::sched::CpuSet::new();
    if set.set(core).is_ok() {
        let _ = nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &set);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn two() -> Option<[usize; 2]> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on(_core: usize) {}
