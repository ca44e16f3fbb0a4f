//! A `--fail-if` condition, of a measurement or a load: what is understood is understood again as it is shown, and what is not
//! points at a place in it.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use reprise_results::{Condition, ConditionError, LoadCondition};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    read::<Condition>(text);
    read::<LoadCondition>(text);
}

fn read<C: FromStr<Err = ConditionError> + Display + Debug + PartialEq>(text: &str) {
    match text.parse::<C>() {
        Ok(condition) => assert_eq!(condition.to_string().parse(), Ok(condition), "{text:?}"),
        Err(error) => assert!(error.to_string().starts_with("column "), "{error}"),
    }
}
