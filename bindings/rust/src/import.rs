// SPDX-License-Identifier: Apache-2.0
//! Model files, presets and known networks: bytes for
//! [`Context::graph`](crate::Context::graph) and [`Context::hardware`](crate::Context::hardware).
//! Feature `import`; links libsluice_import.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use sluice::{import, Context, ScheduleOptions};
//! # let Ok(path) = std::env::var("SLUICE_TEST_MODEL") else { return Ok(()) };
//! let model = import::Options::default().model(&std::fs::read(path)?)?;
//! let context = Context::new()?;
//! let graph = context.graph(&model.graph)?;
//! let hardware = context.hardware(import::preset("mcu-256k")?)?;
//! let plan = context.schedule(&graph, &hardware, &ScheduleOptions::default())?;
//! assert!(plan.report().latency_cycles > 0);
//! # Ok(())
//! # }
//! ```
use crate::error::{call, Result};
use crate::sys;
use std::ffi::{c_char, c_void, CStr, CString};
use std::mem::size_of;

/// The C interface of import.h, presets.h and zoo.h as far as this module calls it.
mod raw {
    use super::*;

    #[repr(C)]
    pub struct Bytes {
        pub data: *mut c_void,
        pub size: usize,
    }
    #[repr(C)]
    pub struct Dim {
        pub name: *const c_char,
        pub extent: i64,
    }
    #[repr(C)]
    pub struct State {
        pub input: *const c_char,
        pub output: *const c_char,
    }
    #[repr(C)]
    pub struct Range {
        pub name: *const c_char,
        pub min: f32,
        pub max: f32,
    }
    #[repr(C)]
    pub struct ImportOptions {
        pub struct_size: u32,
        pub format: u32,
        pub allocator: *const c_void,
        pub name: *const c_char,
        pub allow_opaque: u32,
        pub training: u32,
        pub opaque_cycles: u64,
        pub dims: *const Dim,
        pub dim_count: u32,
        pub keep_unread: u32,
        pub external: *const c_void,
        pub max_constant_bytes: u64,
        pub states: *const State,
        pub state_count: u32,
        pub find_states: u32,
        pub ranges: *const Range,
        pub range_count: u32,
        pub reserved: u32,
    }
    #[repr(C)]
    #[derive(Default)]
    pub struct Summary {
        pub struct_size: u32,
        pub format: u32,
        pub numbers: u32,
        pub operators: u32,
        pub layers: u32,
        pub tensors: u32,
        pub inputs: u32,
        pub outputs: u32,
        pub constant_bytes: u64,
        pub graph_bytes: u64,
        pub lists: [u32; 8],
        pub interface_lines: u32,
        pub reserved: u32,
    }
    #[repr(C)]
    pub struct Entry {
        pub struct_size: u32,
        pub count: u32,
        pub name: *const c_char,
        pub reason: *const c_char,
    }
    #[repr(C)]
    pub struct ZooOptions {
        pub struct_size: u32,
        pub batch: i32,
        pub seq: i32,
        pub context: i32,
        pub blocks: i32,
        pub training: u32,
        pub allocator: *const c_void,
        pub skip_unread: u32,
        pub reserved: u32,
    }

    extern "C" {
        pub fn sluice_bytes_release(allocator: *const c_void, bytes: *mut Bytes);
        pub fn sluice_import_model(
            model: *const c_void,
            size: usize,
            options: *const ImportOptions,
            out_graph: *mut Bytes,
            out_report: *mut *mut c_void,
            diagnostic: *mut sys::sluice_diagnostic_t,
        ) -> sys::sluice_status_t;
        pub fn sluice_import_report_destroy(report: *mut c_void);
        pub fn sluice_import_report_summary(report: *const c_void, out: *mut Summary) -> sys::sluice_status_t;
        pub fn sluice_import_report_entry(
            report: *const c_void,
            list: u32,
            index: u32,
            out: *mut Entry,
        ) -> sys::sluice_status_t;
        pub fn sluice_preset_count() -> u32;
        pub fn sluice_preset_name(index: u32) -> *const c_char;
        pub fn sluice_preset_find(
            name: *const c_char,
            out_bytes: *mut *const c_void,
            out_size: *mut usize,
            diagnostic: *mut sys::sluice_diagnostic_t,
        ) -> sys::sluice_status_t;
        pub fn sluice_hardware_from_json(
            text: *const c_char,
            size: usize,
            allocator: *const c_void,
            out: *mut Bytes,
            diagnostic: *mut sys::sluice_diagnostic_t,
        ) -> sys::sluice_status_t;
        pub fn sluice_zoo_count() -> u32;
        pub fn sluice_zoo_name(index: u32) -> *const c_char;
        pub fn sluice_zoo_graph(
            name: *const c_char,
            options: *const ZooOptions,
            out: *mut Bytes,
            diagnostic: *mut sys::sluice_diagnostic_t,
        ) -> sys::sluice_status_t;
    }
}

/// Equal operators of the model that were imported in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operators {
    /// "CONV_2D", "CUSTOM:Foo", "Conv"
    pub name: String,
    /// One phrase; empty: the importer does not know the operator.
    pub reason: String,
    pub count: u32,
}

/// A graph and what the import did.
#[derive(Debug, Clone)]
pub struct Imported {
    /// graph.fbs bytes.
    pub graph: Vec<u8>,
    /// False: floating-point operators became int8 layers of the same shapes; plans and
    /// costs are the model's, computed values are not.
    pub exact: bool,
    pub layers: u32,
    pub tensors: u32,
    pub constant_bytes: u64,
    /// Left to the host.
    pub opaque: Vec<Operators>,
    /// Became layers of the same shapes only.
    pub shapes_only: Vec<Operators>,
    /// Where a result lies beside a tie, the model's runtime may round it the other way.
    pub rounded: Vec<Operators>,
    /// Left no layer: computed at import, or dropped.
    pub folded: Vec<Operators>,
    /// Layers that do not compute rows and columns which no layer reads.
    pub skipped: Vec<Operators>,
}

/// How a model is imported.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Of the graph.
    pub name: String,
    /// Operators that cannot be expressed run on the host.
    pub allow_opaque: bool,
    /// The graph of one training step.
    pub training: bool,
    /// Extents of an ONNX model's dynamic dimensions, by name or as INPUT:AXIS.
    pub dims: Vec<(String, i64)>,
    /// Most bytes of constants that the graph may hold; 0: by the size of the model.
    pub max_constant_bytes: u64,
    /// Layers compute also rows and columns that no layer reads.
    pub keep_unread: bool,
    /// (input, output): the input holds in each run what the output was in the run before.
    pub states: Vec<(String, String)>,
    /// Also pairs whose names tell it: past.../present..., ..._in/..._out, and so on.
    pub find_states: bool,
    /// (tensor, least, most): quantises a model of floats to int8 with its own weights.
    pub ranges: Vec<(String, f32, f32)>,
}

impl Options {
    /// A TensorFlow Lite or ONNX file's bytes as a graph.
    pub fn model(&self, model: &[u8]) -> Result<Imported> {
        let name = c_text(&self.name);
        let names: Vec<CString> = self.dims.iter().map(|(name, _)| c_text(name)).collect();
        let dims: Vec<raw::Dim> = names
            .iter()
            .zip(&self.dims)
            .map(|(name, (_, extent))| raw::Dim { name: name.as_ptr(), extent: *extent })
            .collect();
        let ends: Vec<(CString, CString)> =
            self.states.iter().map(|(input, output)| (c_text(input), c_text(output))).collect();
        let states: Vec<raw::State> = ends
            .iter()
            .map(|(input, output)| raw::State { input: input.as_ptr(), output: output.as_ptr() })
            .collect();
        let ranged: Vec<CString> = self.ranges.iter().map(|(name, _, _)| c_text(name)).collect();
        let ranges: Vec<raw::Range> = ranged
            .iter()
            .zip(&self.ranges)
            .map(|(name, (_, min, max))| raw::Range { name: name.as_ptr(), min: *min, max: *max })
            .collect();
        let options = raw::ImportOptions {
            struct_size: size_of::<raw::ImportOptions>() as u32,
            format: 0,
            allocator: std::ptr::null(),
            name: name.as_ptr(),
            allow_opaque: self.allow_opaque as u32,
            training: self.training as u32,
            opaque_cycles: 0,
            dims: dims.as_ptr(),
            dim_count: dims.len() as u32,
            keep_unread: self.keep_unread as u32,
            external: std::ptr::null(),
            max_constant_bytes: self.max_constant_bytes,
            states: states.as_ptr(),
            state_count: states.len() as u32,
            find_states: self.find_states as u32,
            ranges: ranges.as_ptr(),
            range_count: ranges.len() as u32,
            reserved: 0,
        };
        let mut report = Report(std::ptr::null_mut());
        let graph = taken(|out, diagnostic| {
            // SAFETY: everything that is pointed to lives through the call.
            unsafe {
                raw::sluice_import_model(
                    model.as_ptr().cast(),
                    model.len(),
                    &options,
                    out,
                    &mut report.0,
                    diagnostic,
                )
            }
        })?;
        let summary = report.summary();
        Ok(Imported {
            graph,
            exact: summary.numbers != 1,
            layers: summary.layers,
            tensors: summary.tensors,
            constant_bytes: summary.constant_bytes,
            opaque: report.list(1, &summary),
            shapes_only: report.list(2, &summary),
            rounded: report.list(5, &summary),
            folded: report.list(3, &summary),
            skipped: report.list(6, &summary),
        })
    }
}

/// Sizes of a known network; zero: as it was published.
#[derive(Debug, Clone, Copy, Default)]
pub struct ZooOptions {
    pub batch: i32,
    pub seq: i32,
    pub context: i32,
    pub blocks: i32,
    pub training: bool,
    /// Rows and columns that no layer reads are left out, as imports do.
    pub skip_unread: bool,
}

/// Names of the known networks.
pub fn networks() -> Vec<&'static str> {
    // SAFETY: static storage, an index below the count.
    unsafe { (0..raw::sluice_zoo_count()).map(|i| static_text(raw::sluice_zoo_name(i))).collect() }
}

/// The graph of a known network, with seeded weights.
pub fn network(name: &str, options: &ZooOptions) -> Result<Vec<u8>> {
    let name = c_text(name);
    let options = raw::ZooOptions {
        struct_size: size_of::<raw::ZooOptions>() as u32,
        batch: options.batch,
        seq: options.seq,
        context: options.context,
        blocks: options.blocks,
        training: options.training as u32,
        allocator: std::ptr::null(),
        skip_unread: options.skip_unread as u32,
        reserved: 0,
    };
    // SAFETY: name and options live through the call.
    taken(|out, diagnostic| unsafe { raw::sluice_zoo_graph(name.as_ptr(), &options, out, diagnostic) })
}

/// Names of the presets.
pub fn presets() -> Vec<&'static str> {
    // SAFETY: static storage, an index below the count.
    unsafe { (0..raw::sluice_preset_count()).map(|i| static_text(raw::sluice_preset_name(i))).collect() }
}

/// A preset's descriptor (hardware.fbs).
pub fn preset(name: &str) -> Result<&'static [u8]> {
    let name = c_text(name);
    let (mut bytes, mut size) = (std::ptr::null(), 0);
    // SAFETY: the outputs live through the call.
    call(|diagnostic| unsafe { raw::sluice_preset_find(name.as_ptr(), &mut bytes, &mut size, diagnostic) })?;
    // SAFETY: static storage of that size.
    Ok(unsafe { std::slice::from_raw_parts(bytes.cast(), size) })
}

/// A descriptor in JSON, with the field names of hardware.fbs.
pub fn hardware_from_json(text: &str) -> Result<Vec<u8>> {
    // SAFETY: the text lives through the call.
    taken(|out, diagnostic| unsafe {
        raw::sluice_hardware_from_json(text.as_ptr().cast(), text.len(), std::ptr::null(), out, diagnostic)
    })
}

struct Report(*mut c_void);

impl Drop for Report {
    fn drop(&mut self) {
        // SAFETY: made by the import, or null.
        unsafe { raw::sluice_import_report_destroy(self.0) }
    }
}

impl Report {
    fn summary(&self) -> raw::Summary {
        let mut summary = raw::Summary { struct_size: size_of::<raw::Summary>() as u32, ..Default::default() };
        // SAFETY: a report that the import has made; the struct says its size.
        unsafe { raw::sluice_import_report_summary(self.0, &mut summary) };
        summary
    }

    fn list(&self, list: u32, summary: &raw::Summary) -> Vec<Operators> {
        (0..summary.lists[list as usize])
            .map(|index| {
                let mut entry = raw::Entry {
                    struct_size: size_of::<raw::Entry>() as u32,
                    count: 0,
                    name: c"".as_ptr(),
                    reason: c"".as_ptr(),
                };
                // SAFETY: the texts live as long as the report.
                unsafe {
                    raw::sluice_import_report_entry(self.0, list, index, &mut entry);
                    Operators { name: text(entry.name), reason: text(entry.reason), count: entry.count }
                }
            })
            .collect()
    }
}

/// Copies the library's bytes and frees its own.
fn taken(
    f: impl FnOnce(*mut raw::Bytes, *mut sys::sluice_diagnostic_t) -> sys::sluice_status_t,
) -> Result<Vec<u8>> {
    let mut bytes = raw::Bytes { data: std::ptr::null_mut(), size: 0 };
    call(|diagnostic| f(&mut bytes, diagnostic))?;
    // SAFETY: `size` bytes at `data`, which are released once.
    unsafe {
        let copy = std::slice::from_raw_parts(bytes.data.cast::<u8>(), bytes.size).to_vec();
        raw::sluice_bytes_release(std::ptr::null(), &mut bytes);
        Ok(copy)
    }
}

/// Up to the first NUL.
fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or("")).unwrap_or_default()
}

/// # Safety
/// NUL-terminated.
unsafe fn text(from: *const c_char) -> String {
    CStr::from_ptr(from).to_string_lossy().into_owned()
}

/// # Safety
/// NUL-terminated, of static storage.
unsafe fn static_text(from: *const c_char) -> &'static str {
    CStr::from_ptr(from).to_str().unwrap_or("")
}
