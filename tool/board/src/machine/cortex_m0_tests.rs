use super::*;

/// Boots a program of half-words at 0x100, with the stack at the end of RAM.
fn machine(program: &[u16]) -> CortexM0 {
    let mut flash = vec![0; 0x100];
    flash[..4].copy_from_slice(&0x2004_0000_u32.to_le_bytes());
    flash[4..8].copy_from_slice(&0x101_u32.to_le_bytes());
    program.iter().for_each(|op| flash.extend(op.to_le_bytes()));
    let mut elf = vec![0; 84];
    elf[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1, 1]);
    elf[18] = 40;
    (elf[28], elf[42], elf[44]) = (52, 32, 1);
    elf[52] = 1;
    elf[56..60].copy_from_slice(&84_u32.to_le_bytes());
    elf[68..72].copy_from_slice(&(flash.len() as u32).to_le_bytes());
    elf.extend(flash);
    CortexM0::boot("test", &elf).unwrap()
}

/// Executes all of it, and tells how many cycles that took.
fn run(program: &[u16], before: impl FnOnce(&mut CortexM0)) -> (CortexM0, u64) {
    let mut machine = machine(program);
    before(&mut machine);
    let end = 0x100 + 2 * program.len() as u32;
    while machine.r[PC] < end {
        machine.step().unwrap();
    }
    let cycles = machine.elapsed.cycles;
    (machine, cycles)
}

fn nzcv(machine: &CortexM0) -> [bool; 4] {
    let Flags { n, z, c, v } = machine.flags;
    [n, z, c, v]
}

#[test]
fn additions_and_subtractions_set_carry_and_overflow() {
    // ADDS r0, r1, r2; then CMP r0, r2.
    let add = |x: u32, y: u32| {
        let (machine, _) = run(&[0x1888], |machine| (machine.r[1], machine.r[2]) = (x, y));
        (machine.r[0], nzcv(&machine))
    };
    assert_eq!(add(0x7fff_ffff, 1), (0x8000_0000, [true, false, false, true]));
    assert_eq!(add(u32::MAX, 1), (0, [false, true, true, false]));
    let compare = |x: u32, y: u32| nzcv(&run(&[0x4290], |machine| (machine.r[0], machine.r[2]) = (x, y)).0);
    assert_eq!(compare(5, 5), [false, true, true, false]);
    assert_eq!(compare(4, 5), [true, false, false, false]);
    assert_eq!(compare(0x8000_0000, 1), [false, false, true, true]);
}

#[test]
fn shifts_by_a_register_go_past_their_word() {
    // LSLS, LSRS, ASRS, RORS of r0 by r1.
    let shift = |op: u16, value: u32, by: u32| {
        let (machine, _) = run(&[op], |machine| (machine.r[0], machine.r[1]) = (value, by));
        (machine.r[0], machine.flags.c)
    };
    assert_eq!(shift(0x4088, 0x8000_0001, 1), (2, true));
    assert_eq!(shift(0x4088, 1, 32), (0, true));
    assert_eq!(shift(0x4088, 1, 33), (0, false));
    assert_eq!(shift(0x40c8, 0x8000_0000, 32), (0, true));
    assert_eq!(shift(0x40c8, 0x8000_0000, 200), (0, false));
    assert_eq!(shift(0x4108, 0x8000_0000, 40), (u32::MAX, true));
    assert_eq!(shift(0x41c8, 1, 1), (0x8000_0000, true));
    // By nothing, the carry stays; by a multiple of 256 too.
    assert_eq!(shift(0x4088, 7, 256), (7, false));
}

#[test]
fn instructions_take_the_cycles_that_arm_states() {
    let cycles = |program: &[u16]| run(program, |machine| machine.r[0] = 0x2000_0100).1;
    assert_eq!(cycles(&[0x2001]), 1); // MOVS
    assert_eq!(cycles(&[0x4341]), 1); // MULS, in one cycle
    assert_eq!(cycles(&[0x6801]), 2); // LDR
    assert_eq!(cycles(&[0x6001]), 2); // STR
    assert_eq!(cycles(&[0xc80e]), 4); // LDM of three
    assert_eq!(cycles(&[0xb500]), 2); // PUSH {lr}
    assert_eq!(cycles(&[0xe7ff]), 2); // B, taken
    assert_eq!(cycles(&[0xd0ff]), 1); // BEQ, not taken
    assert_eq!(cycles(&[0xf3bf, 0x8f4f]), 3); // DSB
    // BL to the PUSH and POP of a function, which returns to what follows: 3 + 3 + 5.
    let mut machine = machine(&[0xf000, 0xf801, 0xbf00, 0xb510, 0xbd10]);
    (0..3).for_each(|_| machine.step().unwrap());
    assert_eq!((machine.r[PC], machine.elapsed.cycles), (0x104, 11));
}

#[test]
fn bytes_and_halves_keep_their_sign() {
    let load = |op: u16| {
        let (machine, _) = run(&[0x6001, op], |machine| {
            (machine.r[0], machine.r[1], machine.r[2]) = (0x2000_0100, 0x8180_ff82, 0);
        });
        machine.r[3]
    };
    assert_eq!(load(0x5683), 0xffff_ff82); // LDRSB
    assert_eq!(load(0x5e83), 0xffff_ff82); // LDRSH
    assert_eq!(load(0x7803), 0x82); // LDRB
    assert_eq!(load(0x8803), 0xff82); // LDRH
    let (machine, _) = run(&[0xb208, 0xba0a, 0xba4b, 0xbacc], |machine| machine.r[1] = 0x1234_80ff);
    assert_eq!(machine.r[0], 0xffff_80ff); // SXTH
    assert_eq!(machine.r[2], 0xff80_3412); // REV
    assert_eq!(machine.r[3], 0x3412_ff80); // REV16
    assert_eq!(machine.r[4], 0xffff_ff80); // REVSH
}

#[test]
fn what_an_m0_cannot_do_stops_it() {
    let fault = |program: &[u16], address: u32| {
        let mut machine = machine(program);
        machine.r[0] = address;
        machine.step().unwrap_err()
    };
    for op in [0x6801, 0x6001, 0x8801, 0x8001] {
        assert!(fault(&[op], 0x2000_0101).contains("unaligned"), "{op:#x}");
    }
    assert!(fault(&[0x6801], 0x3000_0000).contains("where nothing is"));
    assert!(fault(&[0x7001], 0x10).contains("where nothing is")); // flash cannot be written
    assert!(fault(&[0xde00], 0).contains("UDF"));
    assert!(fault(&[0xb108], 0).contains("ARMv6-M")); // CBZ
    assert!(fault(&[0xea40, 0x0000], 0).contains("ARMv6-M")); // Thumb-2
}
