// SPDX-License-Identifier: Apache-2.0

// Reads a TensorFlow Lite file, plans it and prints the report.
//
//	go run ./examples/import MODEL.tflite
package main

import (
	"context"
	"fmt"
	"os"

	"sluice"
	"sluice/models"
)

func plan(path string) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	model, err := models.Import(file, models.Options{})
	if err != nil {
		return err
	}
	machine, err := models.Preset("mcu-256k")
	if err != nil {
		return err
	}
	c, err := sluice.New(0)
	if err != nil {
		return err
	}
	defer c.Close()
	graph, err := c.Graph(model.Graph)
	if err != nil {
		return err
	}
	hardware, err := c.Hardware(machine)
	if err != nil {
		return err
	}
	p, err := c.Schedule(context.Background(), graph, hardware, sluice.Options{})
	if err != nil {
		return err
	}
	r := p.Report()
	fmt.Printf("%d cycles, %.0f pJ, %d bytes from DRAM and %d to it\n", r.LatencyCycles,
		r.EnergyPJ, r.DRAMReadBytes, r.DRAMWriteBytes)
	return nil
}

func main() {
	if err := plan(os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
