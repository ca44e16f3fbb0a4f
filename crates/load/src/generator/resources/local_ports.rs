//! Local ports: those of connections that this side has closed stay in TIME_WAIT for a minute (RFC 9293 §3.6), and long before the
//! last is taken, the kernel searches for a free one for longer than a handshake takes.

use std::fs;
use std::path::Path;

/// How many local ports there are, and how many of them wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalPorts {
    pub(crate) all: u64,
    pub(crate) in_time_wait: u64,
}

impl LocalPorts {
    /// Now, by the files of `/proc` below this folder; `None` where they do not tell.
    pub(crate) fn now(root: &Path) -> Option<Self> {
        let range = fs::read_to_string(root.join("proc/sys/net/ipv4/ip_local_port_range")).ok()?;
        let mut ends = range.split_whitespace().map_while(|end| end.parse::<u64>().ok());
        let (first, last) = (ends.next()?, ends.next()?);
        let sockets = fs::read_to_string(root.join("proc/net/sockstat")).ok()?;
        let tcp = sockets.lines().find_map(|line| line.strip_prefix("TCP:"))?;
        let mut figures = tcp.split_whitespace().skip_while(|name| *name != "tw").skip(1);
        let in_time_wait = figures.next()?.parse().ok()?;
        Some(Self { all: last.checked_sub(first)?.checked_add(1)?, in_time_wait })
    }

    /// Linux looks through every second port first: once those are taken, each search goes through all of them.
    pub(crate) fn are_scarce(self) -> bool {
        self.in_time_wait * 5 >= self.all * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(range: &str, sockstat: &str) -> Option<LocalPorts> {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [("proc/sys/net/ipv4/ip_local_port_range", range), ("proc/net/sockstat", sockstat)] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        LocalPorts::now(root.path())
    }

    #[test]
    fn the_kernel_says_how_many_wait() {
        let sockstat =
            |waiting: u64| format!("sockets: used 53\nTCP: inuse 15 orphan 0 tw {waiting} alloc 19 mem 278\nUDP: inuse 1\n");
        let range = "32768\t60999\n";
        assert_eq!(ports(range, &sockstat(15_595)), Some(LocalPorts { all: 28_232, in_time_wait: 15_595 }));
        let is_scarce = |waiting| ports(range, &sockstat(waiting)).unwrap().are_scarce();
        assert!(is_scarce(11_293) && !is_scarce(11_292));
        for (range, sockstat) in
            [("", "TCP: tw 1\n"), ("9 1\n", "TCP: tw 1\n"), (range, "TCP: tw\n"), (range, "TCP: inuse 1\n")]
        {
            assert_eq!(ports(range, sockstat), None, "{range} {sockstat}");
        }
        assert_eq!(LocalPorts::now(Path::new("/nowhere/at/all")), None);
    }
}
