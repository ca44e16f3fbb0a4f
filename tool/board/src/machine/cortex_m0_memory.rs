//! What a Cortex-M0+ board has at which address: flash, RAM, a UART and two timers, as MPS2 places them.

use std::collections::VecDeque;

/// Instructions and cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Elapsed {
    pub(super) instructions: u64,
    pub(super) cycles: u64,
}

pub(super) const FLASH: usize = 2 << 20;
const RAM: u32 = 0x2000_0000;
const RAM_LEN: usize = 256 << 10;
const UART_DATA: u32 = 0x4000_4000;
const UART_STATE: u32 = 0x4000_4004;
const TIMER_INSTRUCTIONS: u32 = 0x4000_0004;
const TIMER_CYCLES: u32 = 0x4000_1004;
/// Where devices have their registers; those that nothing stands behind take what is written and read as zero.
const DEVICES: std::ops::Range<u32> = 0x4000_0000..0x4001_0000;

/// How often in a row the line's state must be read, without a byte sent, until the board counts as waiting.
const WAITING: u32 = 4;

type Access<T> = Result<T, &'static str>;

const UNALIGNED: &str = "an unaligned access, which a Cortex-M0+ cannot do";
const NOWHERE: &str = "an access to an address where nothing is";

pub(super) struct Memory {
    flash: Box<[u8]>,
    ram: Box<[u8]>,
    pub(super) line: Line,
    /// When each timer was last set.
    began: Elapsed,
}

/// The UART.
#[derive(Default)]
pub(super) struct Line {
    incoming: VecDeque<u8>,
    outgoing: VecDeque<u8>,
    asked: u32,
}

impl Line {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.incoming.extend(bytes);
        self.asked = 0;
    }

    /// Fills `bytes`, if the board has sent as many.
    pub(super) fn take(&mut self, bytes: &mut [u8]) -> bool {
        let there = self.outgoing.len() >= bytes.len();
        if there {
            let len = bytes.len();
            let taken = self.outgoing.drain(..len);
            bytes.iter_mut().zip(taken).for_each(|(to, byte)| *to = byte);
        }
        there
    }

    pub(super) fn sent(&self) -> usize {
        self.outgoing.len()
    }

    /// Whether the board asks for a byte, again and again, and there is none.
    pub(super) fn is_waiting(&self) -> bool {
        self.asked >= WAITING
    }

    fn state(&mut self) -> u32 {
        self.asked = if self.incoming.is_empty() { self.asked + 1 } else { 0 };
        // RX full; TX is never full.
        u32::from(!self.incoming.is_empty()) << 1
    }
}

impl Memory {
    /// The loadable segments of an ELF file for ARM, each at its physical address.
    pub(super) fn load(elf: &[u8]) -> Access<Self> {
        let mut flash = vec![0xff; FLASH].into_boxed_slice();
        for segment in crate::elf::segments(elf)? {
            let place = segment.address as usize..segment.address as usize + segment.bytes.len();
            flash.get_mut(place).ok_or("it has code outside of flash")?.copy_from_slice(segment.bytes);
        }
        let ram = vec![0; RAM_LEN].into_boxed_slice();
        Ok(Self { flash, ram, line: Line::default(), began: Elapsed::default() })
    }

    #[inline(always)]
    pub(super) fn fetch(&self, address: u32) -> Access<u32> {
        let at = address as usize;
        match self.flash.get(at..at + 2) {
            Some(&[low, high]) => Ok(u32::from(u16::from_le_bytes([low, high]))),
            _ => Err("code outside of flash"),
        }
    }

    #[inline(always)]
    pub(super) fn load_word(&mut self, address: u32, elapsed: Elapsed) -> Access<u32> {
        if address & 3 != 0 {
            return Err(UNALIGNED);
        }
        match self.bytes(address, 4) {
            Some(&[a, b, c, d]) => Ok(u32::from_le_bytes([a, b, c, d])),
            _ => self.load_device(address, elapsed),
        }
    }

    #[inline(always)]
    pub(super) fn load_half(&self, address: u32) -> Access<u32> {
        if address & 1 != 0 {
            return Err(UNALIGNED);
        }
        match self.bytes(address, 2) {
            Some(&[low, high]) => Ok(u32::from(u16::from_le_bytes([low, high]))),
            _ => Err(NOWHERE),
        }
    }

    #[inline(always)]
    pub(super) fn load_byte(&self, address: u32) -> Access<u32> {
        match self.bytes(address, 1) {
            Some(&[byte]) => Ok(u32::from(byte)),
            _ => Err(NOWHERE),
        }
    }

    #[inline(always)]
    pub(super) fn store_word(&mut self, address: u32, value: u32, elapsed: Elapsed) -> Access<()> {
        if address & 3 != 0 {
            return Err(UNALIGNED);
        }
        match self.ram_mut(address, 4) {
            Some(bytes) => bytes.copy_from_slice(&value.to_le_bytes()),
            None => self.store_device(address, value, elapsed)?,
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn store_half(&mut self, address: u32, value: u32) -> Access<()> {
        if address & 1 != 0 {
            return Err(UNALIGNED);
        }
        self.ram_mut(address, 2).ok_or(NOWHERE)?.copy_from_slice(&(value as u16).to_le_bytes());
        Ok(())
    }

    #[inline(always)]
    pub(super) fn store_byte(&mut self, address: u32, value: u32) -> Access<()> {
        self.ram_mut(address, 1).ok_or(NOWHERE)?.copy_from_slice(&[value as u8]);
        Ok(())
    }

    #[inline(always)]
    fn bytes(&self, address: u32, len: usize) -> Option<&[u8]> {
        let in_ram = address.wrapping_sub(RAM) as usize;
        if in_ram < RAM_LEN {
            return self.ram.get(in_ram..in_ram + len);
        }
        self.flash.get(address as usize..address as usize + len)
    }

    #[inline(always)]
    fn ram_mut(&mut self, address: u32, len: usize) -> Option<&mut [u8]> {
        let at = address.wrapping_sub(RAM) as usize;
        if at < RAM_LEN { self.ram.get_mut(at..at + len) } else { None }
    }

    #[cold]
    fn load_device(&mut self, address: u32, elapsed: Elapsed) -> Access<u32> {
        // The timers count down from all ones.
        match address {
            UART_DATA => Ok(u32::from(self.line.incoming.pop_front().unwrap_or_default())),
            UART_STATE => Ok(self.line.state()),
            TIMER_INSTRUCTIONS => Ok(!((elapsed.instructions - self.began.instructions) as u32)),
            TIMER_CYCLES => Ok(!((elapsed.cycles - self.began.cycles) as u32)),
            _ if DEVICES.contains(&address) => Ok(0),
            _ => Err(NOWHERE),
        }
    }

    #[cold]
    fn store_device(&mut self, address: u32, value: u32, elapsed: Elapsed) -> Access<()> {
        match address {
            UART_DATA => {
                self.line.outgoing.push_back(value as u8);
                self.line.asked = 0;
            }
            TIMER_INSTRUCTIONS => self.began.instructions = elapsed.instructions,
            TIMER_CYCLES => self.began.cycles = elapsed.cycles,
            _ if DEVICES.contains(&address) => {}
            _ => return Err(NOWHERE),
        }
        Ok(())
    }
}
