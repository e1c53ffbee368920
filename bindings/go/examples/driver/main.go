// SPDX-License-Identifier: Apache-2.0

// What a driver does: schedules a model with a deadline in its own memory, places its
// regions, relocates the stream and runs it; then reschedules for a smaller scratchpad
// share.
//
//	driver HARDWARE.slh GRAPH.slg
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"time"

	"sluice"
	"sluice/device"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Input bytes by the rule of ops.h: SplitMix64.
func seeded(state uint64, bytes []byte) {
	for i := range bytes {
		if i%8 == 0 {
			state += 0x9e3779b97f4a7c15
		}
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		bytes[i] = byte((z ^ z>>31) >> (8 * (i % 8)))
	}
}

func run(d *device.Device, plan *sluice.Plan, graph []byte, tensors []sluice.Tensor, share uint64) {
	stream, next := plan.Stream(), uint64(0)
	windows := device.Windows{{0, share}}
	for r := 1; r < device.Regions; r++ { // region_bytes of stream.h
		size := binary.LittleEndian.Uint64(stream[88+8*r:])
		windows[r] = [2]uint64{next, next + size}
		next = (next + size + 63) / 64 * 64
	}
	check(device.Relocate(stream, windows))
	address := func(p sluice.Place) uint64 { return windows[p.Region][0] + p.Offset }
	inputs := uint64(0)
	for i, t := range tensors {
		if p, there := plan.Place(i); there && t.Kind == sluice.Constant && t.Source == sluice.Inline {
			check(d.Write(address(p), graph[t.SourceOffset:t.SourceOffset+t.Bytes]))
		} else if there && t.Kind == sluice.Input {
			bytes := make([]byte, t.Bytes)
			seeded(256+inputs, bytes)
			check(d.Write(address(p), bytes))
			inputs++
		}
	}
	cycles, err := d.Submit(stream, graph, windows)
	check(err)
	outputs := fnv.New64a()
	for i, t := range tensors {
		if p, there := plan.Place(i); there && t.Kind == sluice.Output {
			bytes := make([]byte, t.Bytes)
			check(d.Read(address(p), bytes))
			outputs.Write(bytes)
		}
	}
	fmt.Printf("%d bytes of scratchpad: %d cycles, outputs %016x\n", share, cycles, outputs.Sum64())
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("driver HARDWARE.slh GRAPH.slg")
	}
	hardware, err := os.ReadFile(os.Args[1])
	check(err)
	bytes, err := os.ReadFile(os.Args[2])
	check(err)
	own, err := sluice.NewInBlock(32 << 20)
	check(err)
	defer own.Close()
	graph, err := own.Graph(bytes)
	check(err)
	machine, err := own.Hardware(hardware)
	check(err)
	d, err := device.Open(hardware, 64<<20)
	check(err)
	defer d.Close()
	for _, share := range []uint64{1 << 20, 256 << 10, 64 << 10} {
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		plan, err := own.Schedule(ctx, graph, machine, sluice.Options{ScratchpadBytes: share})
		cancel()
		check(err)
		run(d, plan, bytes, graph.Tensors(), share)
		plan.Close()
	}
}
