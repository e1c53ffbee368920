// SPDX-License-Identifier: Apache-2.0

package models_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"sluice"
	"sluice/models"
)

// SLUICE_TEST_MODEL is a TensorFlow Lite file.
func model(t *testing.T) []byte {
	t.Helper()
	content, err := os.ReadFile(os.Getenv("SLUICE_TEST_MODEL"))
	if err != nil {
		t.Fatalf("SLUICE_TEST_MODEL: %v", err)
	}
	return content
}

func open(t *testing.T) *sluice.Context {
	t.Helper()
	c, err := sluice.New(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestModelBecomesAGraph(t *testing.T) {
	m, err := models.Import(model(t), models.Options{Name: "ours"})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Exact || len(m.Opaque) != 0 || m.Layers == 0 {
		t.Fatalf("%+v", m)
	}
	if _, err := open(t).Graph(m.Graph); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNoModelIsRefused(t *testing.T) {
	whole := model(t)
	for _, c := range []struct {
		model   []byte
		options models.Options
		want    error
	}{
		{whole[:len(whole)/2], models.Options{}, sluice.ErrBadInput},
		{whole, models.Options{MaxConstantBytes: 1}, sluice.ErrOutOfMemory},
		{whole, models.Options{Dims: map[string]int64{"batch": 1}}, sluice.ErrBadArgument},
	} {
		if _, err := models.Import(c.model, c.options); !errors.Is(err, c.want) {
			t.Errorf("%v instead of %v", err, c.want)
		}
	}
}

func TestPresetsAndNetworks(t *testing.T) {
	c := open(t)
	for _, name := range models.Presets() {
		bytes, err := models.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Hardware(bytes); err != nil {
			t.Fatal(err)
		}
	}
	if len(models.Presets()) < 10 || len(models.Networks()) < 20 {
		t.Fatal(models.Presets(), models.Networks())
	}
	graph, err := models.Network("mlp_l", models.ZooOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Graph(graph); err != nil {
		t.Fatal(err)
	}
	whole, _ := models.Network("resnet50", models.ZooOptions{})
	lean, err := models.Network("resnet50", models.ZooOptions{SkipUnread: true})
	if err != nil || bytes.Equal(lean, whole) {
		t.Error("the same network without what no layer reads", err)
	}
	if _, err := models.Preset("nonesuch"); !errors.Is(err, sluice.ErrBadArgument) {
		t.Error(err)
	}
	if _, err := models.Network("nonesuch", models.ZooOptions{}); !errors.Is(err, sluice.ErrBadArgument) {
		t.Error(err)
	}
	if _, err := models.HardwareFromJSON([]byte("{")); !errors.Is(err, sluice.ErrBadInput) {
		t.Error(err)
	}
}

// ONNX, floats: present_h = x + past_h, y = Relu(present_h), all of 1 x 4.
var recurrent = []byte{
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
}

func TestStatesAndRangesAreGivenByName(t *testing.T) {
	plain, err := models.Import(recurrent, models.Options{})
	if errors.Is(err, sluice.ErrUnsupported) {
		t.Skip("this build reads no ONNX models")
	}
	if err != nil || plain.Exact {
		t.Fatalf("%+v %v", plain, err)
	}
	ranges := map[string][2]float32{"x": {-1, 1}, "past_h": {-2, 2}, "present_h": {-2, 2}, "y": {0, 2}}
	named, err := models.Import(recurrent, models.Options{Ranges: ranges,
		States: map[string]string{"past_h": "present_h"}})
	if err != nil || !named.Exact || named.Layers != plain.Layers+1 {
		t.Fatalf("%+v %v", named, err)
	}
	found, err := models.Import(recurrent, models.Options{Ranges: ranges, FindStates: true})
	if err != nil || !bytes.Equal(found.Graph, named.Graph) {
		t.Fatalf("%+v %v", found, err)
	}
	few := models.Options{Ranges: map[string][2]float32{"x": {-1, 1}}}
	if _, err := models.Import(recurrent, few); !errors.Is(err, sluice.ErrBadInput) {
		t.Error(err)
	}
	wrong := models.Options{States: map[string]string{"nothing": "y"}}
	if _, err := models.Import(recurrent, wrong); !errors.Is(err, sluice.ErrBadArgument) {
		t.Error(err)
	}
}
