// SPDX-License-Identifier: Apache-2.0
//! Schedules a graph and holds the plan.
use crate::context::{nanoseconds, Context, Graph, Hardware};
use crate::error::{call, Result};
use crate::stream::Instructions;
use crate::sys;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Stops a running call from any thread.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicU32>);

impl CancelToken {
    pub fn new() -> CancelToken {
        CancelToken::default()
    }
    pub fn cancel(&self) {
        self.0.store(1, Ordering::Relaxed);
    }
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Solver {
    #[default]
    Default,
    /// Every layer by itself: the first plan, in milliseconds.
    Baseline,
    /// Layers fused where that is cheaper.
    Fusion,
    /// As published: order and DRAM cuts, double buffering.
    Cocco,
    /// As published: fusion, then DRAM order and durations.
    Soma,
}

/// What a plan cuts layers into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Granularity {
    #[default]
    Tile,
    /// Whole tensors, spilled and retrieved.
    Operator,
    /// The same, and a layer may run again instead.
    Recompute,
}

#[derive(Debug, Clone, Default)]
pub struct ScheduleOptions {
    pub solver: Solver,
    /// Scratchpad budget; None: the hardware's capacity.
    pub scratchpad_bytes: Option<u64>,
    /// Time limit, measured from the call.
    pub deadline: Option<Duration>,
    /// Iterations of improvement; the same bound gives the same plan bytes on every
    /// machine.
    pub max_iterations: Option<u64>,
    pub seed: u64,
    pub cancel: Option<CancelToken>,
    /// cost = energy^n * delay^m; both 0: 1, 1.
    pub energy_exponent: u32,
    pub delay_exponent: u32,
    pub granularity: Granularity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    Complete,
    Deadline,
    Iterations,
    Cancelled,
    /// The cost equals the lower bound.
    Proved,
}

/// The least that any plan takes of a layer: cycles, bytes off chip, picojoules on chip.
pub type LayerLeast = sys::sluice_layer_least_t;

/// What the bounds of a report are made of: see sluice_certificate_t of sluice.h.
#[derive(Debug, Clone, Copy)]
pub struct Certificate<'a> {
    /// By layer of the graph; empty for plans of earlier versions.
    pub layers: &'a [LayerLeast],
    /// Their sums.
    pub all: LayerLeast,
    pub host_cycles: u64,
    pub compute_cycles: u64,
    pub port_cycles: u64,
    pub room_cycles: u64,
    pub again_pj: f64,
    pub caller_cycles: u64,
    pub caller_pj: f64,
}

/// What a plan costs. Cycles of the hardware's clock, picojoules, bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    pub latency_cycles: u64,
    pub energy_pj: f64,
    pub dram_read_bytes: u64,
    pub dram_write_bytes: u64,
    pub spill_bytes: u64,
    pub peak_buffer_bytes: u64,
    /// Lower bound on the latency of any plan of this graph.
    pub bound_latency_cycles: u64,
    pub bound_energy_pj: f64,
    pub macs: u64,
    pub iterations: u64,
    pub layers: u32,
    pub groups: u32,
    pub tiles: u32,
    pub instructions: u32,
    /// Layers executed by HOST calls; their MACs and tensor bytes follow.
    pub host_layers: u32,
    pub host_macs: u64,
    pub host_bytes: u64,
    pub energy_host_pj: f64,
    pub stop_reason: StopReason,
}

/// Where a tensor lies in DRAM: element (n, h, w, c) at `offset` + the indices times the
/// strides, in bytes of the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// SLUICE_REGION_ of stream.h.
    pub region: u32,
    pub offset: u64,
    pub stride: [u32; 4],
}

/// A schedule that has passed verification, or one read from bytes.
pub struct Plan<'c> {
    raw: *mut sys::sluice_plan_t,
    context: PhantomData<&'c Context>,
}

/// What a rescheduled plan kept of the previous plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub graph: bool,
    pub hardware: bool,
    pub scratchpad: bool,
    /// Nothing of the previous plan could be used.
    pub from_scratch: bool,
    pub layers_kept: u32,
    pub layers_changed: u32,
    pub layers_inserted: u32,
    pub layers_removed: u32,
    pub blocks: u32,
    pub blocks_changed: u32,
    pub stream_bytes: u64,
    /// Bytes of the new stream that differ from the old stream.
    pub patch_bytes: u64,
}

impl ScheduleOptions {
    fn to_c(&self) -> sys::sluice_schedule_options_t {
        sys::sluice_schedule_options_t {
            struct_size: size_of::<sys::sluice_schedule_options_t>() as u32,
            solver: match self.solver {
                Solver::Default => sys::SLUICE_SOLVER_DEFAULT,
                Solver::Baseline => sys::SLUICE_SOLVER_BASELINE,
                Solver::Fusion => sys::SLUICE_SOLVER_FUSION,
                Solver::Cocco => sys::SLUICE_SOLVER_COCCO,
                Solver::Soma => sys::SLUICE_SOLVER_SOMA,
            },
            scratchpad_bytes: self.scratchpad_bytes.unwrap_or(0),
            deadline_ns: nanoseconds(self.deadline),
            max_iterations: self.max_iterations.unwrap_or(0),
            seed: self.seed,
            cancel: self.cancel.as_ref().map_or(ptr::null(), |c| c.0.as_ptr().cast_const()),
            energy_exponent: self.energy_exponent,
            delay_exponent: self.delay_exponent,
            granularity: match self.granularity {
                Granularity::Tile => sys::SLUICE_GRANULARITY_TILE,
                Granularity::Operator => sys::SLUICE_GRANULARITY_OPERATOR,
                Granularity::Recompute => sys::SLUICE_GRANULARITY_RECOMPUTE,
            },
            ..Default::default()
        }
    }
}

impl Context {
    /// Schedules the graph. The returned plan has passed verification.
    pub fn schedule(&self, graph: &Graph<'_>, hardware: &Hardware<'_>, options: &ScheduleOptions) -> Result<Plan<'_>> {
        let c = options.to_c();
        let mut raw = ptr::null_mut();
        // SAFETY: all of it lives during the call; the word is only read, atomically.
        call(|d| unsafe { sys::sluice_schedule(self.raw, graph.raw, hardware.raw, &c, &mut raw, d) })?;
        Ok(Plan { raw, context: PhantomData })
    }

    /// Makes a plan for a changed graph, hardware or scratchpad from `previous`, in a
    /// fraction of the time. With `minimise_changes` addresses, orders and blocks stay
    /// wherever they hold, so that a device can patch its stream.
    pub fn reschedule(
        &self,
        previous: &Plan<'_>,
        graph: &Graph<'_>,
        hardware: &Hardware<'_>,
        options: &ScheduleOptions,
        minimise_changes: bool,
    ) -> Result<(Plan<'_>, Change)> {
        let schedule = options.to_c();
        let mut change = sys::sluice_change_t {
            struct_size: size_of::<sys::sluice_change_t>() as u32,
            ..Default::default()
        };
        let c = sys::sluice_reschedule_options_t {
            struct_size: size_of::<sys::sluice_reschedule_options_t>() as u32,
            minimise_changes: minimise_changes.into(),
            previous: previous.raw,
            schedule: &schedule,
            change: &mut change,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: as for schedule; `previous`, `schedule` and `change` outlive the call, which
        // changes only `change`.
        call(|d| unsafe {
            sys::sluice_reschedule(self.raw, graph.raw, hardware.raw, &c, &mut raw, d)
        })?;
        let plan = Plan { raw, context: PhantomData };
        Ok((
            plan,
            Change {
                graph: change.changed & sys::SLUICE_CHANGED_GRAPH != 0,
                hardware: change.changed & sys::SLUICE_CHANGED_HARDWARE != 0,
                scratchpad: change.changed & sys::SLUICE_CHANGED_SCRATCHPAD != 0,
                from_scratch: change.from_scratch != 0,
                layers_kept: change.layers_kept,
                layers_changed: change.layers_changed,
                layers_inserted: change.layers_inserted,
                layers_removed: change.layers_removed,
                blocks: change.blocks,
                blocks_changed: change.blocks_changed,
                stream_bytes: change.stream_bytes,
                patch_bytes: change.patch_bytes,
            },
        ))
    }

    /// Reads plan.fbs bytes (structure only: verify the plan against graph and hardware).
    pub fn plan(&self, bytes: &[u8]) -> Result<Plan<'_>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the buffer lives during the call and is checked by the library.
        call(|d| unsafe {
            sys::sluice_plan_create(self.raw, bytes.as_ptr().cast(), bytes.len(), &mut raw, d)
        })?;
        Ok(Plan { raw, context: PhantomData })
    }

    /// Checks a plan with the static judge, which shares only structs and basic helpers with the
    /// solver.
    pub fn verify(&self, plan: &Plan<'_>, graph: &Graph<'_>, hardware: &Hardware<'_>) -> Result<()> {
        // SAFETY: all objects live.
        call(|d| unsafe { sys::sluice_verify(self.raw, graph.raw, hardware.raw, plan.raw, d) })
    }
}

type Part = unsafe extern "C" fn(
    *const sys::sluice_plan_t,
    *mut *const std::os::raw::c_void,
    *mut usize,
) -> sys::sluice_status_t;

impl Plan<'_> {
    /// The plan.fbs bytes: what to store, and to hand to another process.
    pub fn bytes(&self) -> &[u8] {
        self.part(sys::sluice_plan_bytes)
    }

    /// The instruction stream, an image of stream.h: what to hand to firmware.
    pub fn stream(&self) -> &[u8] {
        self.part(sys::sluice_plan_stream)
    }

    /// Every instruction, instance by instance, engine by engine.
    pub fn instructions(&self) -> Instructions<'_> {
        Instructions::new(self.stream())
    }

    pub fn report(&self) -> Report {
        let mut r = sys::sluice_report_t {
            struct_size: size_of::<sys::sluice_report_t>() as u32,
            ..Default::default()
        };
        // SAFETY: the plan lives; the struct is of this version.
        unsafe { sys::sluice_plan_report(self.raw, &mut r) };
        Report {
            latency_cycles: r.latency_cycles,
            energy_pj: r.energy_pj,
            dram_read_bytes: r.dram_read_bytes,
            dram_write_bytes: r.dram_write_bytes,
            spill_bytes: r.spill_bytes,
            peak_buffer_bytes: r.peak_buffer_bytes,
            bound_latency_cycles: r.bound_latency_cycles,
            bound_energy_pj: r.bound_energy_pj,
            macs: r.macs,
            iterations: r.iterations,
            layers: r.layers,
            groups: r.groups,
            tiles: r.tiles,
            instructions: r.instructions,
            host_layers: r.host_layers,
            host_macs: r.host_macs,
            host_bytes: r.host_bytes,
            energy_host_pj: r.energy_host_pj,
            stop_reason: match r.stop_reason {
                sys::SLUICE_STOP_DEADLINE => StopReason::Deadline,
                sys::SLUICE_STOP_ITERATIONS => StopReason::Iterations,
                sys::SLUICE_STOP_CANCELLED => StopReason::Cancelled,
                sys::SLUICE_STOP_PROVED => StopReason::Proved,
                _ => StopReason::Complete,
            },
        }
    }

    /// What the report's bounds are made of; `verify` counts it again.
    pub fn certificate(&self) -> Certificate<'_> {
        let mut c = sys::sluice_certificate_t {
            struct_size: size_of::<sys::sluice_certificate_t>() as u32,
            ..Default::default()
        };
        // SAFETY: as above; the plan lends `count` layers for as long as it lives.
        let layers = unsafe {
            sys::sluice_plan_certificate(self.raw, &mut c);
            if c.layers.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(c.layers, c.count as usize)
            }
        };
        Certificate {
            layers,
            all: c.all,
            host_cycles: c.host_cycles,
            compute_cycles: c.compute_cycles,
            port_cycles: c.port_cycles,
            room_cycles: c.room_cycles,
            again_pj: c.again_pj,
            caller_cycles: c.caller_cycles,
            caller_pj: c.caller_pj,
        }
    }

    /// None: no such tensor, or it never leaves the scratchpad.
    pub fn place(&self, tensor: u32) -> Option<Place> {
        let mut p = sys::sluice_tensor_place_t {
            struct_size: size_of::<sys::sluice_tensor_place_t>() as u32,
            ..Default::default()
        };
        // SAFETY: as above.
        let status = unsafe { sys::sluice_plan_tensor(self.raw, tensor, &mut p) };
        (status == sys::SLUICE_OK && p.region < sys::SLUICE_REGION_COUNT).then_some(Place {
            region: p.region,
            offset: p.offset,
            stride: p.stride,
        })
    }

    fn part(&self, get: Part) -> &[u8] {
        let (mut pointer, mut size) = (ptr::null(), 0);
        // SAFETY: the plan lends the bytes for as long as it lives.
        unsafe {
            if get(self.raw, &mut pointer, &mut size) != sys::SLUICE_OK || size == 0 {
                return &[];
            }
            std::slice::from_raw_parts(pointer.cast(), size)
        }
    }
}

impl Drop for Plan<'_> {
    fn drop(&mut self) {
        // SAFETY: made by the library, destroyed once.
        unsafe { sys::sluice_plan_destroy(self.raw) }
    }
}
