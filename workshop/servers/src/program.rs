//! Programs that run to their end.

use std::process::Command;

use reprise_lab::LabError;

use crate::Result;
use crate::presence::find;

/// Runs a program that makes something, to its end.
pub(super) fn run(program: &str, prepared: impl FnOnce(&mut Command)) -> Result<String> {
    let mut command = Command::new(find(program).unwrap_or_else(|| program.into()));
    prepared(&mut command);
    let output = command.output().map_err(|source| LabError::Spawn { program: program.to_owned(), source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        let said = text(&[output.stdout, output.stderr].concat());
        return Err(LabError::Program { program: program.to_owned(), output: said }.into());
    }
    Ok(text(&output.stdout))
}

/// The names of the user and the group as which a program runs that is `prepared` so.
pub(super) fn user_and_group(prepared: impl Fn(&mut Command)) -> Result<[String; 2]> {
    let name_of = |which: &str| -> Result<String> {
        let printed = run("id", |command| {
            prepared(command);
            command.args([which, "-n"]);
        })?;
        Ok(printed.trim().to_owned())
    };
    Ok([name_of("-u")?, name_of("-g")?])
}
