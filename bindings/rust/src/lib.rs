// SPDX-License-Identifier: Apache-2.0
//! Schedules quantised neural networks on accelerators, at run time, in fixed memory.
//!
//! A graph and a description of the hardware go in, as flatbuffers; out comes a plan: an
//! instruction stream that has been verified, its cost, and how far it can be from optimal.
//!
//! ```
//! use sluice::{sys, Context, Dtype, GraphBuilder, ScheduleOptions};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let Ok(hardware_file) = std::env::var("SLUICE_TEST_HARDWARE") else { return Ok(()) };
//! let mut g = GraphBuilder::new("larger");
//! let a = g.input("a", &[1, 16, 16, 32], Dtype::Int8);
//! let b = g.input("b", &[1, 16, 16, 32], Dtype::Int8);
//! let y = g.output("y", &[1, 16, 16, 32], Dtype::Int8);
//! let attributes = [0; sys::SLUICE_BINARY_ATTRIBUTES as usize];
//! g.layer("larger", sys::SLUICE_OP_MAXIMUM, &[Some(a), Some(b)], &[y], &attributes);
//!
//! let context = Context::new()?;
//! let graph = context.graph(&g.finish())?;
//! let hardware = context.hardware(&std::fs::read(hardware_file)?)?;
//! let options = ScheduleOptions { deadline: Some(Duration::from_millis(50)), ..Default::default() };
//! let plan = context.schedule(&graph, &hardware, &options)?;
//! println!("{} cycles, {} instructions", plan.report().latency_cycles, plan.instructions().count());
//! # Ok(())
//! # }
//! ```
//!
//! Memory: everything a context and its objects hold comes from one counted allocator or
//! one block ([`Context::in_block`]). Time: a deadline, an iteration bound, a
//! [`CancelToken`] from any thread. Threads: one per context at a time, which the types
//! enforce.

#[cfg(feature = "cache")]
pub mod cache;
mod context;
#[cfg(feature = "device")]
pub mod device;
mod error;
mod graph_builder;
#[cfg(feature = "import")]
pub mod import;
mod schedule;
mod stream;
/// The raw C interface: `unsafe`, and without lifetimes.
pub mod sys;

pub use context::{Context, Graph, Hardware, MemoryStats, Source, Tensor, TensorKind};
pub use error::{Diagnostic, Error, Result};
pub use graph_builder::{Dtype, GraphBuilder, TensorId};
pub use schedule::{
    CancelToken, Certificate, Change, Granularity, LayerLeast, Place, Plan, Report, ScheduleOptions, Solver,
    StopReason,
};
pub use stream::{Instruction, Instructions, Operation};

/// "0.1.0"
pub fn version() -> &'static str {
    // SAFETY: static storage, NUL-terminated.
    unsafe { std::ffi::CStr::from_ptr(sys::sluice_version()) }.to_str().unwrap_or("")
}
