//! The stacks that need no plugin.

use crate::Stack;
use crate::engine_stack::EngineStack;
use crate::rustls_stack::RustlsStack;

/// The stacks that need no plugin, each by its name on the command line.
pub fn built_in() -> Vec<(&'static str, Box<dyn Stack>)> {
    vec![
        ("rustls-aws-lc", Box::new(RustlsStack::aws_lc_rs())),
        ("rustls-ring", Box::new(RustlsStack::ring())),
        ("engine", Box::new(EngineStack::new())),
    ]
}
