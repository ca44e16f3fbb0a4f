//! Whether a process that is named as the server listens where the load goes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::ROOT;
use super::cpu::ServerCpu;

/// State of a TCP socket that listens, as `/proc/net/tcp` writes it (`TCP_LISTEN`).
const LISTEN: &str = "0A";

/// Whether the process, or one that it has started, has a socket that listens on this port of its network namespace; `None` where the
/// kernel does not tell, as of another user's processes.
pub fn listens_on(root: u32, port: u16) -> Option<bool> {
    let processes: Vec<u32> = ServerCpu::of_tree(root).processes().collect();
    let proc = Path::new(ROOT).join("proc");
    let net = proc.join(root.to_string()).join("net");
    let tables: Vec<String> = ["tcp", "tcp6"].iter().filter_map(|name| fs::read_to_string(net.join(name)).ok()).collect();
    let listening: BTreeSet<&str> = tables.iter().flat_map(|table| listening(table, port)).collect();
    let mut is_told = false;
    for process in processes {
        let Ok(descriptors) = fs::read_dir(proc.join(process.to_string()).join("fd")) else { continue };
        is_told = true;
        let mut links = descriptors.flatten().filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
        if links.any(|link| link.to_str().and_then(inode).is_some_and(|inode| listening.contains(inode))) {
            return Some(true);
        }
    }
    (is_told && !tables.is_empty()).then_some(false)
}

/// Whether a process has started another, itself or through others.
pub fn has_started(root: u32, process: u32) -> bool {
    ServerCpu::of_tree(root).processes().any(|known| known == process)
}

/// `socket:[12345]`.
fn inode(link: &str) -> Option<&str> {
    link.strip_prefix("socket:[")?.strip_suffix(']')
}

/// The inodes of sockets that listen on this port. Of a line the second field is the local address, the fourth the state, the tenth the inode.
fn listening(table: &str, port: u16) -> Vec<&str> {
    let of_line = |line: &str| -> Option<(u16, bool)> {
        let mut fields = line.split_whitespace().skip(1);
        let port = u16::from_str_radix(fields.next()?.rsplit_once(':')?.1, 16).ok()?;
        Some((port, fields.nth(1)? == LISTEN))
    };
    let lines = table.lines().filter(|line| of_line(line) == Some((port, true)));
    lines.filter_map(|line| line.split_whitespace().nth(9)).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn this_process_listens_where_it_does() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = std::process::id();
        assert_eq!(listens_on(own, port), Some(true));
        drop(listener);
        assert_eq!(listens_on(own, port), Some(false));
    }

    #[test]
    fn a_connection_to_the_port_is_no_listener() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n   \
            1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1\n";
        assert_eq!(listening(table, 8080), ["4711"]);
        assert!(listening(table, 8081).is_empty() && listening("torn", 8080).is_empty());
    }
}
