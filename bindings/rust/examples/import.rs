// SPDX-License-Identifier: Apache-2.0
//! Reads a TensorFlow Lite file, plans it and prints the report.
//!
//!   cargo run --features import --example import -- MODEL.tflite
use sluice::{import, Context, ScheduleOptions};

fn plan(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let model = import::Options::default().model(&std::fs::read(path)?)?;
    let context = Context::new()?;
    let graph = context.graph(&model.graph)?;
    let hardware = context.hardware(import::preset("mcu-256k")?)?;
    let plan = context.schedule(&graph, &hardware, &ScheduleOptions::default())?;
    let report = plan.report();
    println!(
        "{} cycles, {:.0} pJ, {} bytes from DRAM and {} to it",
        report.latency_cycles, report.energy_pj, report.dram_read_bytes, report.dram_write_bytes
    );
    Ok(())
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or("model.tflite".into());
    if let Err(error) = plan(&path) {
        println!("{error}");
        std::process::exit(1);
    }
}
