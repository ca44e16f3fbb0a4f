//! The lab's certificates, its servers, and what it sees of clients.

mod certificates;
mod embedded;
mod watched;
