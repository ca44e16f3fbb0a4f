//! A full and a resumed handshake with one image: `cargo run --release --example handshakes -- mbedtls3 p-256`.

#![allow(clippy::print_stdout)]

use reprise_board::{
    Answer, Board, Client, Cpu, Fault, Image, Key, Optimization, Qemu, REQUEST, Setup, Slot, Stack, Workshop, find_firmware,
};

fn main() -> Result<(), Fault> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| named.iter().any(|it| it == name);
    let stack = [Stack::BearSsl, Stack::MbedTls2, Stack::MbedTls3].into_iter().find(|stack| has(stack.name()));
    let key = Key::ALL.into_iter().find(|key| has(key.name())).unwrap_or(Key::P256);
    let optimization = if has("-O3") { Optimization::Speed } else { Optimization::Size };
    let image = Image::usual(Cpu::CortexM0, stack.unwrap_or(Stack::BearSsl), optimization);
    let image = Image {
        rom_tables: has("rom-tables"),
        two_way: has("two-way"),
        assembler: !has("no-asm"),
        tickets: has("tickets"),
        ..image
    };

    let firmware = find_firmware(std::env::current_dir().unwrap_or_default().as_path())?;
    let output = firmware.with_file_name("target").join("firmware");
    let workshop = Workshop { firmware, output };
    let built = workshop.build(image)?;
    println!("{}: {:?} {:?}", built.name, built.sizes.total, built.sizes.components);
    if has("qemu") {
        let mut board = Board::start(Qemu::cortex_m(&image.path(&workshop.output))?, &Setup::usual(key, Answer::Http))?;
        let visit = Client::common(1).visit(&mut board, Slot(0), None, REQUEST)?;
        println!("QEMU: {:?}", visit.handshake);
    }
    for row in workshop.handshakes(image, 0, key, 1, 133_000_000)? {
        println!("{row:?}");
    }
    Ok(())
}
