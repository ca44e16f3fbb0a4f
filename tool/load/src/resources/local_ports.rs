//! Local ports: those of connections that this side has closed stay in TIME_WAIT for a minute (RFC 9293 §3.6), and long before the
//! last is taken, the kernel searches for a free one for longer than a handshake takes.

use std::fs;
use std::path::Path;

use reprise_model::LocalPorts;

/// How many there are now and how many wait, by the files of `/proc` below this folder; `None` where they do not tell.
pub(super) fn local_ports(root: &Path) -> Option<LocalPorts> {
    let range = fs::read_to_string(root.join("proc/sys/net/ipv4/ip_local_port_range")).ok()?;
    let mut ends = range.split_whitespace().map_while(|end| end.parse::<u64>().ok());
    let (first, last) = (ends.next()?, ends.next()?);
    let sockets = fs::read_to_string(root.join("proc/net/sockstat")).ok()?;
    let tcp = sockets.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut figures = tcp.split_whitespace().skip_while(|name| *name != "tw").skip(1);
    let in_time_wait = figures.next()?.parse().ok()?;
    Some(LocalPorts { all: last.checked_sub(first)?.checked_add(1)?, in_time_wait })
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
        local_ports(root.path())
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
        assert_eq!(local_ports(Path::new("/nowhere/at/all")), None);
    }
}
