// SPDX-License-Identifier: Apache-2.0
//! Reads an instruction stream without trusting it: an index outside the image ends the
//! iteration, never with a panic.
use crate::sys;

/// One instruction as it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Index of the instance (a use of a body), in the order in which all engines visit
    /// instances.
    pub instance: u32,
    /// Index in the stream's table of engines.
    pub engine: u32,
    /// Within its body.
    pub index: u32,
    pub operation: Operation,
    /// How many completions it waits for.
    pub waits: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// DRAM to scratchpad; descriptor.
    Load(u32),
    /// Scratchpad to DRAM; descriptor.
    Store(u32),
    /// Scratchpad of a node to those of others; descriptor.
    Forward(u32),
    Compute {
        descriptor: u32,
        layer: u32,
        cycles: u32,
        /// Clears the accumulator first, requantises last.
        first: bool,
        last: bool,
    },
    Host(u32),
}

#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    image: &'a [u8],
    engines: u32,
    instance: u32,
    engine: u32,
    next: u32,
}

const HEADER_INSTANCES: usize = 40;
const HEADER_ENGINES: usize = 144;

impl<'a> Instructions<'a> {
    pub(crate) fn new(image: &'a [u8]) -> Instructions<'a> {
        let mut new = Instructions { image, engines: 0, instance: 0, engine: 0, next: 0 };
        if new.word(0) == Some(sys::SLUICE_STREAM_MAGIC) {
            new.engines = new.word(HEADER_ENGINES).unwrap_or(0);
        }
        new
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.image.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    // Word `field` of record `index` of a table of the image.
    fn record(&self, table: u32, index: u32, bytes: usize, field: usize) -> Option<u32> {
        self.word((table as usize).checked_add((index as usize).checked_mul(bytes)?)?.checked_add(field * 4)?)
    }

    fn block_of(&self, instance: u32) -> Option<usize> {
        let block = self.record(self.word(HEADER_INSTANCES + 4)?, instance, 16, 0)?;
        (self.word(36)? as usize).checked_add((block as usize).checked_mul(112)?)
    }

    fn read(&self, block: usize) -> Option<Instruction> {
        let at = |field: usize| self.word(block + field * 4);
        let table = at(9)?;
        let first = self.record(table, self.next, 16, 0)?;
        let descriptor = self.record(table, self.next, 16, 1)?;
        let (opcode, flags) = (first & 0xff, first >> 8 & 0xff);
        let operation = match opcode {
            sys::SLUICE_OPCODE_LOAD => Operation::Load(descriptor),
            sys::SLUICE_OPCODE_STORE => Operation::Store(descriptor),
            sys::SLUICE_OPCODE_FORWARD => Operation::Forward(descriptor),
            sys::SLUICE_OPCODE_HOST => Operation::Host(descriptor),
            _ => {
                let tiles = at(13)?;
                let kernel = self.record(tiles, descriptor, 64, 0)?;
                let instances = self.word(HEADER_INSTANCES + 4)?;
                let kernels = self.record(instances, self.instance, 16, 2)?;
                Operation::Compute {
                    descriptor,
                    layer: self.record(self.word(60)?, kernels.checked_add(kernel)?, 16, 2)?,
                    cycles: self.record(tiles, descriptor, 64, 1)?,
                    first: flags & sys::SLUICE_FLAG_FIRST != 0,
                    last: flags & sys::SLUICE_FLAG_LAST != 0,
                }
            }
        };
        Some(Instruction {
            instance: self.instance,
            engine: self.engine,
            index: self.next,
            operation,
            waits: (first >> 16) as u16,
        })
    }
}

impl Iterator for Instructions<'_> {
    type Item = Instruction;

    fn next(&mut self) -> Option<Instruction> {
        while self.engines != 0 && self.instance < self.word(HEADER_INSTANCES)? {
            let block = self.block_of(self.instance)?;
            let list = self.word(block + 24)?;
            let begin = self.record(list, self.engine, 4, 0)?;
            let end = self.record(list, self.engine + 1, 4, 0)?;
            self.next = self.next.max(begin);
            if self.next < end {
                let instruction = self.read(block)?;
                self.next += 1;
                return Some(instruction);
            }
            self.engine += 1;
            if self.engine == self.engines {
                self.engine = 0;
                self.instance += 1;
            }
            self.next = 0;
        }
        None
    }
}
