use super::Cause;

pub(super) static CAUSE: Cause = page!("no-tls13-resumption");
