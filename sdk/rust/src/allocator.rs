//! Where a component's memory comes from.
//!
//! Every call has an instance to itself. The standard library's allocator uses nothing of the memory that an instance
//! begins with, so that each call grows its memory, and a memory that grew is shrunk again after the call: two changes of
//! the page tables. This one begins with what is there.

use std::alloc::Layout;
use std::arch::wasm32::memory_grow;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::cell::TalcSyncCell;
use talc::source::Source;
use talc::wasm::WasmBinning;

/// The unit in which a memory grows, in bytes.
/// See <https://webassembly.github.io/spec/core/exec/runtime.html#memory-instances>.
const PAGE: usize = 65_536;

/// What the allocator adds to what it is asked for, in bytes, generously: its own words and the alignment of its chunks.
const OVERHEAD: usize = 64;

#[global_allocator]
static ALLOCATOR: TalcSyncCell<Heap, WasmBinning> = TalcSyncCell::new_wasm(Heap::Nothing);

/// What the heap consists of.
#[derive(Clone, Copy, Debug)]
enum Heap {
    /// Nothing yet.
    Nothing,
    /// A page that was part of the memory from the start.
    First,
    /// That, and pages by which the memory has grown; the last of them end here.
    Grown(NonNull<u8>),
}

// SAFETY: allocates nothing.
unsafe impl Source for Heap {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        talc.source = match talc.source {
            Self::Nothing => {
                static mut FIRST: [MaybeUninit<u8>; PAGE] = [MaybeUninit::uninit(); PAGE];
                // SAFETY: nothing else names it, and a heap is never nothing again.
                unsafe { talc.claim((&raw mut FIRST).cast(), PAGE) }.ok_or(())?;
                Self::First
            }
            Self::First | Self::Grown(_) => {
                let bytes = layout.size().checked_add(layout.align() + OVERHEAD).ok_or(())?;
                let pages = bytes.div_ceil(PAGE);
                let before = memory_grow::<0>(pages);
                if before == usize::MAX {
                    return Err(());
                }
                let (start, size) = ((before * PAGE) as *mut u8, pages * PAGE);
                let end = match talc.source {
                    // SAFETY: these pages are new, and they begin where the heap ends.
                    Self::Grown(end) if end.as_ptr() == start => unsafe { talc.extend(end, start.wrapping_add(size)) },
                    // SAFETY: these pages are new.
                    _ => unsafe { talc.claim(start, size) }.ok_or(())?,
                };
                Self::Grown(end)
            }
        };
        Ok(())
    }
}
