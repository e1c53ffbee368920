// SPDX-License-Identifier: Apache-2.0
//! Takes a plan from a cache folder, or makes one and stores it there. Verifies it
//! either way.
//!
//!   cargo run --features cache --example cached -- HARDWARE.slh GRAPH.slg FOLDER
use sluice::cache::{Cache, Key};
use sluice::{Context, Plan, ScheduleOptions};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, hardware, graph, folder] = &arguments[..] else { return Err("HARDWARE GRAPH FOLDER".into()) };
    let context = Context::new()?;
    let hardware = context.hardware(&std::fs::read(hardware)?)?;
    let graph = context.graph(&std::fs::read(graph)?)?;
    let cache = Cache::new(folder.as_ref()).ok_or("the folder's name")?;
    let share = 4u64 << 20;
    let key = Key::new(&graph, &hardware, &share.to_le_bytes());
    let good = |plan: &Plan<'_>| context.verify(plan, &graph, &hardware).is_ok();
    let kept = cache.get(&key).and_then(|bytes| context.plan(&bytes).ok()).filter(good);
    let word = if kept.is_some() { "found" } else { "made" };
    let plan = match kept {
        Some(plan) => plan,
        None => {
            let options = ScheduleOptions { scratchpad_bytes: Some(share), ..Default::default() };
            let plan = context.schedule(&graph, &hardware, &options)?;
            if !cache.put(&key, &plan) {
                return Err("the plan cannot be kept in the folder".into());
            }
            plan
        }
    };
    println!("{word}: {} cycles", plan.report().latency_cycles);
    Ok(())
}
