//! A `--fail-if` condition: what is understood is understood again as it is shown, and what is not points at a place in it.

use reprise_explain::Condition;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match text.parse::<Condition>() {
        Ok(condition) => assert_eq!(condition.to_string().parse(), Ok(condition), "{text:?}"),
        Err(error) => assert!(error.to_string().starts_with("column "), "{error}"),
    }
}
