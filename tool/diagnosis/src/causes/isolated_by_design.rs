use super::Cause;

pub(super) static CAUSE: Cause = page!("isolated-by-design");
