//! What the workshop promises of the workspace.

mod one_file_and_one_line;
mod profiles;
