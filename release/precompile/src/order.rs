//! The order of a program's functions: those that a run executes side by side.
//!
//! The list in the repository has their names as people write them, without the hashes that differ with each compiler
//! and each version of a dependency. What they are called in this build is in the linker's map. A generic function is
//! there once for each of its types, of which a run executes some, so a name comes the later the more functions it has.

use std::collections::HashMap;

use rustc_demangle::demangle;

/// How many of the names a map must have, at the least: with fewer the list is for another program.
const FOUND: f64 = 0.5;

/// What the functions are called in this build.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) symbols: Vec<String>,
    /// How many names of the list were found.
    pub(crate) found: usize,
    /// How many there are.
    pub(crate) listed: usize,
}

/// Finds the functions of a list, one name a line, in a linker's map.
///
/// # Errors
///
/// If the map has too few of them.
pub(crate) fn order(list: &str, map: &str) -> Result<Order, String> {
    let mut functions: HashMap<&str, Vec<&str>> =
        list.lines().filter(|line| !line.is_empty()).map(|name| (name, Vec::new())).collect();
    for symbol in map.lines().filter_map(function) {
        if let Some(found) = functions.get_mut(&*format!("{:#}", demangle(symbol))) {
            found.push(symbol);
        }
    }
    let listed = functions.len();
    let mut functions: Vec<(&str, Vec<&str>)> = functions.into_iter().filter(|(_, found)| !found.is_empty()).collect();
    functions.sort_by_key(|(name, found)| (found.len(), *name));
    let found = functions.len();
    let symbols = functions.into_iter().flat_map(|(_, found)| found).map(str::to_owned).collect();
    let order = Order { symbols, found, listed };
    if (order.found as f64) < FOUND * order.listed as f64 {
        return Err(format!("only {} of {} functions of the list are in the program", order.found, order.listed));
    }
    Ok(order)
}

/// The function of a line, `… FILE:(.text.FUNCTION)`: each has a section of its own.
fn function(line: &str) -> Option<&str> {
    let (_, section) = line.strip_suffix(')')?.rsplit_once(":(.text.")?;
    Some(section.strip_prefix("unlikely.").unwrap_or(section))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "\
             VMA              LMA     Size Align Out     In      Symbol
          d64150           d64150  168a3e1    32 .text
          d64150           d64150       26     1         /usr/lib/Scrt1.o:(.text)
          d64180           d64180       71    16         host.0.o:(.text._ZN4host4main17h0123456789abcdefE)
          d64180           d64180       71     1                 _ZN4host4main17h0123456789abcdefE
          d64200           d64200       10    16         host.0.o:(.text._ZN4host5other17h0123456789abcdefE)
          d64210           d64210       10    16         lib.a(b.o):(.text.unlikely._RNvCsfzYoIOuDiL2_4host4cold)
          d64220           d64220       10    16         host.1.o:(.text._ZN4host4main17hfedcba9876543210E)
          e00000           e00000       10    16         host.1.o:(.rodata._ZN4host5value17hfedcba9876543210E)
";

    #[test]
    fn functions_are_found_by_their_names_without_hashes() {
        let order = order("host::main\nhost::cold\nhost::gone\n", MAP).expect("most are found");
        let symbols =
            ["_RNvCsfzYoIOuDiL2_4host4cold", "_ZN4host4main17h0123456789abcdefE", "_ZN4host4main17hfedcba9876543210E"];
        assert_eq!(order, Order { symbols: symbols.map(str::to_owned).into(), found: 2, listed: 3 });
    }

    #[test]
    fn list_for_another_program_is_refused() {
        let refused = order("host::main\nhost::gone\nhost::lost\n", MAP).expect_err("too few");
        assert_eq!(refused, "only 1 of 3 functions of the list are in the program");
    }
}
