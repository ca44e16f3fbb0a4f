//! A full and a resumed handshake with one image: `cargo run --release --example handshakes -- mbedtls3 p-256`.

#![allow(clippy::print_stdout)]

use reprise_board::{
    Answer, Board, Client, Cpu, Fault, Firmware, Image, Key, Optimization, Qemu, Setup, Slot, Stack, find_firmware,
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

    let folder = find_firmware(std::env::current_dir().unwrap_or_default().as_path())?;
    let output = folder.with_file_name("target").join("firmware");
    let firmware = Firmware { folder, output };
    let built = firmware.build(image)?;
    println!("{}: {:?} {:?}", built.name, built.sizes.total, built.sizes.components);
    if has("qemu") {
        let mut board = Board::start(Qemu::cortex_m(&image.path(&firmware.output))?, &Setup::usual(key, Answer::Http))?;
        let completed = Client::common(1).connect(&mut board, Slot(0), None)?;
        println!("QEMU: {:?}", completed.handshake);
    }
    for row in firmware.handshakes(image, 0, key, 1, 133_000_000)? {
        println!("{row:?}");
    }
    Ok(())
}
