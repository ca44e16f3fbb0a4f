//! The presentation language of TLS (RFC 9846, section 3): big-endian integers and length-prefixed vectors.

mod reader;
mod writer;

pub use reader::Reader;
pub(crate) use reader::non_empty;
pub use writer::{u8, u16, u24, u32, vec8, vec16, vec24};
