//! Which process holds the other end of a connection, where that is on this machine and the system tells.

use std::net::TcpStream;

/// A process of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) number: u32,
    /// The file name of its program; none where the system does not tell.
    pub(super) program: Option<String>,
}

/// The process of the client; none where it runs elsewhere, or as somebody else.
#[cfg(target_os = "linux")]
pub(super) fn of(stream: &TcpStream) -> Option<Process> {
    let number = linux::of(stream)?;
    Some(Process { number, program: linux::program(number) })
}

/// Nothing is known elsewhere.
#[cfg(not(target_os = "linux"))]
pub(super) fn of(_stream: &TcpStream) -> Option<Process> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::net::{IpAddr, SocketAddr, TcpStream};
    use std::path::Path;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Most connections come from the process that the one before came from.
    static LATEST: AtomicU32 = AtomicU32::new(0);

    pub(super) fn of(stream: &TcpStream) -> Option<u32> {
        let (peer, local) = (stream.peer_addr().ok()?, stream.local_addr().ok()?);
        if peer.ip() != local.ip() && !peer.ip().is_loopback() {
            return None;
        }
        let table = if peer.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
        let inode = inode(&fs::read_to_string(table).ok()?, peer, local)?;
        let link = format!("socket:[{inode}]");
        let latest = LATEST.load(Ordering::Relaxed);
        let found = if latest != 0 && holds(latest, &link) { Some(latest) } else { search(&link) };
        if let Some(process) = found {
            LATEST.store(process, Ordering::Relaxed);
        }
        found
    }

    pub(super) fn program(process: u32) -> Option<String> {
        let path = fs::read_link(format!("/proc/{process}/exe")).ok()?;
        Some(path.file_name()?.to_string_lossy().into_owned())
    }

    /// The socket between these two, as the client has it.
    fn inode(table: &str, client: SocketAddr, server: SocketAddr) -> Option<u64> {
        let (client, server) = (in_table(client), in_table(server));
        table.lines().skip(1).find_map(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let is_it = fields.next()? == client && fields.next()? == server;
            if is_it { fields.nth(6)?.parse().ok() } else { None }
        })
    }

    /// As proc(5) writes it: each 32-bit word of the address in the machine's order, then the port.
    fn in_table(address: SocketAddr) -> String {
        let octets = match address.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let (words, _) = octets.as_chunks::<4>();
        let words: String = words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect();
        format!("{words}:{:04X}", address.port())
    }

    fn search(link: &str) -> Option<u32> {
        let processes = fs::read_dir("/proc").ok()?.flatten();
        let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.find(|process| holds(*process, link))
    }

    fn holds(process: u32, link: &str) -> bool {
        let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
        descriptors.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == Path::new(link)))
    }

    #[cfg(test)]
    mod tests {
        use std::net::TcpListener;

        use super::*;

        #[test]
        fn a_connection_from_here_is_of_this_process() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, _) = listener.accept().unwrap();
            assert_eq!(of(&server), Some(std::process::id()));
            drop(client);
        }
    }
}
