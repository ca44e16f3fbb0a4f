//! What lies between the two ends: a packet waits for those before it, then for the delay; some are lost.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use reprise_compare::losses;
use reprise_stats::Chance;
use smoltcp::phy::{Device, Medium, RxToken, TunTapInterface, TxToken};

use super::namespace::{in_namespace, ip};

/// What becomes of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// In one direction.
    pub delay: Duration,
    /// Bits per second of IP packets.
    pub bandwidth: Option<u64>,
    /// The share of packets that are lost.
    pub loss: f64,
    /// The seed of what is lost: of each connection since these conditions hold what `losses` says of the trial of its number.
    pub seed: u64,
}

/// Moves packets between two devices, until it is dropped.
pub struct Forwarder {
    conditions: Arc<Mutex<Option<Conditions>>>,
    ends: Arc<AtomicBool>,
    running: Option<JoinHandle<anyhow::Result<()>>>,
}

impl Forwarder {
    /// Between the namespaces of two threads, in which the devices have these names. Until the first [`Forwarder::set`], for which both are to
    /// be up, it moves nothing.
    ///
    /// # Errors
    /// If there are no such devices to be had.
    pub fn between(ends: [(i32, &'static str); 2]) -> anyhow::Result<Self> {
        let conditions = Arc::new(Mutex::new(None));
        let is_over = Arc::new(AtomicBool::new(false));
        let (shared, over) = (Arc::clone(&conditions), Arc::clone(&is_over));
        let (told, tells) = std::sync::mpsc::channel();
        let (_, begin, running) = in_namespace(move || {
            let made = ends.map(|(thread, name)| {
                let device = TunTapInterface::new(name, Medium::Ip).context("/dev/net/tun")?;
                ip(&format!("link set {name} netns {thread}"))?;
                Ok(device)
            });
            let [one, other]: [anyhow::Result<TunTapInterface>; 2] = made;
            let devices = one.and_then(|one| Ok([one, other?]));
            let (devices, failed) = match devices {
                Ok(devices) => (Some(devices), None),
                Err(error) => (None, Some(error)),
            };
            let _ = told.send(failed);
            devices.map_or(Ok(()), |devices| forward(devices, &shared, &over))
        })?;
        begin.send(()).map_err(|_| anyhow!("the forwarder ended"))?;
        match tells.recv() {
            Ok(None) => Ok(Self { conditions, ends: is_over, running: Some(running) }),
            Ok(Some(error)) => Err(error),
            Err(_) => Err(anyhow!("the forwarder ended")),
        }
    }

    /// From now on; connections are counted from none again.
    pub fn set(&self, conditions: Conditions) {
        *self.conditions.lock().unwrap_or_else(PoisonError::into_inner) = Some(conditions);
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}

/// One direction.
#[derive(Default)]
struct Direction {
    queue: VecDeque<(Instant, Vec<u8>)>,
    free_at: Option<Instant>,
}

/// It looks at both devices all the time: a thread that sleeps is woken too late for a round trip of a millisecond.
fn forward(mut devices: [TunTapInterface; 2], shared: &Mutex<Option<Conditions>>, over: &AtomicBool) -> anyhow::Result<()> {
    let mut directions = [Direction::default(), Direction::default()];
    let mut connections = Connections::default();
    let mut known = None;
    while !over.load(Ordering::Relaxed) {
        let Some(conditions) = *shared.lock().unwrap_or_else(PoisonError::into_inner) else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        if known != Some(conditions) {
            connections = Connections::default();
            known = Some(conditions);
        }
        let mut is_idle = true;
        for (index, direction) in directions.iter_mut().enumerate() {
            let [one, other] = &mut devices;
            let (from, to) = if index == 0 { (one, other) } else { (other, one) };
            if let Some((received, _)) = from.receive(smoltcp::time::Instant::ZERO) {
                is_idle = false;
                let packet = received.consume(<[u8]>::to_vec);
                let now = Instant::now();
                if !connections.loses(index, &packet, &conditions) {
                    let took = conditions
                        .bandwidth
                        .map_or(Duration::ZERO, |rate| Duration::from_nanos(packet.len() as u64 * 8_000_000_000 / rate));
                    let left = direction.free_at.map_or(now, |free| free.max(now)) + took;
                    direction.free_at = Some(left);
                    direction.queue.push_back((left + conditions.delay, packet));
                }
            }
            while direction.queue.front().is_some_and(|(at, _)| *at <= Instant::now()) {
                let Some((_, packet)) = direction.queue.pop_front() else { break };
                let token = to.transmit(smoltcp::time::Instant::ZERO).context("the device takes nothing")?;
                token.consume(packet.len(), |buffer| buffer.copy_from_slice(&packet));
            }
        }
        if is_idle {
            thread::yield_now();
        }
    }
    Ok(())
}

/// What is lost of each connection.
#[derive(Default)]
struct Connections {
    known: HashMap<u16, [Chance; 2]>,
}

impl Connections {
    fn loses(&mut self, direction: usize, packet: &[u8], conditions: &Conditions) -> bool {
        let Some((port, is_syn)) = clients_port(direction, packet) else { return false };
        // One that was there before has no number.
        if is_syn && direction == 0 && conditions.loss > 0.0 {
            let trial = self.known.len() as u64;
            self.known.entry(port).or_insert_with(|| losses(conditions.loss, conditions.seed, trial));
        }
        self.known.get_mut(&port).and_then(|chances| chances.get_mut(direction)).is_some_and(Chance::happens)
    }
}

/// The client's port of a TCP packet over IPv4, and whether it is a SYN; direction 0 is from the client.
fn clients_port(direction: usize, packet: &[u8]) -> Option<(u16, bool)> {
    let header = usize::from(packet.first()? & 0xf) * 4;
    if packet.first()? >> 4 != 4 || *packet.get(9)? != 6 {
        return None;
    }
    let at = header + 2 * direction;
    let port = u16::from_be_bytes(*packet.get(at..at + 2)?.first_chunk()?);
    Some((port, packet.get(header + 13)? & 2 != 0))
}
