use super::Cause;

pub(super) static CAUSE: Cause = page!("early-data-needs-tickets");
