//! A `--fail-if` condition: what is understood is understood again as it is shown, and what is not points at a place in it.

use reprise_results::{Condition, Subject};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    for subject in [Subject::Measurement, Subject::Diagnosis, Subject::Load, Subject::Other] {
        match Condition::read(text, &subject) {
            Ok(condition) => {
                assert_eq!(Condition::read(&condition.to_string(), &subject).as_ref(), Ok(&condition), "{text:?}");
            }
            Err(error) => assert!(error.to_string().starts_with("column "), "{error}"),
        }
    }
}
