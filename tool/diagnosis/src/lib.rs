//! Why TLS sessions are not resumed: from observations to findings, each with its cause, evidence, cost and remedies.
//!
//! Everything here is a pure function of what was observed. Each cause has two files named by its slug in `causes/`: its page of
//! Markdown, with its texts and remedies, and its rules.
//!
//! ```
//! use reprise_diagnosis::{cause, causes};
//!
//! let nagle = cause("nagle").expect("a cause of this slug");
//! println!("{}: {}", nagle.slug, nagle.page.title);
//! assert!(causes().all(|cause| !cause.page.title.is_empty()));
//! ```

pub mod answers;
mod bound;
mod causes;
mod client;
mod crossed_offer;
mod diagnose;
pub mod figures;
mod findings;
mod fleet;
mod isolation;
mod judged;
mod likelihood;
pub mod savings;
mod series;
mod service;
mod settled;
pub mod slow_connections;
mod traffic;
mod verdict;
mod weighed;

#[cfg(any(test, feature = "example"))]
#[allow(clippy::unwrap_used, clippy::new_without_default, reason = "only tests call it")]
#[path = "test_example.rs"]
pub mod example;
#[cfg(test)]
mod guide;

pub use bound::bound;
pub use causes::{Cause, CausePage, Fix, Fixes, FoundBy, ResponsibleSide, cause, causes, software};
pub use client::{ClientRun, client_diagnosis};
pub use diagnose::{ServerRun, server_diagnosis};
pub use findings::findings;
pub use fleet::{FleetRun, fleet_diagnosis};
pub use isolation::{IsolationRun, isolation_diagnoses};
pub use series::MeasuredCase;
pub use traffic::against_saving;
