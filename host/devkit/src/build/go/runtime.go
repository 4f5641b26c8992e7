// Package runtime has the memory that passes between a plugin and the host: here what the generated code allocates for the
// host to read, in realloc_wasm.go what the host allocates in the plugin. Its handles are the resources of the host.
package runtime

import (
	"runtime"
	"unsafe"
)

// Allocate makes memory that is neither moved nor freed until the pinner unpins it.
func Allocate(pinner *runtime.Pinner, size, align uintptr) unsafe.Pointer {
	if size == 0 {
		return nil
	}
	// The element's type decides the alignment. What this memory points to is pinned, so the collector need not look into it.
	var pointer unsafe.Pointer
	switch {
	case align <= 1:
		pointer = unsafe.Pointer(unsafe.SliceData(make([]uint8, size)))
	case align <= 4:
		pointer = unsafe.Pointer(unsafe.SliceData(make([]uint32, (size+3)/4)))
	default:
		pointer = unsafe.Pointer(unsafe.SliceData(make([]uint64, (size+7)/8)))
	}
	pinner.Pin(pointer)
	return pointer
}

// Unpin is called after the arguments of an export were read. It frees nothing: what realloc makes is kept until the call
// ends.
func Unpin() {}

// Handle is a resource of the host, which can be given away once.
type Handle struct {
	value int32
}

// MakeHandle wraps a resource.
func MakeHandle(value int32) *Handle {
	return &Handle{value}
}

// Use returns the resource and keeps it.
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

// TakeOrNil returns the resource and gives it away, or returns 0 if it was given away before.
func (handle *Handle) TakeOrNil() int32 {
	value := handle.value
	handle.value = 0
	return value
}

// Set stores a resource in a handle that has none.
func (handle *Handle) Set(value int32) {
	if value == 0 || handle.value != 0 {
		panic("there is a resource already")
	}
	handle.value = value
}
