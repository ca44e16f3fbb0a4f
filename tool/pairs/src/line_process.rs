//! A child process that is sent lines and answers by lines.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::failed::{Failed, FailureKind};

/// How long the end of a child may take that has closed its output.
const GRACE: Duration = Duration::from_secs(1);

/// No line is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// A child process; it is ended with this value.
pub struct LineProcess {
    child: Child,
    /// `None` once it is to end.
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl LineProcess {
    /// Starts it in a process group of its own: a terminal's Ctrl-C is for the parent, which ends the child.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let missing = || io::Error::other("the child process has no pipes");
        let input = Some(child.stdin.take().ok_or_else(missing)?);
        let mut output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let (sender, lines) = channel();
        // It ends with the child's output, which ends with the child.
        thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                    Ok(1..) if line.ends_with(b"\n") => {
                        if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        });
        Ok(Self { child, input, output: lines })
    }

    /// Sends a line, which ends by a newline.
    ///
    /// # Errors
    /// If it is gone.
    pub fn send(&mut self, line: &[u8]) -> Result<(), Failed> {
        // A child that is gone takes nothing: why, its end says.
        let sent = self.input.as_mut().map(|input| input.write_all(line).and_then(|()| input.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended(GRACE)),
        }
    }

    /// The next line that the child writes.
    ///
    /// # Errors
    /// If it is gone, or its time is up.
    pub fn receive(&mut self, patience: Duration) -> Result<String, Failed> {
        self.output.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                Failed::new(FailureKind::Hung, format!("no answer within {} s", patience.as_secs_f64()))
            }
            RecvTimeoutError::Disconnected => self.ended(GRACE),
        })
    }

    /// Sends no more, and waits until the child has ended by itself.
    ///
    /// # Errors
    /// If it does not, or not well.
    pub fn finish(mut self, patience: Duration) -> Result<(), Failed> {
        self.input = None;
        match self.wait(patience) {
            Ok(Some(status)) if status.success() => Ok(()),
            _ => Err(self.ended(Duration::ZERO)),
        }
    }

    /// How it ended.
    fn ended(&mut self, grace: Duration) -> Failed {
        match self.wait(grace) {
            Ok(Some(status)) => Failed::crashed(format!("its process ended: {status}")),
            // A child that only closed its output may live on: it is ended with this value.
            Ok(None) => Failed::crashed("its process closed its output"),
            Err(error) => Failed::crashed(format!("its process is gone: {error}")),
        }
    }

    fn wait(&mut self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        let begin = Instant::now();
        loop {
            match self.child.try_wait()? {
                None if begin.elapsed() < patience => thread::sleep(Duration::from_millis(10)),
                ended => return Ok(ended),
            }
        }
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
