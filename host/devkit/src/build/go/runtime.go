// Package runtime is the memory that passes between a plugin and the host: what the generated code allocates for the host
// to read, and what the host allocates in the plugin.
package runtime

import (
	"runtime"
	"unsafe"
)

// early is the memory of allocations that are made while the Go runtime itself starts: the adapter of WASI asks for its
// state then, before there is a heap. It needs 128 KiB; a request that does not fit ends the instance.
var early [192 << 10]byte

var (
	earlyUsed uintptr
	started   bool
	// received keeps what the host allocated from being collected: until the generated code has taken a value apart, only
	// numbers refer to it. It goes with the instance, at the end of the call.
	received []unsafe.Pointer
)

func init() {
	started = true
}

// Allocate makes memory that stays where it is until the pinner lets go of it.
func Allocate(pinner *runtime.Pinner, size, align uintptr) unsafe.Pointer {
	pointer := allocate(size, align)
	if pointer != nil {
		pinner.Pin(pointer)
	}
	return pointer
}

func allocate(size, align uintptr) unsafe.Pointer {
	if size == 0 {
		return nil
	}
	// The element's type decides the alignment. There is no pointer in this memory that the collector should follow.
	switch {
	case align <= 1:
		return unsafe.Pointer(unsafe.SliceData(make([]uint8, size)))
	case align <= 4:
		return unsafe.Pointer(unsafe.SliceData(make([]uint32, (size+3)/4)))
	default:
		return unsafe.Pointer(unsafe.SliceData(make([]uint64, (size+7)/8)))
	}
}

// Unpin is called when the values of an export were taken apart. Nothing is let go of: another goroutine may be about to
// take apart what it received.
func Unpin() {}

//go:wasmexport cabi_realloc
func realloc(pointer unsafe.Pointer, before, align, size uintptr) unsafe.Pointer {
	if !started {
		start := (earlyUsed + align - 1) &^ (align - 1)
		if start+size > uintptr(len(early)) {
			panic("too much memory was asked for before the start")
		}
		earlyUsed = start + size
		return unsafe.Pointer(&early[start])
	}
	made := allocate(size, align)
	if pointer != nil && before > 0 {
		copy(unsafe.Slice((*byte)(made), size), unsafe.Slice((*byte)(pointer), min(before, size)))
	}
	received = append(received, made)
	return made
}

// Handle is a resource of the host, which is given away at most once.
type Handle struct {
	value int32
}

// MakeHandle wraps a resource.
func MakeHandle(value int32) *Handle {
	return &Handle{value}
}

// Use returns the resource, which stays here.
func (handle *Handle) Use() int32 {
	if handle.value == 0 {
		panic("the resource was dropped or given away")
	}
	return handle.value
}

// Take returns the resource and gives it away.
func (handle *Handle) Take() int32 {
	value := handle.Use()
	handle.value = 0
	return value
}

// TakeOrNil is Take, or 0 if it was given away before.
func (handle *Handle) TakeOrNil() int32 {
	value := handle.value
	handle.value = 0
	return value
}

// Set puts a resource where there is none.
func (handle *Handle) Set(value int32) {
	if value == 0 || handle.value != 0 {
		panic("there is a resource already")
	}
	handle.value = value
}
