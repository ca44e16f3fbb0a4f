//! `reprise board --listen`: the emulated board on the network, for other people's clients.

use std::net::{SocketAddr, TcpListener};

use anyhow::{Context, bail};
use reprise_board::{BoardKey, Cpu, Firmware, Image, Optimization, ResponseMode, Setup, Stop, bridge};

use super::flags::BoardArgs;
use crate::ending::Ending;
use crate::notice::notice;

/// What a peer may take: an emulated handshake is slower than one on hardware.
const HANDSHAKE_MS: u32 = 60_000;
const IDLE_MS: u32 = 30_000;

/// Serves until Ctrl-C, by the first of the stacks, with P-256 if it is among the keys.
pub(super) fn run(
    firmware: &Firmware,
    arguments: &BoardArgs,
    address: SocketAddr,
    stop: Stop<'_>,
) -> anyhow::Result<Ending> {
    let mut keys = arguments.keys.iter().copied();
    let first = keys.next();
    let key = keys.find(|&key| key == BoardKey::P256).or(first);
    let (Some(&stack), Some(key)) = (arguments.stacks.first(), key) else { bail!("--listen needs a stack and a key") };
    let image = Image::usual(Cpu::CortexM0, stack, Optimization::Size);
    let listener = TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    firmware.build(image)?;
    let setup = Setup { handshake_ms: HANDSHAKE_MS, idle_ms: IDLE_MS, ..Setup::usual(key, ResponseMode::Http) };
    let mut board = firmware.boot(image, &setup)?;
    notice(format_args!("{image} with {} listens on {}; stop with Ctrl-C", key.name(), listener.local_addr()?));
    bridge::serve(&listener, &mut board, stop)?;
    Ok(Ending::Interrupted)
}
