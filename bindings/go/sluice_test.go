// SPDX-License-Identifier: Apache-2.0

package sluice_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"sluice"
)

// SLUICE_TEST_HARDWARE is a hardware.slh; SLUICE_TEST_GRAPH and SLUICE_TEST_PLAN are a real
// model and the plan the C interface makes of it.
func file(t testing.TB, variable string) []byte {
	t.Helper()
	content, err := os.ReadFile(os.Getenv(variable))
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return content
}

const (
	minimum, maximum = 11, 12 // SLUICE_OP_ of ops.h
	binaryAttributes = 12
)

func twoLayers() []byte {
	g := sluice.NewGraph("two layers")
	none := make([]int32, binaryAttributes)
	a := g.Tensor("a", sluice.Input, sluice.Int8, 1, 32, 32, 16)
	b := g.Seeded("b", 7, sluice.Int8, 1, 32, 32, 16)
	m := g.Tensor("m", sluice.Intermediate, sluice.Int8, 1, 32, 32, 16)
	y := g.Tensor("y", sluice.Output, sluice.Int8, 1, 32, 32, 16)
	g.Layer("larger", maximum, []uint32{a, b}, []uint32{m}, none...)
	g.Layer("smaller", minimum, []uint32{m, a}, []uint32{y}, none...)
	return g.Bytes()
}

type objects struct {
	context  *sluice.Context
	graph    *sluice.Graph
	hardware *sluice.Hardware
}

func open(t testing.TB, graph []byte) objects {
	t.Helper()
	c, err := sluice.New(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	g, err := c.Graph(graph)
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Hardware(file(t, "SLUICE_TEST_HARDWARE"))
	if err != nil {
		t.Fatal(err)
	}
	return objects{c, g, h}
}

func (o objects) schedule(options sluice.Options) (*sluice.Plan, error) {
	return o.context.Schedule(context.Background(), o.graph, o.hardware, options)
}

func TestAGraphBuiltHereIsScheduledAndVerified(t *testing.T) {
	o := open(t, twoLayers())
	if o.graph.Layers() != 2 {
		t.Fatalf("%d layers", o.graph.Layers())
	}
	tensors := o.graph.Tensors()
	if len(tensors) != 4 || tensors[1].Source != sluice.Seeded || tensors[1].SourceOffset != 7 ||
		tensors[0].Name != "a" || tensors[3].Kind != sluice.Output || tensors[0].Bytes != 16384 {
		t.Fatalf("tensors: %+v", tensors)
	}
	plan, err := o.schedule(sluice.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.context.Verify(plan, o.graph, o.hardware); err != nil {
		t.Fatal(err)
	}
	r := plan.Report()
	if r.LatencyCycles == 0 || r.LatencyCycles < r.BoundLatencyCycles || r.Instructions == 0 {
		t.Fatalf("%+v", r)
	}
	certificate := plan.Certificate()
	var cycles uint64
	for _, layer := range certificate.Layers {
		cycles += layer.Cycles
	}
	if len(certificate.Layers) == 0 || cycles != certificate.All.Cycles {
		t.Fatalf("%+v", certificate)
	}
	again, err := o.context.Plan(plan.Bytes())
	if err != nil || !bytes.Equal(again.Bytes(), plan.Bytes()) {
		t.Fatalf("read back: %v", err)
	}
}

func TestARealModelGivesTheBytesThatCGives(t *testing.T) {
	o := open(t, file(t, "SLUICE_TEST_GRAPH"))
	plan, err := o.schedule(sluice.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(plan.Bytes(), file(t, "SLUICE_TEST_PLAN")) {
		t.Fatal("the plans differ")
	}
}

func TestErrorsSayWhatAndHowMuch(t *testing.T) {
	o := open(t, twoLayers())
	for _, junk := range [][]byte{nil, {}, []byte("junk"), twoLayers()[:40]} {
		if _, err := o.context.Graph(junk); !errors.Is(err, sluice.ErrBadInput) {
			t.Fatalf("%q: %v", junk, err)
		}
	}
	_, err := o.schedule(sluice.Options{ScratchpadBytes: 8})
	var e *sluice.Error
	if !errors.Is(err, sluice.ErrInfeasible) || !errors.As(err, &e) || e.SmallestScratchpadBytes == 0 {
		t.Fatalf("eight bytes: %v", err)
	}
	if _, err := o.schedule(sluice.Options{ScratchpadBytes: e.SmallestScratchpadBytes}); err != nil {
		t.Fatalf("the number is wrong: %v", err)
	}
	small, err := sluice.New(1024)
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if _, err := small.Graph(twoLayers()); !errors.Is(err, sluice.ErrOutOfMemory) {
		t.Fatal(err)
	}
}

func TestContextsStopACall(t *testing.T) {
	o := open(t, file(t, "SLUICE_TEST_GRAPH"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	_, err := o.context.Schedule(ctx, o.graph, o.hardware, sluice.Options{})
	if !errors.Is(err, sluice.ErrStopped) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go stop()
	plan, err := o.context.Schedule(ctx, o.graph, o.hardware, sluice.Options{})
	if err != nil && !errors.Is(err, sluice.ErrStopped) {
		t.Fatal(err)
	}
	if err == nil && o.context.Verify(plan, o.graph, o.hardware) != nil {
		t.Fatal("a plan that was stopped is wrong")
	}
}

func TestADeadlineIsNoCancel(t *testing.T) {
	o := open(t, file(t, "SLUICE_TEST_GRAPH"))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	plan, err := o.context.Schedule(ctx, o.graph, o.hardware,
		sluice.Options{MaxIterations: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	if reason := plan.Report().StopReason; reason == sluice.Cancelled {
		t.Fatal("stopped for reason ", reason)
	}
}

func TestASmallerShareIsRescheduledFromThePlanBefore(t *testing.T) {
	o := open(t, file(t, "SLUICE_TEST_GRAPH"))
	first, err := o.schedule(sluice.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, change, err := o.context.Reschedule(context.Background(), first, o.graph, o.hardware,
		sluice.Options{ScratchpadBytes: 64 << 10}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.context.Verify(plan, o.graph, o.hardware); err != nil {
		t.Fatal(err)
	}
	if !change.Scratchpad || change.Graph || change.StreamBytes != uint64(len(plan.Stream())) ||
		plan.Report().PeakBufferBytes > 64<<10 {
		t.Fatalf("%+v", change)
	}
}

func TestClosedObjectsAreErrors(t *testing.T) {
	o := open(t, twoLayers())
	plan, err := o.schedule(sluice.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.graph.Close()
	o.graph.Close()
	if _, err := o.schedule(sluice.Options{}); !errors.Is(err, sluice.ErrBadArgument) {
		t.Fatal(err)
	}
	o.context.Close()
	o.context.Close()
	plan.Close()
	o.hardware.Close()
	if plan.Bytes() != nil || plan.Stream() != nil || plan.Report() != (sluice.Report{}) ||
		o.graph.Tensors() != nil || o.context.Memory() != (sluice.MemoryStats{}) {
		t.Fatal("closed objects still answer")
	}
	if _, err := o.context.Graph(twoLayers()); !errors.Is(err, sluice.ErrBadArgument) {
		t.Fatal(err)
	}
	if _, err := o.context.Plan(nil); !errors.Is(err, sluice.ErrBadArgument) {
		t.Fatal(err)
	}
}

func TestContextsWorkSideBySideAndShareOneInTurns(t *testing.T) {
	shared := open(t, twoLayers())
	var wait sync.WaitGroup
	for i := 0; i < 8; i++ {
		own := open(t, twoLayers())
		for _, o := range []objects{own, shared} {
			wait.Add(1)
			go func(o objects) {
				defer wait.Done()
				for k := 0; k < 4; k++ {
					plan, err := o.schedule(sluice.Options{})
					if err != nil {
						t.Error(err)
						return
					}
					plan.Report()
					plan.Close()
				}
			}(o)
		}
	}
	wait.Wait()
}

func TestBrokenPlansAreRefusedOrRejected(t *testing.T) {
	o := open(t, file(t, "SLUICE_TEST_GRAPH"))
	good := file(t, "SLUICE_TEST_PLAN")
	for i := 0; i < 200; i++ {
		broken := append([]byte{}, good...)
		broken[i*2654435761%len(good)] ^= 1 << (i % 8)
		plan, err := o.context.Plan(broken)
		if err != nil {
			continue
		}
		_ = o.context.Verify(plan, o.graph, o.hardware)
		plan.Close()
	}
}
