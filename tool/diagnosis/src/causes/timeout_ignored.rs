use super::Cause;

pub(super) static CAUSE: Cause = Cause { separated_by: &["patience"], ..page!("timeout-ignored") };
