//! Servers on the emulated Cortex-M0+, as clients of every kind meet them.

use std::sync::OnceLock;

use reprise_board::{
    Answer, Board, Call, Client, CortexM0, Cpu, Fault, Image, Key, Optimization, REQUEST, Report, SUITES, Setup, Slot,
    Stack, Visit, Workshop,
};
use reprise_engine::EcdhKeyShare;
use reprise_lab::servers::missing;
use reprise_trace::{Kind, Nanos};

const FIRST: Slot = Slot(0);
const SECOND: Slot = Slot(1);
const STACKS: [Stack; 3] = [Stack::BearSsl, Stack::MbedTls2, Stack::MbedTls3];

/// The images of this test; `None`, and said so, without a cross compiler.
fn workshop() -> Option<&'static Workshop> {
    static WORKSHOP: OnceLock<Option<Workshop>> = OnceLock::new();
    let built = WORKSHOP.get_or_init(|| {
        if let Some(not_run) = missing("arm-none-eabi-gcc").or_else(|| missing("make")) {
            not_run.announce();
            return None;
        }
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workshop = Workshop { firmware: root.join("firmware"), output: root.join("target/firmware") };
        STACKS.into_iter().for_each(|stack| drop(workshop.build(usual(stack)).unwrap()));
        workshop.build(two_way()).unwrap();
        Some(workshop)
    });
    built.as_ref()
}

fn usual(stack: Stack) -> Image {
    Image::usual(Cpu::CortexM0, stack, Optimization::Size)
}

fn two_way() -> Image {
    Image { two_way: true, ..usual(Stack::BearSsl) }
}

fn setup() -> Setup {
    Setup::usual(Key::P256, Answer::Http)
}

fn visit(board: &mut Board<CortexM0>, after: Option<&Visit>) -> Visit {
    let session = after.and_then(|visit| visit.session.clone());
    let visit = Client::common(7).visit(board, FIRST, session, REQUEST).unwrap();
    assert!(visit.response.ends_with(b"from a microcontroller.\n"), "{:?}", String::from_utf8_lossy(&visit.response));
    visit
}

#[test]
fn every_stack_resumes_and_counts_the_same_twice() {
    let Some(workshop) = workshop() else { return };
    for stack in STACKS {
        let boot = || {
            let mut board = workshop.boot(usual(stack), &setup()).unwrap();
            let full = visit(&mut board, None);
            let resumed = visit(&mut board, Some(&full));
            assert_eq!((full.outcome.kind, resumed.outcome.kind), (Kind::Full, Kind::Id));
            assert_eq!(resumed.report.hits, 1);
            [full.whole(), resumed.whole()]
        };
        let counts = boot();
        assert_eq!(counts, boot(), "{}", stack.name());
        let [full, resumed] = counts.map(|count| count.instructions);
        assert!(full > 12 * resumed, "{}: {full} against {resumed}", stack.name());
    }
}

#[test]
fn a_session_ends_with_its_lifetime_and_with_its_switch() {
    let Some(workshop) = workshop() else { return };
    let mut board = workshop.boot(usual(Stack::BearSsl), &setup()).unwrap();
    let full = visit(&mut board, None);
    board.set_time(299_999).unwrap();
    assert_eq!(visit(&mut board, Some(&full)).outcome.kind, Kind::Id);
    board.set_time(300_000).unwrap();
    assert_eq!(visit(&mut board, Some(&full)).outcome.kind, Kind::Full);

    let mut without = workshop.boot(usual(Stack::BearSsl), &Setup { sessions: None, ..setup() }).unwrap();
    let full = visit(&mut without, None);
    assert_eq!(visit(&mut without, Some(&full)).outcome.kind, Kind::Full);
}

#[test]
fn a_session_of_one_name_opens_no_other() {
    let Some(workshop) = workshop() else { return };
    for stack in STACKS {
        let mut board = workshop.boot(usual(stack), &setup()).unwrap();
        let full = visit(&mut board, None);
        let other = Client::offering("other.example", &SUITES, EcdhKeyShare::GROUPS, 8);
        match other.visit(&mut board, FIRST, full.session.clone(), REQUEST) {
            // BearSSL looks sessions up before it knows the name: it can only refuse.
            Err(Fault::Stopped(_) | Fault::Tls(_)) => assert_eq!(stack, Stack::BearSsl),
            Ok(visit) => assert_eq!((visit.outcome.kind, stack == Stack::BearSsl), (Kind::Full, false)),
            Err(fault) => panic!("{}: {fault}", stack.name()),
        }
        assert_eq!(visit(&mut board, Some(&full)).outcome.kind, Kind::Id, "{}", stack.name());
    }
}

#[test]
fn two_clients_that_send_byte_by_byte_take_turns() {
    let Some(workshop) = workshop() else { return };
    for stack in STACKS {
        let mut board = workshop.boot(usual(stack), &setup()).unwrap();
        let mut calls = [FIRST, SECOND].map(|slot| {
            let client = Client::common(slot.0.into());
            (slot, Call::begin(&client, &mut board, slot, None).unwrap())
        });
        while calls.iter().any(|(_, call)| !call.report().ready) {
            let flights = calls.each_mut().map(|(_, call)| call.connection().take_outgoing(Nanos(0)));
            for at in 0..flights[0].len().max(flights[1].len()) {
                for ((slot, call), flight) in calls.iter_mut().zip(&flights) {
                    if let Some(&byte) = flight.get(at) {
                        call.take(board.send(*slot, &[byte]).unwrap()).unwrap();
                    }
                }
            }
        }
        for (_, call) in &mut calls {
            call.ask(&mut board, b"GET / HTTP/1.1\r\n\r\nGET /none HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n").unwrap();
            let response = String::from_utf8_lossy(call.response()).into_owned();
            let statuses: Vec<&str> = response.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
            assert_eq!(statuses, ["200", "404", "200"], "{}", stack.name());
        }
        for (_, call) in calls {
            assert_eq!(call.end(&mut board).unwrap().outcome.kind, Kind::Full);
        }
    }
}

#[test]
fn attacks_leave_the_other_client_served_and_memory_free() {
    let Some(workshop) = workshop() else { return };
    for stack in STACKS {
        let limits = Setup { handshake_ms: 5_000, idle_ms: 5_000, lifetime: 3_600, ..setup() };
        let mut board = workshop.boot(usual(stack), &limits).unwrap();
        let heap = |report: Report| report.heap;
        let hello = Client::common(3).connection(None).unwrap().take_outgoing(Nanos(0));
        let attacks: [&[u8]; 6] = [
            b"GET / HTTP/1.1\r\n\r\n",
            &[0x16, 3, 3, 0xff, 0xff, 1, 2, 3],
            &[0; 3000],
            &[0x16, 3, 3, 0, 4, 1, 0xff, 0xff, 0xff],
            &hello[..hello.len() / 2],
            &hello,
        ];
        let full = visit(&mut board, None);
        let idle = heap(board.mark().unwrap());
        for (index, attack) in attacks.iter().enumerate() {
            board.open(SECOND).unwrap();
            board.send(SECOND, attack).unwrap();
            // One more in the same place is refused, and is no harm to the first; after an alert the place is free again.
            let _ = board.open(SECOND);
            assert_eq!(visit(&mut board, Some(&full)).outcome.kind, Kind::Id, "{} under attack {index}", stack.name());
            // Whoever stalls is dropped when its time is over.
            board.set_time((index as u32 + 1) * 10_000).unwrap();
            assert_eq!(heap(board.mark().unwrap()), idle, "{} after attack {index}", stack.name());
        }
        for _ in 0..200 {
            board.open(SECOND).unwrap();
            board.send(SECOND, &[0x15, 3, 3, 0, 2, 2, 40]).unwrap();
            let _ = board.close(SECOND);
        }
        assert_eq!(heap(board.mark().unwrap()), idle, "{} after a flood", stack.name());
        assert_eq!(visit(&mut board, Some(&full)).outcome.kind, Kind::Id);
    }
}

#[test]
fn broken_frames_are_refused() {
    let Some(workshop) = workshop() else { return };
    let mut board = workshop.boot(usual(Stack::BearSsl), &setup()).unwrap();
    let frames: [(u8, u8, &[u8]); 7] = [
        (b'?', 0, b""),
        (b'D', 0, b"data on a closed connection"),
        (b'D', 200, b"data on none"),
        (b'O', 2, b""),
        (b'X', 1, b""),
        (b'S', 0, b"short"),
        (b'P', 0, &[b'a'; 3000]),
    ];
    for (kind, slot, bytes) in frames {
        assert!(board.send_frame(kind, slot, bytes).unwrap().is_none(), "{}", char::from(kind));
    }
    visit(&mut board, None);
}

#[test]
fn a_key_that_is_none_is_refused() {
    let Some(workshop) = workshop() else { return };
    for stack in STACKS {
        for key in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "nonsense"] {
            let refused = workshop.boot(usual(stack), &Setup { key: key.to_owned(), ..setup() });
            assert!(matches!(refused, Err(Fault::Refused(_))), "{} takes {key:?}", stack.name());
        }
    }
}

#[test]
fn one_buffer_for_both_directions_saves_its_size() {
    let Some(workshop) = workshop() else { return };
    let connection = |image| visit(&mut workshop.boot(image, &setup()).unwrap(), None).report.connection_bytes;
    let [one, two] = [usual(Stack::BearSsl), two_way()].map(connection);
    assert!((20_000..21_000).contains(&one) && (36_500..37_500).contains(&two), "{one} and {two}");
}
