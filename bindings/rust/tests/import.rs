// SPDX-License-Identifier: Apache-2.0
//! Models, presets and networks. SLUICE_TEST_MODEL is a TensorFlow Lite file.
use sluice::{import, Context, Error};

#[test]
fn a_model_becomes_a_graph_that_is_read() {
    let path = std::env::var("SLUICE_TEST_MODEL").expect("SLUICE_TEST_MODEL is not set");
    let model = import::Options { name: "ours".into(), ..Default::default() }
        .model(&std::fs::read(path).unwrap())
        .unwrap();
    assert!(model.exact);
    assert!(model.opaque.is_empty());
    let context = Context::new().unwrap();
    let graph = context.graph(&model.graph).unwrap();
    assert_eq!(graph.layer_count(), model.layers);
}

#[test]
fn what_is_no_model_or_too_much_is_refused() {
    let path = std::env::var("SLUICE_TEST_MODEL").expect("SLUICE_TEST_MODEL is not set");
    let model = std::fs::read(path).unwrap();
    let cut = &model[..model.len() / 2];
    assert!(matches!(import::Options::default().model(cut), Err(Error::BadInput(_))));
    let tight = import::Options { max_constant_bytes: 1, ..Default::default() };
    assert!(matches!(tight.model(&model), Err(Error::OutOfMemory(_))));
    let dims = import::Options { dims: vec![("batch".into(), 1)], ..Default::default() };
    assert!(matches!(dims.model(&model), Err(Error::BadArgument(_))));
}

#[test]
fn presets_and_networks_have_names_and_are_read() {
    let context = Context::new().unwrap();
    assert!(import::presets().contains(&"mcu-256k"));
    for name in import::presets() {
        context.hardware(import::preset(name).unwrap()).unwrap();
    }
    assert!(import::networks().contains(&"resnet50"));
    let graph = import::network("mlp_l", &import::ZooOptions::default()).unwrap();
    context.graph(&graph).unwrap();
    let lean = import::ZooOptions { skip_unread: true, ..Default::default() };
    assert_ne!(import::network("resnet50", &lean).unwrap(), import::network("resnet50", &Default::default()).unwrap());
    assert!(matches!(import::preset("nonesuch"), Err(Error::BadArgument(_))));
    assert!(matches!(import::network("nonesuch", &Default::default()), Err(Error::BadArgument(_))));
    assert!(matches!(import::hardware_from_json("{"), Err(Error::BadInput(_))));
}

/// ONNX, floats: present_h = x + past_h, y = Relu(present_h), all of 1 x 4.
#[rustfmt::skip]
const RECURRENT: &[u8] = &[
    8, 8, 58, 151, 1, 10, 27, 10, 1, 120, 10, 6, 112, 97, 115, 116,
    95, 104, 18, 9, 112, 114, 101, 115, 101, 110, 116, 95, 104, 34, 3, 65,
    100, 100, 10, 20, 10, 9, 112, 114, 101, 115, 101, 110, 116, 95, 104, 18,
    1, 121, 34, 4, 82, 101, 108, 117, 18, 1, 103, 90, 19, 10, 1, 120,
    18, 14, 10, 12, 8, 1, 18, 8, 10, 2, 8, 1, 10, 2, 8, 4,
    90, 24, 10, 6, 112, 97, 115, 116, 95, 104, 18, 14, 10, 12, 8, 1,
    18, 8, 10, 2, 8, 1, 10, 2, 8, 4, 98, 19, 10, 1, 121, 18,
    14, 10, 12, 8, 1, 18, 8, 10, 2, 8, 1, 10, 2, 8, 4, 98,
    27, 10, 9, 112, 114, 101, 115, 101, 110, 116, 95, 104, 18, 14, 10, 12,
    8, 1, 18, 8, 10, 2, 8, 1, 10, 2, 8, 4, 66, 4, 10, 0,
    16, 13,
];

#[test]
fn states_and_ranges_are_given_by_name() {
    let plain = match import::Options::default().model(RECURRENT) {
        Err(Error::Unsupported(_)) => return, // this build reads no ONNX models
        made => made.unwrap(),
    };
    assert!(!plain.exact);
    let states = vec![("past_h".into(), "present_h".into())];
    let ranges: Vec<_> = [("x", -1.0, 1.0), ("past_h", -2.0, 2.0), ("present_h", -2.0, 2.0), ("y", 0.0, 2.0)]
        .into_iter()
        .map(|(name, min, max)| (name.to_string(), min, max))
        .collect();
    let named = import::Options { states, ranges: ranges.clone(), ..Default::default() }.model(RECURRENT).unwrap();
    let found = import::Options { find_states: true, ranges, ..Default::default() }.model(RECURRENT).unwrap();
    assert!(named.exact && named.shapes_only.is_empty());
    assert_eq!(named.graph, found.graph);
    assert_eq!(named.layers, plain.layers + 1); // one writes the state
    let few = import::Options { ranges: vec![("x".into(), -1.0, 1.0)], ..Default::default() };
    assert!(matches!(few.model(RECURRENT), Err(Error::BadInput(_))));
    let wrong = import::Options { states: vec![("nothing".into(), "y".into())], ..Default::default() };
    assert!(matches!(wrong.model(RECURRENT), Err(Error::BadArgument(_))));
}
