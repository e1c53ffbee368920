// SPDX-License-Identifier: Apache-2.0
//! The safe interface. SLUICE_TEST_HARDWARE is a hardware.slh; SLUICE_TEST_GRAPH and
//! SLUICE_TEST_PLAN are a real model and the plan the C interface makes of it.
use sluice::{sys, CancelToken, Context, Dtype, Error, GraphBuilder, ScheduleOptions, Source, TensorKind};
use std::time::Duration;

fn file(variable: &str) -> Vec<u8> {
    let path = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn two_layers() -> Vec<u8> {
    let mut g = GraphBuilder::new("two layers");
    let attributes = [0; sys::SLUICE_BINARY_ATTRIBUTES as usize];
    let a = g.input("a", &[1, 32, 32, 16], Dtype::Int8);
    let b = g.seeded("b", &[1, 32, 32, 16], Dtype::Int8, 7);
    let m = g.intermediate("m", &[1, 32, 32, 16], Dtype::Int8);
    let y = g.output("y", &[1, 32, 32, 16], Dtype::Int8);
    g.layer("larger", sys::SLUICE_OP_MAXIMUM, &[Some(a), Some(b)], &[m], &attributes);
    g.layer("smaller", sys::SLUICE_OP_MINIMUM, &[Some(m), Some(a)], &[y], &attributes);
    g.finish()
}

#[test]
fn a_graph_built_here_is_scheduled_and_verified() {
    let context = Context::new().unwrap();
    let graph = context.graph(&two_layers()).unwrap();
    let hardware = context.hardware(&file("SLUICE_TEST_HARDWARE")).unwrap();
    assert_eq!(graph.layer_count(), 2);
    let kinds: Vec<_> = graph.tensors().map(|t| t.kind).collect();
    assert_eq!(kinds, [TensorKind::Input, TensorKind::Constant, TensorKind::Intermediate, TensorKind::Output]);
    assert_eq!(graph.tensor(1).unwrap().source, Source::Seeded(7));
    assert_eq!(graph.tensor(0).unwrap().name, "a");
    assert!(graph.tensor(4).is_none());
    let plan = context.schedule(&graph, &hardware, &ScheduleOptions::default()).unwrap();
    context.verify(&plan, &graph, &hardware).unwrap();
    let report = plan.report();
    assert!(report.latency_cycles >= report.bound_latency_cycles);
    let certificate = plan.certificate();
    assert!(!certificate.layers.is_empty());
    assert_eq!(certificate.all.cycles, certificate.layers.iter().map(|l| l.cycles).sum::<u64>());
    assert!(certificate.port_cycles <= report.bound_latency_cycles);
    assert_eq!(plan.instructions().count(), report.instructions as usize);
    assert!(plan.place(0).is_some());
    let again = context.plan(plan.bytes()).unwrap();
    context.verify(&again, &graph, &hardware).unwrap();
    assert_eq!(again.bytes(), plan.bytes());
}

#[test]
fn a_real_model_gives_the_bytes_that_c_gives() {
    let (graph, plan) = (file("SLUICE_TEST_GRAPH"), file("SLUICE_TEST_PLAN"));
    let context = Context::in_block(64 << 20).unwrap();
    let graph = context.graph(&graph).unwrap();
    let hardware = context.hardware(&file("SLUICE_TEST_HARDWARE")).unwrap();
    let ours = context.schedule(&graph, &hardware, &ScheduleOptions::default()).unwrap();
    assert!(ours.bytes() == plan, "the plans differ");
}

#[test]
fn errors_say_what_and_how_much() {
    let context = Context::new().unwrap();
    assert!(matches!(context.graph(b"junk"), Err(Error::BadInput(_))));
    assert!(matches!(context.graph(&[]), Err(Error::BadInput(_) | Error::BadArgument(_))));
    let graph = context.graph(&two_layers()).unwrap();
    let hardware = context.hardware(&file("SLUICE_TEST_HARDWARE")).unwrap();
    let tiny = ScheduleOptions { scratchpad_bytes: Some(8), ..Default::default() };
    let Err(Error::Infeasible(d)) = context.schedule(&graph, &hardware, &tiny) else {
        panic!("eight bytes were enough")
    };
    let smallest = d.smallest_scratchpad_bytes.expect("no number in it");
    let enough = ScheduleOptions { scratchpad_bytes: Some(smallest), ..Default::default() };
    context.schedule(&graph, &hardware, &enough).expect("the number is wrong");
    let small = Context::with_limit(1 << 10).unwrap();
    assert!(matches!(small.graph(&two_layers()), Err(Error::OutOfMemory(_))));
}

#[test]
fn deadlines_and_cancel_tokens_stop_a_call() {
    let context = Context::new().unwrap();
    let graph = context.graph(&file("SLUICE_TEST_GRAPH")).unwrap();
    let hardware = context.hardware(&file("SLUICE_TEST_HARDWARE")).unwrap();
    let now = ScheduleOptions { deadline: Some(Duration::ZERO), ..Default::default() };
    assert!(matches!(context.schedule(&graph, &hardware, &now), Err(Error::Stopped(_))));
    let token = CancelToken::new();
    let other = token.clone();
    std::thread::spawn(move || other.cancel()).join().unwrap();
    let cancelled = ScheduleOptions { cancel: Some(token), ..Default::default() };
    assert!(matches!(context.schedule(&graph, &hardware, &cancelled), Err(Error::Stopped(_))));
}

#[test]
fn deadlines_are_counted_by_the_clock_of_the_context() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NOW: AtomicU64 = AtomicU64::new(0);
    let context = Context::with_clock(|| NOW.fetch_add(1_000_000, Ordering::Relaxed)).unwrap();
    let graph = context.graph(&file("SLUICE_TEST_GRAPH")).unwrap();
    let hardware = context.hardware(&file("SLUICE_TEST_HARDWARE")).unwrap();
    context.schedule(&graph, &hardware, &ScheduleOptions::default()).unwrap();
    assert_eq!(NOW.load(Ordering::Relaxed), 0);
    let soon =
        ScheduleOptions { deadline: Some(Duration::from_millis(3)), ..Default::default() };
    assert!(matches!(context.schedule(&graph, &hardware, &soon), Err(Error::Stopped(_))));
}

#[test]
fn a_smaller_share_is_rescheduled_from_the_plan_before() {
    let context = Context::new().unwrap();
    let graph = context.graph(&file("SLUICE_TEST_GRAPH")).unwrap();
    let hardware = context.hardware(&file("SLUICE_TEST_HARDWARE")).unwrap();
    let first = context.schedule(&graph, &hardware, &ScheduleOptions::default()).unwrap();
    let smaller = ScheduleOptions { scratchpad_bytes: Some(64 << 10), ..Default::default() };
    let (plan, change) = context.reschedule(&first, &graph, &hardware, &smaller, false).unwrap();
    context.verify(&plan, &graph, &hardware).unwrap();
    assert!(plan.report().peak_buffer_bytes <= 64 << 10);
    assert!(change.scratchpad && !change.graph && !change.hardware);
    assert_eq!(change.stream_bytes, plan.stream().len() as u64);
}

#[test]
fn a_context_moves_between_threads() {
    let context = Context::new().unwrap();
    let context = std::thread::spawn(move || {
        context.graph(&two_layers()).unwrap();
        context
    })
    .join()
    .unwrap();
    assert_eq!(context.graph(&two_layers()).unwrap().layer_count(), 2);
}

#[test]
fn broken_streams_end_the_iteration() {
    let context = Context::new().unwrap();
    let plan = file("SLUICE_TEST_PLAN");
    let mut read = 0;
    for i in 0..400usize {
        let mut bytes = plan.clone();
        let at = i.wrapping_mul(2654435761) % bytes.len();
        bytes[at] ^= 1 << (i % 8);
        if let Ok(broken) = context.plan(&bytes) {
            read += 1;
            assert!(broken.instructions().take(1 << 20).count() <= 1 << 20);
        }
    }
    assert!(read > 100);
}
