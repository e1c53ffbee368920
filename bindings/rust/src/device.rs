// SPDX-License-Identifier: Apache-2.0
//! The simulated accelerator as a driver uses it (feature `device`).
use std::ffi::c_void;
use std::ptr;

/// Number of address regions of a stream.
pub const REGIONS: usize = crate::sys::SLUICE_REGION_COUNT as usize;

#[repr(C)]
struct RawCopy {
    address: u64,
    bytes: u64,
    host: *mut c_void,
}

#[repr(C)]
struct RawSubmission {
    stream: *const c_void,
    stream_bytes: usize,
    graph: *const c_void,
    graph_bytes: usize,
    window: [[u64; 2]; REGIONS],
    parameters: *const i32,
    parameter_count: u32,
    fault_engine: u32,
    fault_instance: u32,
    fault_instruction: u32,
    cycles: u64,
    instructions: u64,
    fault: [u8; 160],
}

extern "C" {
    fn sluice_device_open(hardware: *const c_void, bytes: usize, dram: u64, out: *mut *mut c_void) -> i32;
    fn sluice_device_close(device: *mut c_void);
    fn sluice_device_control(device: *mut c_void, request: u32, argument: *mut c_void) -> i32;
    fn sluice_walk_relocate(image: *mut c_void, base: *const u64) -> i32;
}

/// Adds the addresses of its regions to a stream, in place. False: a base is not
/// aligned.
pub fn relocate(stream: &mut [u8], base: &[u64; REGIONS]) -> bool {
    // SAFETY: the plan's stream has been checked by the library; it keeps its size.
    unsafe { sluice_walk_relocate(stream.as_mut_ptr().cast(), base.as_ptr()) == 0 }
}

pub struct Device(*mut c_void);

/// A stream to run and the memory that it may access.
pub struct Submission<'a> {
    pub stream: &'a [u8],
    /// graph.fbs: the simulator checks every tile against its layer.
    pub graph: &'a [u8],
    /// [begin, end) of each region: GBUF of every scratchpad, the others of DRAM.
    pub windows: [[u64; 2]; REGIONS],
    pub parameters: &'a [i32],
}

impl Device {
    pub fn open(hardware: &[u8], dram_bytes: u64) -> Option<Device> {
        let mut raw = ptr::null_mut();
        // SAFETY: the buffer lives during the call and is checked.
        unsafe { sluice_device_open(hardware.as_ptr().cast(), hardware.len(), dram_bytes, &mut raw) };
        (!raw.is_null()).then_some(Device(raw))
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.copy(2, address, bytes.len(), bytes.as_ptr() as *mut c_void)
    }
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        self.copy(3, address, bytes.len(), bytes.as_mut_ptr().cast())
    }

    /// Runs the stream to its end; returns the cycles, or what went wrong.
    pub fn submit(&mut self, s: &Submission<'_>) -> Result<u64, String> {
        let mut raw = RawSubmission {
            stream: s.stream.as_ptr().cast(),
            stream_bytes: s.stream.len(),
            graph: s.graph.as_ptr().cast(),
            graph_bytes: s.graph.len(),
            window: s.windows,
            parameters: s.parameters.as_ptr(),
            parameter_count: s.parameters.len() as u32,
            fault_engine: 0,
            fault_instance: 0,
            fault_instruction: 0,
            cycles: 0,
            instructions: 0,
            fault: [0; 160],
        };
        // SAFETY: everything lives during the call; the device trusts nothing in it.
        match unsafe { sluice_device_control(self.0, 4, (&raw mut raw).cast()) } {
            0 => Ok(raw.cycles),
            _ => Err(String::from_utf8_lossy(&raw.fault).trim_end_matches('\0').into()),
        }
    }

    fn copy(&mut self, request: u32, address: u64, bytes: usize, host: *mut c_void) -> bool {
        let mut raw = RawCopy { address, bytes: bytes as u64, host };
        // SAFETY: `host` has that many bytes; writes to the device only read them.
        unsafe { sluice_device_control(self.0, request, (&raw mut raw).cast()) == 0 }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once.
        unsafe { sluice_device_close(self.0) }
    }
}
