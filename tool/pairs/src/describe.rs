//! What a stack says of itself, in a process of its own.

use reprise_model::document::ComparedStack;
use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::child::Child;
use crate::failed::Failed;
use crate::stacks::{FoundStack, StackRef};
use crate::worker::{Launcher, Worker};

/// A stack, and what its process said of it.
pub struct Described<'a> {
    /// The stack.
    pub found: &'a FoundStack,
    /// What it is, or why nobody can tell.
    pub info: Result<ComparedStack, Failed>,
}

/// What each of these stacks is, or why nobody can tell: each is loaded in a process of its own.
pub fn describe<'a>(stacks: &'a [FoundStack], launcher: &Launcher) -> Vec<Described<'a>> {
    stacks.iter().map(|found| Described::of(found, launcher)).collect()
}

impl<'a> Described<'a> {
    /// Loads it, in a process of its own.
    pub fn of(found: &'a FoundStack, launcher: &Launcher) -> Self {
        Self { found, info: Worker::new(launcher).ask(&Describe(found.clone())) }
    }

    /// Whether it has this ability.
    pub fn can(&self, ability: &str) -> bool {
        self.info.as_ref().is_ok_and(|info| info.abilities.iter().any(|known| known == ability))
    }
}

/// What a stack is.
#[derive(Serialize, Deserialize)]
pub(crate) struct Describe(FoundStack);

impl Ask for Describe {
    const NAME: &'static str = "Describe";
    type Answer = ComparedStack;

    fn answer(self, child: &mut Child) -> Result<ComparedStack, Failed> {
        let FoundStack { name, at } = self.0;
        let stack = child.stack(&at)?;
        let about = stack.about();
        Ok(ComparedStack {
            name,
            library: about.name.clone(),
            version: about.version.clone(),
            flags: about.flags.clone(),
            optimised: about.optimised.clone(),
            abilities: about.abilities.names().into_iter().map(str::to_owned).collect(),
            file: match at {
                StackRef::BuiltIn(_) => None,
                StackRef::Plugin(path) => Some(path.display().to_string()),
            },
            sha256: about.sha256.clone(),
        })
    }
}
