//! What a child process has: the stacks that it has loaded, and what it was asked to make ready.

use std::any::Any;
use std::collections::HashMap;
use std::rc::Rc;

use reprise_stack::Stack;

use crate::failed::Failed;
use crate::stacks::StackRef;

/// What a child process has.
#[derive(Default)]
pub struct Child {
    stacks: HashMap<StackRef, Rc<dyn Stack>>,
    kept: Vec<Box<dyn Any>>,
}

impl Child {
    /// A stack, loaded once.
    ///
    /// # Errors
    /// If it cannot be loaded.
    pub fn stack(&mut self, stack: &StackRef) -> Result<Rc<dyn Stack>, Failed> {
        if let Some(known) = self.stacks.get(stack) {
            return Ok(Rc::clone(known));
        }
        let opened: Rc<dyn Stack> = Rc::from(stack.open()?);
        self.stacks.insert(stack.clone(), Rc::clone(&opened));
        Ok(opened)
    }

    /// Keeps it: the number by which later questions name it.
    pub fn keep(&mut self, ready: impl Any) -> usize {
        self.kept.push(Box::new(ready));
        self.kept.len() - 1
    }

    /// What is kept under a number.
    ///
    /// # Errors
    /// If nothing is, or what is of another type.
    pub fn kept<T: Any>(&mut self, number: usize) -> Result<&mut T, Failed> {
        let kept = self.kept.get_mut(number).ok_or_else(nothing_prepared)?;
        kept.downcast_mut().ok_or_else(|| Failed::broken(format!("number {number} is of another type")))
    }
}

/// Whoever asks has another number than it was told.
pub(crate) fn nothing_prepared() -> Failed {
    Failed::broken("nothing is prepared under this number")
}
