//! TLS servers on emulated microcontrollers.
//!
//! An image of `firmware/` runs on a [`Machine`]: a model of the Cortex-M0+ in this process, or QEMU. A [`Board`] is what
//! it looks like from the host: connections open, bytes go, and the server's work is counted. A [`BoardClient`] is Reprise's
//! engine as the other end.
//!
//! ```
//! use reprise_board::Image;
//!
//! // Every image that can be built for the emulated boards, and where its program goes.
//! for image in Image::all() {
//!     println!("{}", image.path("target/firmware".as_ref()).display());
//! }
//! ```

pub mod bridge;
pub mod calibration;
mod client;
pub mod document;
mod elf;
mod fault;
mod image;
mod keys;
mod line;
mod machine;
mod measure;
mod offers;
mod page;
pub mod published;
mod sizes;

pub use client::{BoardClient, BoardConnection, Completed, REQUEST};
pub use fault::BoardError;
pub use image::{BoardStack, Cpu, Image, Optimization, find_firmware, require, require_compiler};
pub use keys::{BoardKey, NAME};
pub use line::{Board, BoardReport, Count, Reaction, ResponseMode, Setup, Slot};
pub use machine::{CortexM0, Machine, MachineFault, Qemu, Scale};
pub use measure::{BoardCase, Esp8266Case, Firmware, Stop, side_by_side};
pub use offers::Offers;
pub use page::page;
pub use sizes::{Size, Sizes};
