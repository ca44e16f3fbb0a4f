//! QEMU: the same image on a Cortex-M3 (`mps2-an385`), and the ESP8266's CPU (`lx106`). Virtual time passes by one
//! nanosecond for each instruction, so that a timer of known frequency counts instructions.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use super::{Machine, MachineFault, Scale};

/// How long the board may take to answer what the host sent: its slowest handshake takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);
/// How many pieces of its output may wait to be taken: a board that never stops is stopped by a full pipe.
const PIECES: usize = 64;

/// A running emulator; it ends with this value.
pub struct Qemu {
    child: Child,
    input: ChildStdin,
    output: Receiver<Vec<u8>>,
    /// Received and not yet asked for.
    pending: Vec<u8>,
    patience: Duration,
    deadline: Instant,
    scale: Scale,
}

impl Qemu {
    /// The program that [`Qemu::cortex_m`] needs.
    pub const ARM: &'static str = "qemu-system-arm";
    /// The program that [`Qemu::lx106`] needs.
    pub const XTENSA: &'static str = "qemu-system-xtensa";

    /// Boots an image on an MPS2 board. Its timers run at 25 MHz: 40 instructions a tick.
    pub fn cortex_m(image: &Path) -> Result<Self, MachineFault> {
        let options = ["-machine", "mps2-an385", "-serial", "stdio"];
        Self::start(Self::ARM, &options, image, 40)
    }

    /// Boots an image on Xtensa's simulator board with an LX106. CCOUNT runs at 40 MHz: 25 instructions a tick.
    pub fn lx106(image: &Path) -> Result<Self, MachineFault> {
        let options = ["-machine", "sim", "-cpu", "lx106", "-semihosting", "-serial", "none"];
        Self::start(Self::XTENSA, &options, image, 25)
    }

    fn start(program: &'static str, options: &[&str], image: &Path, instructions: u64) -> Result<Self, MachineFault> {
        let mut command = Command::new(program);
        // sleep=off: time that nothing happens in is skipped, and two runs are the same.
        command.args(["-display", "none", "-monitor", "none", "-icount", "shift=0,sleep=off"]).args(options);
        command.arg("-kernel").arg(image).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| MachineFault::Start { program, error })?;
        let (Some(input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(MachineFault::Silent("it has no standard input and output"));
        };
        let (sender, receiver) = sync_channel(PIECES);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Ends with the emulator, or with who listens.
            while let Ok(len @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..len].to_vec()).is_err() {
                    break;
                }
            }
        });
        let scale = Scale { instructions, cycles: None };
        let (patience, deadline) = (PATIENCE, Instant::now() + PATIENCE);
        Ok(Self { child, input, output: receiver, pending: Vec::new(), patience, deadline, scale })
    }

    /// The same, but with this much time until what the host sent must be answered.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        (self.patience, self.deadline) = (patience, Instant::now() + patience);
        self
    }
}

impl Machine for Qemu {
    fn send(&mut self, bytes: &[u8]) -> Result<(), MachineFault> {
        self.deadline = Instant::now() + self.patience;
        let sent = self.input.write_all(bytes).and_then(|()| self.input.flush());
        sent.map_err(|_| MachineFault::Silent("the emulator has ended"))
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), MachineFault> {
        while self.pending.len() < bytes.len() {
            let more = self.output.recv_timeout(self.deadline.saturating_duration_since(Instant::now()));
            self.pending.extend(more.map_err(|_| MachineFault::Silent("the emulator has ended, or hangs"))?);
        }
        let taken = self.pending.drain(..bytes.len());
        bytes.iter_mut().zip(taken).for_each(|(to, byte)| *to = byte);
        Ok(())
    }

    fn scale(&self) -> Scale {
        self.scale
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
