//! The session library over arbitrary schedules, through outages and under rustls.

mod arbitrary;
mod outages;
mod rustls;
