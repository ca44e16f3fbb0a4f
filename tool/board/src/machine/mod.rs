//! The machines that firmware runs on: a model of the Cortex-M0+ in this process, and QEMU.

mod cortex_m0;
mod cortex_m0_memory;
mod profile;
mod qemu;

pub use cortex_m0::CortexM0;
pub use qemu::Qemu;

use thiserror::Error;

/// A running image, seen through its one line.
pub trait Machine {
    /// Sends bytes to the board. From now on it has a limited time, or number of instructions, to answer.
    fn send(&mut self, bytes: &[u8]) -> Result<(), MachineFault>;

    /// The next bytes from the board, exactly as many as `bytes` has room for.
    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), MachineFault>;

    /// What the board's counters count.
    fn scale(&self) -> Scale;
}

/// What one tick of the board's two counters stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Instructions in one tick of the first counter: what is counted is exact to so many for each time it is started.
    pub instructions: u64,
    /// Cycles in one tick of the second; `None` where the machine has no notion of them.
    pub cycles: Option<u64>,
}

/// Why a machine is of no use any more.
#[derive(Debug, Error)]
pub enum MachineFault {
    /// The image cannot be loaded.
    #[error("{0} is not an image for this machine: {1}")]
    Image(String, &'static str),
    /// The emulator cannot be started.
    #[error("cannot start {program}: {error}")]
    Start {
        /// The program.
        program: &'static str,
        /// Why.
        error: std::io::Error,
    },
    /// The code did something that the CPU cannot do.
    #[error("the board stopped at {at:#010x}: {why}")]
    Stopped {
        /// The program counter.
        at: u32,
        /// What it did.
        why: &'static str,
    },
    /// It says nothing any more.
    #[error("the board does not answer: {0}")]
    Silent(&'static str),
}
