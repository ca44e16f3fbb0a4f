//! The session cache server that stunnel's `sessiond` names: it speaks the datagrams of Michał Trojnara's sessiond.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub(crate) struct SessionCacheServer {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SessionCacheServer {
    pub(crate) fn start() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let (address, ended) = (socket.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let ends = Arc::clone(&ended);
        let thread = thread::spawn(move || serve(&socket, &ends));
        Self { address, ended, thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for SessionCacheServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

const NEW: u8 = 0;
const LOOK_UP: u8 = 1;
const REMOVE: u8 = 2;
const FAILED: u8 = 0x80;
const DONE: u8 = 0x81;

/// Version, kind, two bytes of timeout, a session ID of 32 bytes, the session; the response to a look-up looks the same.
const BEFORE_ID: usize = 4;
const BEFORE_SESSION: usize = 36;

fn serve(socket: &UdpSocket, ended: &AtomicBool) {
    let mut sessions: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut packet = [0; 2048];
    while !ended.load(Ordering::Relaxed) {
        let Ok((length, sender)) = socket.recv_from(&mut packet) else { continue };
        let Some(id) = packet[..length].get(BEFORE_ID..BEFORE_SESSION).map(<[u8]>::to_vec) else { continue };
        match packet[1] {
            NEW => drop(sessions.insert(id, packet[BEFORE_SESSION..length].to_vec())),
            REMOVE => drop(sessions.remove(&id)),
            LOOK_UP => {
                let session = sessions.get(&id);
                packet[1] = if session.is_some() { DONE } else { FAILED };
                let session = session.map(Vec::as_slice).unwrap_or_default();
                let response = [&packet[..BEFORE_SESSION], session].concat();
                let _ = socket.send_to(&response, sender);
            }
            _ => {}
        }
    }
}
