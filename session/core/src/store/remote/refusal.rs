use std::fmt;

/// A command that the store refuses, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The command: `EVALSHA`.
    pub command: &'static str,
    /// What the store said.
    pub answer: String,
    /// What to change, in a sentence; for a missing permission with the line for the store's ACL. Empty where nobody knows.
    pub remedy: String,
}

impl Refusal {
    /// A refusal of this command.
    pub fn new(command: &'static str, answer: String, remedy: String) -> Self {
        Self { command, answer, remedy }
    }

    /// Whether it stays so until someone changes it, rather than while a store loads or fails over.
    pub(crate) fn is_lasting(&self) -> bool {
        !self.remedy.is_empty()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store refuses {}: {}", self.command, self.answer)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}
