//! The frames between the host and `firmware/board/main.c`: see there.

use crate::fault::BoardError;
use crate::machine::{CortexM0, Machine, Scale};

const CERTIFICATES: u8 = b'P';
const KEY: u8 = b'K';
const START: u8 = b'S';
const TIME: u8 = b'T';
const OPEN: u8 = b'O';
const DATA: u8 = b'D';
const CLOSE: u8 = b'X';
const MARK: u8 = b'Z';
const REPORT: u8 = b'A';
const CRASHED: u8 = b'!';
const ENDLESS: u8 = b'~';

/// Bytes of one frame of data, at most; the board takes 2048.
const MAX_DATA: usize = 1024;
/// Bytes that the board may say to one frame: some ten times what requests in one frame can be answered with.
const MAX_ANSWER: usize = 256 << 10;
const REPORT_LEN: usize = 72;

/// Which of the board's connections; it serves [`Slot::COUNT`] at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u8);

impl Slot {
    /// How many there are.
    pub const COUNT: usize = 2;
}

/// The server that a board is to run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// PEM.
    pub certificates: String,
    /// PEM.
    pub key: String,
    /// Which of the two servers.
    pub answer: ResponseMode,
    /// Whether the session cache is switched on, and how many sessions it holds, at most 16.
    pub sessions: Option<u32>,
    /// Whether session tickets are given.
    pub tickets: bool,
    /// Seconds that a session lives.
    pub lifetime: u32,
    /// A connection that has not finished its handshake after so many milliseconds is dropped; 0: never.
    pub handshake_ms: u32,
    /// A connection on which nothing moved for so many milliseconds is dropped; 0: never.
    pub idle_ms: u32,
    /// In an image with two stacks: which.
    pub stack: u8,
    /// What the server's random numbers begin from.
    pub seed: u32,
}

/// The two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ResponseMode {
    /// Answers whatever comes first with one response, and closes.
    Fixed,
    /// HTTP/1.1.
    Http,
}

/// What the board says of itself and of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardReport {
    /// Whether the connection is open.
    pub open: bool,
    /// Whether its handshake is done.
    pub ready: bool,
    /// Whether that resumed a session.
    pub resumed: bool,
    /// The handshake, as the server counts it: up to the step that finished it.
    pub handshake: Count,
    /// What came after.
    pub application: Count,
    /// Bytes of stack that were used at most, since the last mark.
    pub stack: u32,
    /// Bytes of heap in use.
    pub heap: u32,
    /// Bytes of heap in use at most, since the last mark.
    pub heap_peak: u32,
    /// Sessions that the cache found.
    pub hits: u32,
    /// Sessions that it was asked for and did not find.
    pub misses: u32,
    /// Bytes of the server's own state.
    pub server_bytes: u32,
    /// Bytes of one connection, without heap.
    pub connection_bytes: u32,
    /// Bytes of one session in the cache.
    pub session_bytes: u32,
}

/// Work of the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Count {
    /// Instructions.
    pub instructions: u64,
    /// Cycles; null where the machine does not know them.
    pub cycles: Option<u64>,
}

impl std::ops::Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let cycles = self.cycles.zip(other.cycles).map(|(one, two)| one + two);
        Self { instructions: self.instructions + other.instructions, cycles }
    }
}

/// What the server did about one frame.
#[derive(Debug, Default)]
pub struct Reaction {
    /// What it sent, on any of its connections.
    pub sent: Vec<(Slot, Vec<u8>)>,
    /// The connections that it closed.
    pub closed: Vec<Slot>,
    /// Its report, of the connection that the frame was for.
    pub report: BoardReport,
}

/// A server on a board.
pub struct Board<M> {
    machine: M,
}

impl<M: Machine> Board<M> {
    /// Starts the server.
    pub fn start(machine: M, setup: &Setup) -> Result<Self, BoardError> {
        let mut board = Self { machine };
        for (kind, text) in [(CERTIFICATES, &setup.certificates), (KEY, &setup.key)] {
            for part in text.as_bytes().chunks(MAX_DATA) {
                board.ask(kind, Slot(0), part, "a PEM text of this length")?;
            }
        }
        board.ask(START, Slot(0), &start_frame(setup), "its certificate, its key or its settings")?;
        Ok(board)
    }

    /// A client connects.
    pub fn open(&mut self, slot: Slot) -> Result<Reaction, BoardError> {
        self.ask(OPEN, slot, &[], "a connection, while it is open")
    }

    /// A client sends bytes.
    pub fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<Reaction, BoardError> {
        let mut whole = Reaction::default();
        for part in bytes.chunks(MAX_DATA) {
            // A server that has closed takes no more.
            if whole.closed.contains(&slot) {
                break;
            }
            let reaction = self.ask(DATA, slot, part, "data on a connection that is not open")?;
            whole.sent.extend(reaction.sent);
            whole.closed.extend(reaction.closed);
            whole.report = reaction.report;
        }
        Ok(whole)
    }

    /// A client closes.
    pub fn close(&mut self, slot: Slot) -> Result<Reaction, BoardError> {
        self.ask(CLOSE, slot, &[], "the end of a connection that is not open")
    }

    /// The board's clock is set.
    pub fn set_time(&mut self, milliseconds: u32) -> Result<Reaction, BoardError> {
        self.ask(TIME, Slot(0), &milliseconds.to_le_bytes(), "the time")
    }

    /// The peaks of stack and heap begin anew.
    pub fn mark(&mut self) -> Result<BoardReport, BoardError> {
        self.ask(MARK, Slot(0), &[], "a mark").map(|reaction| reaction.report)
    }

    /// Any frame at all, as a broken host might send it. `None` if the board refused it.
    pub fn send_frame(&mut self, kind: u8, slot: u8, bytes: &[u8]) -> Result<Option<Reaction>, BoardError> {
        let mut frame = vec![kind, slot];
        frame.extend((bytes.len() as u16).to_le_bytes());
        frame.extend(bytes);
        self.machine.send(&frame)?;
        let mut reaction = Reaction::default();
        let mut said = 0;
        while said < MAX_ANSWER {
            let mut head = [0; 4];
            self.machine.receive(&mut head)?;
            let [kind, slot, low, high] = head;
            let mut bytes = vec![0; usize::from(u16::from_le_bytes([low, high]))];
            self.machine.receive(&mut bytes)?;
            said += head.len() + bytes.len();
            match kind {
                DATA => reaction.sent.push((Slot(slot), bytes)),
                CLOSE => reaction.closed.push(Slot(slot)),
                REPORT => {
                    let (ok, report) = parse_report(&bytes, self.machine.scale()).ok_or(BoardError::Nonsense)?;
                    reaction.report = report;
                    return Ok(ok.then_some(reaction));
                }
                CRASHED => return Err(BoardError::Crashed),
                ENDLESS => return Err(BoardError::Endless("steps")),
                _ => return Err(BoardError::Nonsense),
            }
        }
        Err(BoardError::Endless("bytes"))
    }

    fn ask(&mut self, kind: u8, slot: Slot, bytes: &[u8], what: &'static str) -> Result<Reaction, BoardError> {
        self.send_frame(kind, slot.0, bytes)?.ok_or(BoardError::Refused(what))
    }
}

impl Board<CortexM0> {
    /// The functions that have executed instructions since this was last asked, and how many, the most first.
    pub fn take_profile(&mut self) -> Vec<(String, u64)> {
        self.machine.take_profile()
    }
}

fn start_frame(setup: &Setup) -> Vec<u8> {
    let mut frame = Vec::new();
    for number in [setup.seed, setup.lifetime, setup.handshake_ms, setup.idle_ms] {
        frame.extend(number.to_le_bytes());
    }
    let answer = match setup.answer {
        ResponseMode::Fixed => 0,
        ResponseMode::Http => 1,
    };
    frame.extend([answer, u8::from(setup.sessions.is_some()), u8::from(setup.tickets), setup.stack]);
    frame.extend(setup.sessions.unwrap_or_default().to_le_bytes());
    frame
}

fn parse_report(bytes: &[u8], scale: Scale) -> Option<(bool, BoardReport)> {
    let bytes: &[u8; REPORT_LEN] = bytes.try_into().ok()?;
    let word = |at: usize| bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map(u32::from_le_bytes);
    let long = |at: usize| bytes.get(at..at + 8).and_then(|it| it.try_into().ok()).map(u64::from_le_bytes);
    let count = |at: usize| {
        let cycles = long(at + 8)?;
        Some(Count { instructions: long(at)? * scale.instructions, cycles: scale.cycles.map(|unit| cycles * unit) })
    };
    let report = BoardReport {
        open: bytes[1] != 0,
        ready: bytes[1] == 2,
        resumed: bytes[2] != 0,
        handshake: count(8)?,
        application: count(24)?,
        stack: word(40)?,
        heap: word(44)?,
        heap_peak: word(48)?,
        hits: word(52)?,
        misses: word(56)?,
        server_bytes: word(60)?,
        connection_bytes: word(64)?,
        session_bytes: word(68)?,
    };
    Some((bytes[0] != 0, report))
}
