use super::*;

/// A system call as a filter sees it.
#[derive(Clone, Copy, Debug)]
struct Call {
    number: u32,
    architecture: u32,
    arguments: [u64; 6],
}

impl Call {
    /// Returns the 32 bits at a place of the kernel's `seccomp_data`.
    fn load(&self, place: u32) -> u32 {
        let half = |argument: u64, upper: bool| if upper { (argument >> 32) as u32 } else { argument as u32 };
        match place {
            0 => self.number,
            4 => self.architecture,
            16.. => half(self.arguments[(place as usize - 16) / 8], place % 8 == 4),
            _ => panic!("a filter reads the instruction pointer"),
        }
    }
}

/// Runs a filter as the kernel does; returns its answer and the number of steps.
fn answer(filter: &BpfProgram, call: &Call) -> (u32, usize) {
    let (mut at, mut accumulator, mut steps) = (0, 0_u32, 0);
    loop {
        let sock_filter { code, jt, jf, k } = &filter[at];
        let decide = |holds: bool| usize::from(if holds { *jt } else { *jf });
        steps += 1;
        at += 1 + match *code {
            0x20 => {
                accumulator = call.load(*k);
                0
            }
            0x54 => {
                accumulator &= *k;
                0
            }
            0x05 => *k as usize,
            0x15 => decide(accumulator == *k),
            0x25 => decide(accumulator > *k),
            0x35 => decide(accumulator >= *k),
            0x06 => return (*k, steps),
            other => panic!("instruction {other:#x}"),
        };
    }
}

const ALLOWED: u32 = 0x7fff_0000;

fn refused(errno: i32) -> u32 {
    0x0005_0000 | errno.unsigned_abs()
}

/// What is to happen to a call of this machine's own architecture, by the lists alone.
fn expected(gaps: Gaps, call: &Call) -> u32 {
    let holds = |(argument, op, value): &Condition| {
        let (given, value) = (call.arguments[usize::from(*argument)] as u32, *value as u32);
        match op {
            SeccompCmpOp::Eq => given == value,
            SeccompCmpOp::Ne => given != value,
            SeccompCmpOp::MaskedEq(mask) => given & *mask as u32 == value & *mask as u32,
            other => panic!("{other:?} is used nowhere"),
        }
    };
    let hits = |denied: Vec<(c_long, Vec<Condition>)>| {
        let of_call = |number: &c_long| u32::try_from(*number) == Ok(call.number);
        denied.iter().any(|(number, conditions)| of_call(number) && conditions.iter().all(holds))
    };
    if cfg!(target_arch = "x86_64") && call.number >= X32 || hits(unseen()) {
        refused(libc::ENOSYS)
    } else if hits(denied(gaps)) {
        refused(libc::EPERM)
    } else {
        ALLOWED
    }
}

/// The kernel's number of this architecture.
const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };

fn all_gaps() -> impl Iterator<Item = Gaps> {
    let bit = |number: u8, bit: u8| number & bit != 0;
    (0..8).map(move |number| Gaps { network: bit(number, 1), sockets: bit(number, 2), truncation: bit(number, 4) })
}

/// The arguments that the conditions of a call are about, and values for them: those that are named, and some beside.
fn conditions(gaps: Gaps, call: u32) -> (Vec<u8>, Vec<u64>) {
    let of_call = denied(gaps).into_iter().filter(|(number, _)| u32::try_from(*number) == Ok(call));
    let named: Vec<Condition> = of_call.flat_map(|(_, conditions)| conditions).collect();
    let mut arguments: Vec<u8> = named.iter().map(|(argument, ..)| *argument).collect();
    let beside = |(.., value): &Condition| [*value, value + 1, value | 1 << 40, value | 0o100];
    let mut values: Vec<u64> = named.iter().flat_map(beside).chain([0, u64::MAX]).collect();
    values.sort_unstable();
    values.dedup();
    arguments.sort_unstable();
    arguments.dedup();
    (arguments, values)
}

#[test]
fn filter_answers_each_call_as_the_lists_say() {
    if std::env::consts::ARCH != "x86_64" && std::env::consts::ARCH != "aarch64" {
        return;
    }
    for gaps in all_gaps() {
        let filter = build(gaps).expect("it is written for this processor");
        let check = |call: Call| assert_eq!(answer(&filter, &call).0, expected(gaps, &call), "{gaps:?} {call:?}");
        for number in (0..600).chain([X32 - 1, X32, X32 + 59, X32 + 520, u32::MAX]) {
            let call = Call { number, architecture: ARCHITECTURE, arguments: [0; 6] };
            check(call);
            check(Call { arguments: [u64::MAX; 6], ..call });
            // Each argument alone, and each two of them.
            let (arguments, values) = conditions(gaps, number);
            for (one, other) in arguments.iter().flat_map(|one| arguments.iter().map(move |other| (*one, *other))) {
                for first in &values {
                    for second in &values {
                        let mut arguments = [0; 6];
                        arguments[usize::from(one)] = *first;
                        arguments[usize::from(other)] = *second;
                        check(Call { arguments, ..call });
                    }
                }
            }
            // A number of another architecture means another call.
            let foreign = Call { architecture: 0x4000_0003, ..call };
            assert!(![ALLOWED, refused(libc::EPERM)].contains(&answer(&filter, &foreign).0), "{number}");
        }
    }
}

#[test]
fn filter_finds_a_call_in_few_steps() {
    for gaps in all_gaps() {
        let Some(filter) = build(gaps) else { return };
        let steps = |number| answer(&filter, &Call { number, architecture: ARCHITECTURE, arguments: [0; 6] }).1;
        let most = (0..600).map(steps).max().expect("there are calls");
        // The kernel tries all numbers each time that the filter is installed.
        assert!(most <= 64, "{most} of {} instructions", filter.len());
    }
}
