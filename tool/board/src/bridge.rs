//! A board on the network: TCP connections of this computer end in the emulated server.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::fault::BoardError;
use crate::line::{Board, Reaction, Slot};
use crate::machine::Machine;

/// How long the bridge rests when nothing moves.
const REST: Duration = Duration::from_millis(1);
/// How often the board is told the time, so that it can drop who stalls.
const TICK: Duration = Duration::from_millis(100);

/// Carries connections of `listener` to `board` until `stop` says so. There are as many at a time as the board serves; more
/// wait in the listener's queue. The board's clock is that of this computer.
pub fn serve<M: Machine>(listener: &TcpListener, board: &mut Board<M>, stop: impl Fn() -> bool) -> Result<(), BoardError> {
    listener.set_nonblocking(true).map_err(BoardError::Network)?;
    let begun = Instant::now();
    let mut told = begun;
    let mut streams: [Option<TcpStream>; Slot::COUNT] = [const { None }; Slot::COUNT];
    while !stop() {
        let mut moved = false;
        if let Some(index) = streams.iter().position(Option::is_none) {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)).map_err(BoardError::Network)?;
                    streams[index] = Some(stream);
                    let reaction = board.open(Slot(index as u8))?;
                    deliver(reaction, &mut streams);
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(BoardError::Network(error)),
            }
        }
        for index in 0..streams.len() {
            let Some(stream) = &mut streams[index] else { continue };
            let slot = Slot(index as u8);
            let mut buffer = [0; 1024];
            let reaction = match stream.read(&mut buffer) {
                Ok(len @ 1..) => board.send(slot, &buffer[..len])?,
                Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => continue,
                // Its end, or a reset.
                _ => {
                    streams[index] = None;
                    board.close(slot)?
                }
            };
            deliver(reaction, &mut streams);
            moved = true;
        }
        if told.elapsed() > TICK {
            told = Instant::now();
            let reaction = board.set_time(begun.elapsed().as_millis() as u32)?;
            deliver(reaction, &mut streams);
        }
        if !moved {
            std::thread::sleep(REST);
        }
    }
    Ok(())
}

/// What the board sent goes to its peers. One that does not take it is dropped: it will read an end.
fn deliver(reaction: Reaction, streams: &mut [Option<TcpStream>; Slot::COUNT]) {
    for (slot, bytes) in &reaction.sent {
        let Some(Some(stream)) = streams.get_mut(usize::from(slot.0)) else { continue };
        let sent = stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(Duration::from_secs(5))));
        let sent = sent.and_then(|()| stream.write_all(bytes)).and_then(|()| stream.set_nonblocking(true));
        if sent.is_err() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
    for slot in &reaction.closed {
        if let Some(stream) = streams.get_mut(usize::from(slot.0)) {
            *stream = None;
        }
    }
}
