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
