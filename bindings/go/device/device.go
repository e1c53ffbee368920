// SPDX-License-Identifier: Apache-2.0

// Package device is the simulated accelerator as a driver uses it. It links
// libsluice_device.
package device

/*
#cgo LDFLAGS: -lsluice_device
#include <stdlib.h>
#include <string.h>
#include "firmware-sim/device.h"
#include "firmware-sim/walker.h"

// Each buffer of a submission is an argument of its own: cgo pins arguments, but not
// what their fields point to.
static int submit(sluice_device_t* d, const void* stream, size_t stream_bytes,
                  const void* graph, size_t graph_bytes, const uint64_t* windows,
                  uint64_t* cycles, char* fault) {
  sluice_device_submission_t s;
  int code, r;
  memset(&s, 0, sizeof s);
  s.stream = stream;
  s.stream_bytes = stream_bytes;
  s.graph = graph;
  s.graph_bytes = graph_bytes;
  for (r = 0; r < SLUICE_REGION_COUNT; ++r) {
    s.window[r].begin = windows[2 * r];
    s.window[r].end = windows[2 * r + 1];
  }
  code = sluice_device_control(d, SLUICE_DEVICE_SUBMIT, &s);
  *cycles = s.cycles;
  memcpy(fault, s.fault, sizeof s.fault);
  return code;
}

static int copy(sluice_device_t* d, uint32_t request, uint64_t address, void* host,
                uint64_t bytes) {
  sluice_device_copy_t c;
  c.address = address;
  c.bytes = bytes;
  c.host = host;
  return sluice_device_control(d, request, &c);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Regions of a stream, GBUF first.
const Regions = C.SLUICE_REGION_COUNT

// Windows are [begin, end) in device memory of each region that a stream may access.
type Windows [Regions][2]uint64

// Relocate adds the addresses of its regions to a plan's stream, in place.
func Relocate(stream []byte, w Windows) error {
	var base [Regions]C.uint64_t
	for r := range base {
		base[r] = C.uint64_t(w[r][0])
	}
	if status := C.sluice_walk_relocate(unsafe.Pointer(&stream[0]), &base[0]); status != 0 {
		return fmt.Errorf("relocation: %s", C.GoString(C.sluice_walk_status_name(status)))
	}
	return nil
}

// Device is a simulated device with its own memory.
type Device struct{ raw *C.sluice_device_t }

// Open makes a device from a descriptor, with dramBytes of DRAM.
func Open(hardware []byte, dramBytes uint64) (*Device, error) {
	d := &Device{}
	code := C.sluice_device_open(unsafe.Pointer(&hardware[0]), C.size_t(len(hardware)),
		C.uint64_t(dramBytes), &d.raw)
	if code != 0 {
		return nil, fmt.Errorf("device: code %d", code)
	}
	return d, nil
}

// Close the device.
func (d *Device) Close() {
	C.sluice_device_close(d.raw)
	d.raw = nil
}

func (d *Device) copy(request C.uint32_t, address uint64, bytes []byte) error {
	if len(bytes) == 0 {
		return nil
	}
	if C.copy(d.raw, request, C.uint64_t(address), unsafe.Pointer(&bytes[0]),
		C.uint64_t(len(bytes))) != 0 {
		return errors.New("device: an address outside its memory")
	}
	return nil
}

// Write bytes to device memory.
func (d *Device) Write(address uint64, bytes []byte) error {
	return d.copy(C.SLUICE_DEVICE_WRITE_DRAM, address, bytes)
}

// Read bytes of device memory.
func (d *Device) Read(address uint64, bytes []byte) error {
	return d.copy(C.SLUICE_DEVICE_READ_DRAM, address, bytes)
}

// Submit runs a stream to its end and returns the cycles.
func (d *Device) Submit(stream, graph []byte, w Windows) (uint64, error) {
	var cycles C.uint64_t
	var fault [160]C.char
	code := C.submit(d.raw, unsafe.Pointer(&stream[0]), C.size_t(len(stream)),
		unsafe.Pointer(&graph[0]), C.size_t(len(graph)),
		(*C.uint64_t)(unsafe.Pointer(&w[0][0])), &cycles, &fault[0])
	if code != 0 {
		return 0, errors.New("device: " + C.GoString(&fault[0]))
	}
	return uint64(cycles), nil
}
