//! A Cortex-M0+: every instruction of ARMv6-M, and the cycles that ARM states for each (Cortex-M0+ Technical Reference
//! Manual, DDI 0484C, table 3-1), with zero wait states and the single-cycle multiplier that the RP2040 has.
//!
//! It is stricter than the Cortex-M3 that QEMU emulates: an unaligned access stops it, as it stops an M0+.

use super::cortex_m0_memory::{Elapsed, FLASH, Memory};
use super::profile::Profile;
use super::{Machine, MachineFault, Scale};

/// Most instructions that may go by until what the host sent is answered: ten times as many as the slowest handshake takes.
const PATIENCE: u64 = 5_000_000_000;

/// A board with this CPU: an image, its memory, its line.
pub struct CortexM0 {
    r: [u32; 16],
    flags: Flags,
    memory: Memory,
    /// What has run so far.
    elapsed: Elapsed,
    /// How many instructions an answer may take, and where that ends.
    patience: u64,
    end: u64,
    profile: Profile,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    n: bool,
    z: bool,
    c: bool,
    v: bool,
}

/// Why an instruction could not be executed.
type Step<T> = Result<T, &'static str>;

const SP: usize = 13;
const LR: usize = 14;
const PC: usize = 15;

impl CortexM0 {
    /// Boots an ELF image.
    pub fn boot(name: &str, elf: &[u8]) -> Result<Self, MachineFault> {
        let mut memory = Memory::load(elf).map_err(|why| MachineFault::Image(name.to_owned(), why))?;
        let elapsed = Elapsed::default();
        let mut vector =
            |address| memory.load_word(address, elapsed).map_err(|why| MachineFault::Image(name.to_owned(), why));
        let (stack, reset) = (vector(0)?, vector(4)?);
        let mut r = [0; 16];
        (r[SP], r[LR], r[PC]) = (stack, u32::MAX, reset & !1);
        let profile = Profile::of(elf, FLASH);
        Ok(Self { r, flags: Flags::default(), memory, elapsed, patience: PATIENCE, end: PATIENCE, profile })
    }

    /// The same, but with this many instructions until what the host sent must be answered.
    #[must_use]
    pub fn with_patience(self, instructions: u64) -> Self {
        Self { patience: instructions, end: self.elapsed.instructions + instructions, ..self }
    }

    /// The functions that have executed instructions since this was last asked, and how many, the most first.
    pub fn take_profile(&mut self) -> Vec<(String, u64)> {
        self.profile.take()
    }

    /// Runs until the board waits for a byte, or until it has said at least `wanted` bytes.
    fn run(&mut self, wanted: usize) -> Result<(), MachineFault> {
        while self.memory.line.sent() < wanted && !self.memory.line.is_waiting() {
            // The budget is looked at seldom: it costs.
            for _ in 0..10_000 {
                let at = self.r[PC];
                self.step().map_err(|why| MachineFault::Stopped { at, why })?;
                if self.memory.line.is_waiting() {
                    break;
                }
            }
            if self.elapsed.instructions > self.end {
                return Err(MachineFault::Silent("it computes without end"));
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Step<()> {
        let at = self.r[PC];
        let op = self.memory.fetch(at)?;
        self.elapsed.instructions += 1;
        self.profile.count(at);
        self.r[PC] = at.wrapping_add(2);
        let cycles = self.execute(op)?;
        self.elapsed.cycles += cycles;
        Ok(())
    }

    /// Executes one instruction; the program counter is behind it already. Returns its cycles.
    #[inline(always)]
    fn execute(&mut self, op: u32) -> Step<u64> {
        let low = |shift: u32| ((op >> shift) & 7) as usize;
        let imm5 = (op >> 6) & 31;
        let imm8 = op & 255;
        match op >> 11 {
            // Shifts by an immediate.
            0 => {
                let value = self.r[low(3)];
                let result = if imm5 == 0 { value } else { self.lsl(value, imm5) };
                self.set(low(0), result);
                Ok(1)
            }
            1 => {
                let result = self.lsr(self.r[low(3)], if imm5 == 0 { 32 } else { imm5 });
                self.set(low(0), result);
                Ok(1)
            }
            2 => {
                let result = self.asr(self.r[low(3)], if imm5 == 0 { 32 } else { imm5 });
                self.set(low(0), result);
                Ok(1)
            }
            3 => {
                let operand = if op & 0x400 != 0 { (op >> 6) & 7 } else { self.r[low(6)] };
                let value = self.r[low(3)];
                let result = if op & 0x200 != 0 { self.add(value, !operand, true) } else { self.add(value, operand, false) };
                self.r[low(0)] = result;
                Ok(1)
            }
            4 => {
                self.set(low(8), imm8);
                Ok(1)
            }
            5 => {
                self.add(self.r[low(8)], !imm8, true);
                Ok(1)
            }
            6 => {
                self.r[low(8)] = self.add(self.r[low(8)], imm8, false);
                Ok(1)
            }
            7 => {
                self.r[low(8)] = self.add(self.r[low(8)], !imm8, true);
                Ok(1)
            }
            8 if op & 0x400 == 0 => self.data(op),
            8 => self.special(op),
            9 | 12..=19 => self.load_or_store_immediate(op),
            10 | 11 => self.load_or_store_register(op),
            20 => {
                self.r[low(8)] = (self.pc() & !3).wrapping_add(imm8 * 4);
                Ok(1)
            }
            21 => {
                self.r[low(8)] = self.r[SP].wrapping_add(imm8 * 4);
                Ok(1)
            }
            22 | 23 => self.miscellaneous(op),
            24 => self.store_multiple(op),
            25 => self.load_multiple(op),
            26 | 27 => self.branch_if(op),
            28 => {
                let offset = ((op << 21) as i32 >> 20) as u32;
                self.r[PC] = self.pc().wrapping_add(offset);
                Ok(2)
            }
            30 => self.wide(op),
            _ => Err("an instruction that ARMv6-M does not have"),
        }
    }

    /// The program counter as an instruction reads it: four bytes behind the instruction's own address.
    fn pc(&self) -> u32 {
        self.r[PC].wrapping_add(2)
    }

    fn data(&mut self, op: u32) -> Step<u64> {
        let d = (op & 7) as usize;
        let (x, y) = (self.r[d], self.r[((op >> 3) & 7) as usize]);
        let result = match (op >> 6) & 15 {
            0 => x & y,
            1 => x ^ y,
            2 => self.shifted(x, y & 255, Self::lsl),
            3 => self.shifted(x, y & 255, Self::lsr),
            4 => self.shifted(x, y & 255, Self::asr),
            5 => {
                self.r[d] = self.add(x, y, self.flags.c);
                return Ok(1);
            }
            6 => {
                self.r[d] = self.add(x, !y, self.flags.c);
                return Ok(1);
            }
            7 => self.shifted(x, y & 255, Self::ror),
            8 => {
                self.judge(x & y);
                return Ok(1);
            }
            9 => {
                self.r[d] = self.add(!y, 0, true);
                return Ok(1);
            }
            10 => {
                self.add(x, !y, true);
                return Ok(1);
            }
            11 => {
                self.add(x, y, false);
                return Ok(1);
            }
            12 => x | y,
            13 => x.wrapping_mul(y),
            14 => x & !y,
            _ => !y,
        };
        self.set(d, result);
        Ok(1)
    }

    /// ADD, CMP and MOV of all sixteen registers, BX and BLX.
    fn special(&mut self, op: u32) -> Step<u64> {
        let d = ((op & 7) | ((op >> 4) & 8)) as usize;
        let m = ((op >> 3) & 15) as usize;
        let value = if m == PC { self.pc() } else { self.r[m] };
        match (op >> 8) & 3 {
            0 | 2 => {
                let own = if d == PC { self.pc() } else { self.r[d] };
                let result = if op & 0x200 == 0 { own.wrapping_add(value) } else { value };
                if d == PC {
                    self.r[PC] = result & !1;
                    return Ok(2);
                }
                self.r[d] = if d == SP { result & !3 } else { result };
                Ok(1)
            }
            1 => {
                self.add(self.r[d], !value, true);
                Ok(1)
            }
            _ => {
                if value & 1 == 0 {
                    return Err("a branch to ARM code");
                }
                if op & 0x80 != 0 {
                    self.r[LR] = self.r[PC] | 1;
                }
                self.r[PC] = value & !1;
                Ok(2)
            }
        }
    }

    /// From the literals, at a register and an offset, or at the stack pointer and an offset.
    fn load_or_store_immediate(&mut self, op: u32) -> Step<u64> {
        let low = |shift: u32| ((op >> shift) & 7) as usize;
        let (imm5, imm8) = ((op >> 6) & 31, op & 255);
        let base = self.r[low(3)];
        match op >> 11 {
            9 => self.r[low(8)] = self.memory.load_word((self.pc() & !3).wrapping_add(imm8 * 4), self.elapsed)?,
            12 => self.memory.store_word(base.wrapping_add(imm5 * 4), self.r[low(0)], self.elapsed)?,
            13 => self.r[low(0)] = self.memory.load_word(base.wrapping_add(imm5 * 4), self.elapsed)?,
            14 => self.memory.store_byte(base.wrapping_add(imm5), self.r[low(0)])?,
            15 => self.r[low(0)] = self.memory.load_byte(base.wrapping_add(imm5))?,
            16 => self.memory.store_half(base.wrapping_add(imm5 * 2), self.r[low(0)])?,
            17 => self.r[low(0)] = self.memory.load_half(base.wrapping_add(imm5 * 2))?,
            18 => self.memory.store_word(self.r[SP].wrapping_add(imm8 * 4), self.r[low(8)], self.elapsed)?,
            _ => self.r[low(8)] = self.memory.load_word(self.r[SP].wrapping_add(imm8 * 4), self.elapsed)?,
        }
        Ok(2)
    }

    fn load_or_store_register(&mut self, op: u32) -> Step<u64> {
        let t = (op & 7) as usize;
        let address = self.r[((op >> 3) & 7) as usize].wrapping_add(self.r[((op >> 6) & 7) as usize]);
        match (op >> 9) & 7 {
            0 => self.memory.store_word(address, self.r[t], self.elapsed)?,
            1 => self.memory.store_half(address, self.r[t])?,
            2 => self.memory.store_byte(address, self.r[t])?,
            3 => self.r[t] = self.memory.load_byte(address)? as i8 as u32,
            4 => self.r[t] = self.memory.load_word(address, self.elapsed)?,
            5 => self.r[t] = self.memory.load_half(address)?,
            6 => self.r[t] = self.memory.load_byte(address)?,
            _ => self.r[t] = self.memory.load_half(address)? as i16 as u32,
        }
        Ok(2)
    }

    fn miscellaneous(&mut self, op: u32) -> Step<u64> {
        let (d, m) = ((op & 7) as usize, ((op >> 3) & 7) as usize);
        match (op >> 6) & 63 {
            0 | 1 => self.r[SP] = self.r[SP].wrapping_add((op & 127) * 4),
            2 | 3 => self.r[SP] = self.r[SP].wrapping_sub((op & 127) * 4),
            8 => self.r[d] = self.r[m] as i16 as u32,
            9 => self.r[d] = self.r[m] as i8 as u32,
            10 => self.r[d] = self.r[m] & 0xffff,
            11 => self.r[d] = self.r[m] & 0xff,
            16..=23 => return self.push(op),
            // CPSIE and CPSID: there are no interrupts.
            25 => {}
            40 => self.r[d] = self.r[m].swap_bytes(),
            41 => self.r[d] = (self.r[m].swap_bytes()).rotate_right(16),
            43 => self.r[d] = (self.r[m] as u16).swap_bytes() as i16 as u32,
            48..=55 => return self.pop(op),
            56..=59 => return Err("BKPT"),
            // Hints.
            60..=63 => {}
            _ => return Err("an instruction that ARMv6-M does not have"),
        }
        Ok(1)
    }

    fn push(&mut self, op: u32) -> Step<u64> {
        let list = op & 0x1ff;
        let mut address = self.r[SP].wrapping_sub(4 * list.count_ones());
        self.r[SP] = address;
        for index in 0..9 {
            if list & (1 << index) != 0 {
                let register = if index == 8 { LR } else { index };
                self.memory.store_word(address, self.r[register], self.elapsed)?;
                address = address.wrapping_add(4);
            }
        }
        Ok(1 + u64::from(list.count_ones()))
    }

    fn pop(&mut self, op: u32) -> Step<u64> {
        let list = op & 0x1ff;
        let mut address = self.r[SP];
        for index in 0..8 {
            if list & (1 << index) != 0 {
                self.r[index] = self.memory.load_word(address, self.elapsed)?;
                address = address.wrapping_add(4);
            }
        }
        let registers = u64::from(list.count_ones());
        let returns = list & 0x100 != 0;
        if returns {
            let target = self.memory.load_word(address, self.elapsed)?;
            address = address.wrapping_add(4);
            if target & 1 == 0 {
                return Err("a return to ARM code");
            }
            self.r[PC] = target & !1;
        }
        self.r[SP] = address;
        Ok(registers + if returns { 3 } else { 1 })
    }

    fn store_multiple(&mut self, op: u32) -> Step<u64> {
        let base = ((op >> 8) & 7) as usize;
        let mut address = self.r[base];
        for index in (0..8).filter(|index| op & (1 << index) != 0) {
            self.memory.store_word(address, self.r[index], self.elapsed)?;
            address = address.wrapping_add(4);
        }
        self.r[base] = address;
        Ok(1 + u64::from((op & 255).count_ones()))
    }

    fn load_multiple(&mut self, op: u32) -> Step<u64> {
        let base = ((op >> 8) & 7) as usize;
        let mut address = self.r[base];
        for index in (0..8).filter(|index| op & (1 << index) != 0) {
            self.r[index] = self.memory.load_word(address, self.elapsed)?;
            address = address.wrapping_add(4);
        }
        if op & (1 << base) == 0 {
            self.r[base] = address;
        }
        Ok(1 + u64::from((op & 255).count_ones()))
    }

    fn branch_if(&mut self, op: u32) -> Step<u64> {
        let Flags { n, z, c, v } = self.flags;
        let holds = match (op >> 8) & 15 {
            0 => z,
            1 => !z,
            2 => c,
            3 => !c,
            4 => n,
            5 => !n,
            6 => v,
            7 => !v,
            8 => c && !z,
            9 => !c || z,
            10 => n == v,
            11 => n != v,
            12 => !z && n == v,
            13 => z || n != v,
            14 => return Err("UDF"),
            _ => return Err("SVC, and there is no operating system"),
        };
        if !holds {
            return Ok(1);
        }
        let offset = ((op << 24) as i32 >> 23) as u32;
        self.r[PC] = self.pc().wrapping_add(offset);
        Ok(2)
    }

    /// The 32-bit instructions: BL, and those that a program without interrupts may ignore.
    fn wide(&mut self, op: u32) -> Step<u64> {
        let second = self.memory.fetch(self.r[PC])?;
        let behind = self.r[PC].wrapping_add(2);
        if second & 0xd000 == 0xd000 {
            let s = (op >> 10) & 1;
            let i1 = !((second >> 13) ^ s) & 1;
            let i2 = !((second >> 11) ^ s) & 1;
            let offset = (s << 24) | (i1 << 23) | (i2 << 22) | ((op & 0x3ff) << 12) | ((second & 0x7ff) << 1);
            self.r[LR] = behind | 1;
            self.r[PC] = behind.wrapping_add(((offset << 7) as i32 >> 7) as u32);
            return Ok(3);
        }
        self.r[PC] = behind;
        match op {
            // DMB, DSB, ISB; MSR.
            0xf3bf | 0xf380..=0xf38f => Ok(3),
            // MRS: of PRIMASK, most likely.
            0xf3ef => {
                self.r[((second >> 8) & 15) as usize] = 0;
                Ok(3)
            }
            _ => Err("an instruction that ARMv6-M does not have"),
        }
    }

    fn judge(&mut self, result: u32) {
        self.flags.n = (result as i32) < 0;
        self.flags.z = result == 0;
    }

    fn set(&mut self, register: usize, result: u32) {
        self.judge(result);
        self.r[register] = result;
    }

    fn add(&mut self, x: u32, y: u32, carry: bool) -> u32 {
        let (half, first) = x.overflowing_add(y);
        let (sum, second) = half.overflowing_add(u32::from(carry));
        self.judge(sum);
        self.flags.c = first | second;
        self.flags.v = ((x ^ sum) & (y ^ sum)) >> 31 != 0;
        sum
    }

    /// A shift by a register: by nothing, it leaves the carry as it is.
    fn shifted(&mut self, value: u32, by: u32, shift: fn(&mut Self, u32, u32) -> u32) -> u32 {
        if by == 0 { value } else { shift(self, value, by) }
    }

    fn lsl(&mut self, value: u32, by: u32) -> u32 {
        self.flags.c = by <= 32 && (value >> (32 - by)) & 1 != 0;
        value.checked_shl(by).unwrap_or_default()
    }

    fn lsr(&mut self, value: u32, by: u32) -> u32 {
        self.flags.c = by <= 32 && (value >> (by - 1)) & 1 != 0;
        value.checked_shr(by).unwrap_or_default()
    }

    fn asr(&mut self, value: u32, by: u32) -> u32 {
        let by = by.min(32);
        self.flags.c = ((value as i32) >> (by - 1).min(31)) & 1 != 0;
        ((value as i32) >> by.min(31)) as u32
    }

    fn ror(&mut self, value: u32, by: u32) -> u32 {
        let result = value.rotate_right(by & 31);
        self.flags.c = result >> 31 != 0;
        result
    }
}

impl Machine for CortexM0 {
    fn send(&mut self, bytes: &[u8]) -> Result<(), MachineFault> {
        self.memory.line.push(bytes);
        self.end = self.elapsed.instructions.saturating_add(self.patience);
        Ok(())
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), MachineFault> {
        self.run(bytes.len())?;
        if self.memory.line.take(bytes) { Ok(()) } else { Err(MachineFault::Silent("it waits for the host")) }
    }

    fn scale(&self) -> Scale {
        Scale { instructions: 1, cycles: Some(1) }
    }
}

#[cfg(test)]
#[path = "cortex_m0_tests.rs"]
mod tests;
