//! Messages from bytes and into bytes.

mod any_bytes;
mod rfc8448;
mod round_trip;
