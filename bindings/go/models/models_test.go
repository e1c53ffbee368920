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
