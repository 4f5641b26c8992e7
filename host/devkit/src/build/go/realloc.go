package runtime

import "unsafe"

// chunk is how much memory is taken at a time for what the host sends: as much as an arena of the heap, so that arenas
// that follow are aligned without a gap.
const chunk = 512 << 10

// free and end are the part of a chunk that is not used yet.
var free, end uintptr

// sbrk extends the memory that the runtime owns. The collector does not see what it returns.
//
//go:linkname sbrk runtime.sbrk
func sbrk(size uintptr) unsafe.Pointer

// systemstack runs a function on a stack that does not have to grow.
//
//go:linkname systemstack runtime.systemstack
//go:noescape
func systemstack(run func())

// abort traps.
//
//go:linkname abort runtime.abort
func abort()

// realloc makes room for what the host passes in.
//
// A component must not call the host while this runs. Both Go's allocator and its scheduler may: a collection begins, a
// goroutine waits for it, and another one that runs meanwhile reads the clock or a file. So the memory is outside of the
// heap, and nothing here allocates on the heap or grows a stack. The memory is kept until the instance ends, with the call:
// goroutines that wait may still have to read what they received.
//
//go:wasmexport cabi_realloc
//go:nosplit
func realloc(pointer unsafe.Pointer, before, align, size uintptr) unsafe.Pointer {
	start := (free + align - 1) &^ (align - 1)
	if start != 0 && start+size <= end {
		free = start + size
	} else {
		wanted := max(size, chunk)
		systemstack(func() {
			start = uintptr(sbrk(wanted))
		})
		if start == 0 {
			// The sandbox has no more memory. A panic would print, which is a call to the host.
			abort()
		}
		// After a large result the rest of the chunk before it is still of use.
		if wanted-size > end-free {
			free, end = start+size, start+wanted
		}
	}
	made := unsafe.Pointer(start)
	if before > 0 {
		copy(unsafe.Slice((*byte)(made), size), unsafe.Slice((*byte)(pointer), min(before, size)))
	}
	return made
}
