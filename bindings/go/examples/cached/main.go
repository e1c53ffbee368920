// SPDX-License-Identifier: Apache-2.0

// Takes a plan from a cache folder, or makes one and stores it there. Verifies it
// either way.
//
//	cached HARDWARE.slh GRAPH.slg FOLDER
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"

	"sluice"
	"sluice/cache"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(path string) []byte {
	bytes, err := os.ReadFile(path)
	check(err)
	return bytes
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("cached HARDWARE.slh GRAPH.slg FOLDER")
	}
	c, err := sluice.New(0)
	check(err)
	defer c.Close()
	hardware, err := c.Hardware(read(os.Args[1]))
	check(err)
	graph, err := c.Graph(read(os.Args[2]))
	check(err)
	const share = 4 << 20
	folder := cache.Folder(os.Args[3])
	key := cache.NewKey(graph, hardware, binary.LittleEndian.AppendUint64(nil, share))
	if bytes, there := folder.Get(key); there {
		if plan, err := c.Plan(bytes); err == nil && c.Verify(plan, graph, hardware) == nil {
			fmt.Printf("found: %d cycles\n", plan.Report().LatencyCycles)
			return
		}
	}
	plan, err := c.Schedule(context.Background(), graph, hardware, sluice.Options{ScratchpadBytes: share})
	check(err)
	if !folder.Put(key, plan.Bytes()) {
		log.Fatal("the plan cannot be kept in the folder")
	}
	fmt.Printf("made: %d cycles\n", plan.Report().LatencyCycles)
}
