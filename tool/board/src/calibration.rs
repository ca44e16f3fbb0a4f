//! Cycles to time, by one factor that stands for flash, radio and all that the CPU model does not have: fitted on one of six
//! figures that were reported for a board with an RP2040, the RP2040 report, and held against the other five.

use reprise_model::Kind;

use crate::document::{BoardCalibration, BoardHandshake, Figure};
use crate::image::{BoardStack, Cpu, Image, Optimization};
use crate::keys::BoardKey;

/// The RP2040 report's board.
pub(crate) const CLOCK_HZ: f64 = 133e6;

/// An image that stands for what the RP2040 report's board ran, and what it took, in seconds.
struct Reported {
    board: &'static str,
    image: Image,
    rsa_1024: f64,
    p_384: f64,
    /// What the board may have run instead: not one of the six figures.
    is_alternative: bool,
}

fn reported() -> [Reported; 4] {
    let usual = |stack, optimization| Image::usual(Cpu::CortexM0, stack, optimization);
    let of = |board, image, rsa_1024, p_384| Reported { board, image, rsa_1024, p_384, is_alternative: false };
    let own = usual(BoardStack::MbedTls2, Optimization::Size);
    let newer = Image { rom_tables: true, ..usual(BoardStack::MbedTls3, Optimization::Speed) };
    [
        of("BearSSL", usual(BoardStack::BearSsl, Optimization::Size), 0.7, 1.6),
        of("Mbed TLS, the board's own, -Os", own, 2.6, 3.2),
        of("Mbed TLS 3.6, -O3", newer, 1.3, 1.0),
        Reported {
            is_alternative: true,
            ..of("the board's own, if without assembler", Image { assembler: false, ..own }, 2.6, 3.2)
        },
    ]
}

/// The images that [`calibrate`] needs.
pub fn images() -> [Image; 4] {
    reported().map(|reported| reported.image)
}

/// The keys that it needs.
pub const KEYS: [BoardKey; 2] = [BoardKey::Rsa1024, BoardKey::P384];

/// The six figures, from the full handshakes that were measured; `None` where one of them was not.
pub fn calibrate(rows: &[BoardHandshake]) -> Option<BoardCalibration> {
    let mut figures = Vec::new();
    for Reported { board, image, rsa_1024, p_384, is_alternative } in reported() {
        for (key, reported_s) in KEYS.into_iter().zip([rsa_1024, p_384]) {
            let name = image.to_string();
            let row = rows.iter().find(|row| row.image == name && row.key == key && row.kind == Kind::Full)?;
            let cycles = row.handshake.cycles?;
            let group = row.group.clone();
            let board = board.to_owned();
            let (predicted_s, error, fitted) = (0.0, 0.0, figures.is_empty());
            figures.push(Figure {
                board,
                image: name,
                key,
                group,
                cycles,
                reported_s,
                predicted_s,
                error,
                fitted,
                is_alternative,
            });
        }
    }
    let first = figures.first()?;
    let factor = first.reported_s / (first.cycles as f64 / CLOCK_HZ);
    for figure in &mut figures {
        figure.predicted_s = figure.cycles as f64 / CLOCK_HZ * factor;
        figure.error = figure.predicted_s / figure.reported_s - 1.0;
    }
    let assumptions = [
        "Cortex-M0+ at 133 MHz, single-cycle multiplier, zero wait states; one factor for everything else",
        "the client offers x25519, secp256r1, secp384r1 and AES-GCM and ChaCha20-Poly1305; the server chooses by its own order",
        "assembler of each stack on; AES tables in RAM, but for 3.6 in ROM, as in the RP2040 report",
        "the board's own Mbed TLS is taken to be 2.28 with Mbed OS's curves in their default order, the largest first; whether it was built \
         with its assembler is not known",
    ];
    let same_order = order(&figures, |figure| figure.reported_s) == order(&figures, |figure| figure.predicted_s);
    Some(BoardCalibration { factor, assumptions: assumptions.map(str::to_owned).to_vec(), figures, same_order })
}

/// The figures' indices, the smallest first.
fn order(figures: &[Figure], by: impl Fn(&Figure) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..figures.len()).filter(|&index| !figures[index].is_alternative).collect();
    order.sort_by(|&one, &two| by(&figures[one]).total_cmp(&by(&figures[two])));
    order
}
