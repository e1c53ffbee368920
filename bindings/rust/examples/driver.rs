// SPDX-License-Identifier: Apache-2.0
//! What a driver does: schedules a model with a deadline in its own memory, places its
//! regions, relocates the stream and runs it; then reschedules for a smaller scratchpad
//! share.
//!
//!   cargo run --features device --example driver -- HARDWARE.slh GRAPH.slg
use sluice::device::{relocate, Device, Submission, REGIONS};
use sluice::{Context, Graph, Hardware, ScheduleOptions, Source, TensorKind};
use std::time::Duration;

type Failure = Box<dyn std::error::Error>;

struct Model<'a> {
    bytes: &'a [u8],
    graph: Graph<'a>,
    hardware: Hardware<'a>,
}

/// Plans within `share` bytes of every scratchpad and runs; returns cycles and a hash
/// of the outputs.
fn run(context: &Context, model: &Model, device: &mut Device, share: u64) -> Result<(u64, u64), Failure> {
    let options = ScheduleOptions {
        scratchpad_bytes: Some(share),
        deadline: Some(Duration::from_millis(500)),
        ..Default::default()
    };
    let plan = context.schedule(&model.graph, &model.hardware, &options)?;
    // Places the regions one behind the other; their sizes are in the stream's header.
    let (mut stream, mut windows, mut next) = (plan.stream().to_vec(), [[0; 2]; REGIONS], 0);
    for (region, window) in windows.iter_mut().enumerate() {
        let at = 88 + 8 * region; // region_bytes of stream.h
        let size = u64::from_le_bytes(plan.stream()[at..at + 8].try_into()?);
        *window = if region == 0 { [0, share] } else { [next, next + size] };
        if region != 0 {
            next = (next + size).next_multiple_of(64);
        }
    }
    assert!(relocate(&mut stream, &windows.map(|w| w[0])));
    let (mut outputs, mut inputs) = (Vec::new(), 0);
    for (index, tensor) in model.graph.tensors().enumerate() {
        let Some(place) = plan.place(index as u32) else { continue };
        let at = windows[place.region as usize][0] + place.offset;
        match (tensor.kind, &tensor.source) {
            (TensorKind::Constant, Source::Inline(from)) => {
                let from = *from as usize;
                assert!(device.write(at, &model.bytes[from..from + tensor.bytes as usize]));
            }
            (TensorKind::Input, _) => {
                let bytes: Vec<u8> = seeded(256 + inputs, tensor.bytes);
                assert!(device.write(at, &bytes));
                inputs += 1;
            }
            (TensorKind::Output, _) => outputs.push((at, tensor.bytes as usize)),
            _ => {}
        }
    }
    let submission = Submission { stream: &stream, graph: model.bytes, windows, parameters: &[] };
    let cycles = device.submit(&submission)?;
    let mut hash = 0xcbf29ce484222325u64;
    for (at, size) in outputs {
        let mut bytes = vec![0; size];
        assert!(device.read(at, &mut bytes));
        hash = bytes.iter().fold(hash, |h, b| (h ^ *b as u64).wrapping_mul(0x100000001b3));
    }
    Ok((cycles, hash))
}

/// Input bytes by the rule of ops.h: SplitMix64.
fn seeded(seed: u64, size: u64) -> Vec<u8> {
    let number = |i: u64| {
        let mut z = seed.wrapping_add((i / 8 + 1).wrapping_mul(0x9e3779b97f4a7c15));
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        ((z ^ z >> 31) >> (8 * (i % 8))) as u8
    };
    (0..size).map(number).collect()
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, hardware, graph] = &arguments[..] else { return Err("HARDWARE GRAPH".into()) };
    let (hardware, graph) = (std::fs::read(hardware)?, std::fs::read(graph)?);
    let context = Context::in_block(32 << 20)?;
    let model = Model {
        bytes: &graph,
        graph: context.graph(&graph)?,
        hardware: context.hardware(&hardware)?,
    };
    let mut device = Device::open(&hardware, 64 << 20).ok_or("no device")?;
    for share in [1 << 20, 256 << 10, 64 << 10] {
        let (cycles, hash) = run(&context, &model, &mut device, share)?;
        println!("{share} bytes of scratchpad: {cycles} cycles, outputs {hash:016x}");
    }
    println!("at most {} bytes of the block", context.memory().peak_bytes);
    Ok(())
}
