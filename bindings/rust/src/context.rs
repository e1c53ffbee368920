// SPDX-License-Identifier: Apache-2.0
//! Contexts, and the graphs and hardware that live in them.
use crate::error::{call, Result};
use crate::sys;
use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr;
use std::time::Duration;

/// Owns all memory of the objects made from it.
///
/// A context may move to another thread while nothing borrows it (`Send`), but two threads
/// never share a context or an object made from it: neither is `Sync`, and objects borrow
/// their context, so a plan that outlives it, or moves to another thread without it, does
/// not compile.
///
/// ```compile_fail
/// let context = sluice::Context::new().unwrap();
/// let hardware = context.hardware(&[]).unwrap();
/// drop(context); // `hardware` still borrows it
/// drop(hardware);
/// ```
/// ```compile_fail
/// let context = sluice::Context::new().unwrap();
/// std::thread::scope(|s| s.spawn(|| context.memory().peak_bytes)); // not Sync
/// ```
pub struct Context {
    pub(crate) raw: *mut sys::sluice_context_t,
    // A caller's block must stay where it is for as long as the context lives in it.
    _block: Option<Box<[u128]>>,
    _not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the library has no thread-local state; it only demands one thread at a time.
unsafe impl Send for Context {}

/// Memory of a context, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryStats {
    pub live_bytes: u64,
    pub peak_bytes: u64,
    pub allocations: u64,
}

impl Context {
    /// A context on the heap, without a memory cap.
    pub fn new() -> Result<Context> {
        Context::with_limit(0)
    }

    /// A context on the heap that never holds more than `max_bytes` (0: no cap).
    pub fn with_limit(max_bytes: u64) -> Result<Context> {
        let options = sys::sluice_context_options_t {
            struct_size: size_of::<sys::sluice_context_options_t>() as u32,
            max_bytes,
            ..Default::default()
        };
        Context::create(&options, None)
    }

    /// A context in one block of `bytes`, allocated by this call; later calls allocate
    /// nothing.
    pub fn in_block(bytes: usize) -> Result<Context> {
        let mut block = vec![0u128; bytes.div_ceil(16)].into_boxed_slice();
        let options = sys::sluice_context_options_t {
            struct_size: size_of::<sys::sluice_context_options_t>() as u32,
            block: block.as_mut_ptr().cast(),
            block_bytes: (block.len() * 16) as u64,
            ..Default::default()
        };
        Context::create(&options, Some(block))
    }

    /// A context on the heap whose deadlines and progress are counted by the caller's clock: a
    /// function that returns nanoseconds since any moment, rising. Any unit does, if deadlines
    /// are in the same one.
    pub fn with_clock(now: fn() -> u64) -> Result<Context> {
        unsafe extern "C" fn read(user: *mut c_void) -> u64 {
            // SAFETY: user is the function that with_clock put there.
            let now: fn() -> u64 = unsafe { std::mem::transmute(user) };
            now()
        }
        let options = sys::sluice_context_options_t {
            struct_size: size_of::<sys::sluice_context_options_t>() as u32,
            now_ns: Some(read),
            clock_user: now as *mut c_void,
            ..Default::default()
        };
        Context::create(&options, None)
    }

    fn create(options: &sys::sluice_context_options_t, block: Option<Box<[u128]>>) -> Result<Context> {
        let mut raw = ptr::null_mut();
        // SAFETY: both structs are of this version and live during the call.
        call(|d| unsafe { sys::sluice_context_create(options, &mut raw, d) })?;
        Ok(Context { raw, _block: block, _not_sync: PhantomData })
    }

    /// Reads a graph.fbs buffer; it is copied.
    pub fn graph(&self, bytes: &[u8]) -> Result<Graph<'_>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the buffer lives during the call and is checked by the library.
        call(|d| unsafe {
            sys::sluice_graph_create(self.raw, bytes.as_ptr().cast(), bytes.len(), &mut raw, d)
        })?;
        Ok(Graph { raw, context: PhantomData })
    }

    /// Reads a hardware.fbs buffer; it is copied.
    pub fn hardware(&self, bytes: &[u8]) -> Result<Hardware<'_>> {
        let mut raw = ptr::null_mut();
        // SAFETY: as above.
        call(|d| unsafe {
            sys::sluice_hardware_create(self.raw, bytes.as_ptr().cast(), bytes.len(), &mut raw, d)
        })?;
        Ok(Hardware { raw, context: PhantomData })
    }

    pub fn memory(&self) -> MemoryStats {
        let mut stats = sys::sluice_memory_stats_t {
            struct_size: size_of::<sys::sluice_memory_stats_t>() as u32,
            ..Default::default()
        };
        // SAFETY: the context lives; the struct is of this version.
        unsafe { sys::sluice_context_memory(self.raw, &mut stats) };
        MemoryStats {
            live_bytes: stats.live_bytes,
            peak_bytes: stats.peak_bytes,
            allocations: stats.allocations,
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: everything made from it borrowed it and is gone.
        unsafe { sys::sluice_context_destroy(self.raw) }
    }
}

/// A network that has been checked.
pub struct Graph<'c> {
    pub(crate) raw: *mut sys::sluice_graph_t,
    context: PhantomData<&'c Context>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorKind {
    Intermediate,
    Input,
    Output,
    Constant,
    State,
}

/// Where a constant's bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    None,
    /// Offset of the bytes in the graph's own buffer.
    Inline(u64),
    External {
        file: String,
        offset: u64,
    },
    /// The seed of ops.h's rule.
    Seeded(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    pub name: String,
    pub kind: TensorKind,
    /// SLUICE_DTYPE_ of ops.h.
    pub dtype: u32,
    /// N H W C, ones in front.
    pub extent: [i32; 4],
    /// Dense size.
    pub bytes: u64,
    pub source: Source,
}

impl Graph<'_> {
    pub fn tensor_count(&self) -> u32 {
        self.counts().tensors
    }
    pub fn layer_count(&self) -> u32 {
        self.counts().layers
    }

    /// None: no such index.
    pub fn tensor(&self, index: u32) -> Option<Tensor> {
        let mut t = sys::sluice_tensor_info_t {
            struct_size: size_of::<sys::sluice_tensor_info_t>() as u32,
            ..Default::default()
        };
        // SAFETY: the graph lives; the struct is of this version.
        if unsafe { sys::sluice_graph_tensor(self.raw, index, &mut t) } != sys::SLUICE_OK {
            return None;
        }
        Some(Tensor {
            name: borrowed(t.name, t.name_size),
            kind: match t.kind {
                1 => TensorKind::Input,
                2 => TensorKind::Output,
                3 => TensorKind::Constant,
                4 => TensorKind::State,
                _ => TensorKind::Intermediate,
            },
            dtype: t.dtype,
            extent: t.extent,
            bytes: t.bytes,
            source: match t.source {
                1 => Source::Inline(t.source_offset),
                2 => Source::External {
                    file: borrowed(t.file, t.file_size),
                    offset: t.source_offset,
                },
                3 => Source::Seeded(t.source_offset),
                _ => Source::None,
            },
        })
    }

    pub fn tensors(&self) -> impl Iterator<Item = Tensor> + '_ {
        (0..self.tensor_count()).filter_map(|i| self.tensor(i))
    }

    fn counts(&self) -> sys::sluice_graph_counts_t {
        let mut counts = sys::sluice_graph_counts_t {
            struct_size: size_of::<sys::sluice_graph_counts_t>() as u32,
            ..Default::default()
        };
        // SAFETY: as above.
        unsafe { sys::sluice_graph_count(self.raw, &mut counts) };
        counts
    }
}

fn borrowed(text: *const std::os::raw::c_char, size: u32) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the library lends `size` bytes for as long as the graph lives.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: made by sluice_graph_create, destroyed once.
        unsafe { sys::sluice_graph_destroy(self.raw) }
    }
}

/// A description of an accelerator that has been checked.
pub struct Hardware<'c> {
    pub(crate) raw: *mut sys::sluice_hardware_t,
    context: PhantomData<&'c Context>,
}

impl Drop for Hardware<'_> {
    fn drop(&mut self) {
        // SAFETY: made by sluice_hardware_create, destroyed once.
        unsafe { sys::sluice_hardware_destroy(self.raw) }
    }
}

pub(crate) fn nanoseconds(deadline: Option<Duration>) -> u64 {
    // The library takes 0 as no deadline, so a deadline of zero becomes 1 ns.
    deadline.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX).max(1))
}
