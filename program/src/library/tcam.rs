//! The text of `tcam.futil`: a ternary content-addressable memory of 32 prefixes of IPv4 addresses.
//!
//! The same hardware as in the library of Calyx 0.7.1, whose crate does not offer the file: the same components,
//! ports, cells, groups and control, so that a design takes the same cycles and its profile has the same names.
//! A test holds both against each other. Made by loops, because Calyx has none.

use std::fmt::Write as _;

/// How many prefixes it holds.
const ENTRIES: usize = 32;

/// Compares an address with a prefix, and two matches with one another. Lengths are one less than the number of bits.
const ELEMENTS: &str = r"
component match_element(in: 32, prefix: 32, length: 5) -> (out: 1) {
  cells { sub = std_sub(5); pad = std_pad(5, 32); rsh0 = std_rsh(32); rsh1 = std_rsh(32); eq = std_eq(32); r = std_reg(1); }
  wires {
    group compare {
      sub.left = 5'd31; sub.right = length; pad.in = sub.out;
      rsh0.left = in; rsh0.right = pad.out;
      rsh1.left = prefix; rsh1.right = pad.out;
      eq.left = rsh0.out; eq.right = rsh1.out;
      r.in = eq.out; r.write_en = 1'd1;
      compare[done] = r.done;
    }
    out = r.out;
  }
  control { compare; }
}
component comparator_element(lenA: 5, lenB: 5, addrA: 5, addrB: 5, mlA: 1, mlB: 1) -> (lenX: 5, addrX: 5, mlX: 1) {
  cells {
    gt0 = std_gt(5); or0 = std_or(1); or1 = std_or(1); not0 = std_not(1); and0 = std_and(1);
    len = std_reg(5); addr = std_reg(5); ml = std_reg(1);
  }
  wires {
    comb group select {
      gt0.left = lenA; gt0.right = lenB;
      not0.in = mlB;
      or0.left = not0.out; or0.right = gt0.out;
      and0.left = mlA; and0.right = or0.out;
    }
    group A {
      len.in = lenA; len.write_en = 1'd1; addr.in = addrA; addr.write_en = 1'd1;
      A[done] = len.done & addr.done ? 1'd1;
    }
    group B {
      len.in = lenB; len.write_en = 1'd1; addr.in = addrB; addr.write_en = 1'd1;
      B[done] = len.done & addr.done ? 1'd1;
    }
    group or_match_line {
      or1.left = mlA; or1.right = mlB; ml.in = or1.out; ml.write_en = 1'd1;
      or_match_line[done] = ml.done;
    }
    lenX = len.out; addrX = addr.out; mlX = ml.out;
  }
  control { par { if and0.out with select { A; } else { B; } or_match_line; } }
}
";

/// The memory. A line with `#` stands for one for each entry, with its number; those with `@` are made below.
const TABLE: &str = r"
component TCAM_IPv4(write_en: 1, search_en: 1, in: 32, prefix_len: 6, write_index: 5) -> (index: 5) {
  cells {
    write_en_reg = std_reg(1); search_en_reg = std_reg(1); ce40_reg = std_reg(1); zero_index = std_reg(5);
    z_eq = std_eq(6); slice = std_slice(6, 5); sub = std_sub(6); out = std_reg(5);
    p# = std_reg(32); l# = std_reg(5); is_index# = std_eq(5); comb_reg# = std_reg(1); me# = match_element();
    @comparators
  }
  wires {
    group write_write_en_reg {
      write_en_reg.in = write_en; write_en_reg.write_en = 1'd1; write_write_en_reg[done] = write_en_reg.done;
    }
    group write_search_en_reg {
      search_en_reg.in = search_en; search_en_reg.write_en = 1'd1; write_search_en_reg[done] = search_en_reg.done;
    }
    group write_ce40_reg { ce40_reg.in = ce40.mlX; ce40_reg.write_en = 1'd1; write_ce40_reg[done] = ce40_reg.done; }
    comb group is_length_zero { z_eq.left = 6'd0; z_eq.right = prefix_len; }
    group write_zero { zero_index.in = write_index; zero_index.write_en = 1'd1; write_zero[done] = zero_index.done; }
    group write# { sub.left = prefix_len; sub.right = 6'd1; slice.in = sub.out; l#.in = slice.out; l#.write_en = write_en; p#.in = in; p#.write_en = write_en; write#[done] = p#.done & l#.done ? 1'd1; }
    group find_write_index {
      is_index#.left = 5'd#; is_index#.right = write_index; comb_reg#.in = is_index#.out; comb_reg#.write_en = 1'd1;
      find_write_index[done] = comb_reg0.done;
    }
    group default_to_zero_length_index {
      out.in = zero_index.out; out.write_en = 1'd1; default_to_zero_length_index[done] = out.done;
    }
    group save_index { out.in = ce40.addrX; out.write_en = 1'd1; save_index[done] = out.done; }
    index = out.out;
  }
  control {
    seq {
      write_write_en_reg;
      write_search_en_reg;
      par {
        if write_en_reg.out {
          if z_eq.out with is_length_zero {
            write_zero;
          } else {
            seq {
              find_write_index;
              par {
                if comb_reg#.out { write#; }
              }
            }
          }
        }
        if search_en_reg.out {
          seq {
            par {
              invoke me#(in=in, prefix=p#.out, length=l#.out)();
            }
            @rounds
            write_ce40_reg;
            if ce40_reg.out { save_index; } else { default_to_zero_length_index; }
          }
        }
      }
    }
  }
}
";

/// The file.
pub(super) fn text() -> String {
    let mut text = format!("import \"core.futil\";\n{ELEMENTS}");
    for line in TABLE.lines() {
        match line.trim() {
            "@comparators" => {
                for (round, at) in meetings() {
                    // Writing to a String cannot fail.
                    let _ = writeln!(text, "    ce{round}{at} = comparator_element();");
                }
            }
            "@rounds" => text.push_str(&rounds()),
            _ if line.contains('#') => {
                for entry in 0..ENTRIES {
                    text.push_str(&line.replace('#', &entry.to_string()));
                    text.push('\n');
                }
            }
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

/// A tournament for the longest match: each round, and the numbers of the meetings in it.
fn meetings() -> impl Iterator<Item = (usize, usize)> {
    let sizes = (1..)
        .map(|round| ENTRIES >> round)
        .take_while(|&size| size > 0);
    sizes
        .enumerate()
        .flat_map(|(round, size)| (0..size).map(move |at| (round, at)))
}

/// Runs the tournament, all meetings of a round at once.
fn rounds() -> String {
    let mut text = String::new();
    for (round, at) in meetings() {
        let (a, b) = (2 * at, 2 * at + 1);
        let operands = match round.checked_sub(1) {
            None => format!(
                "lenA=l{a}.out, lenB=l{b}.out, addrA=5'd{a}, addrB=5'd{b}, mlA=me{a}.out, mlB=me{b}.out"
            ),
            Some(before) => {
                let (a, b) = (format!("ce{before}{a}"), format!("ce{before}{b}"));
                format!(
                    "lenA={a}.lenX, lenB={b}.lenX, addrA={a}.addrX, addrB={b}.addrX, mlA={a}.mlX, mlB={b}.mlX"
                )
            }
        };
        let meets = ENTRIES >> (round + 1);
        let is_first = at == 0 && meets > 1;
        let is_last = at == meets - 1 && meets > 1;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "            {}invoke ce{round}{at}({operands})();{}",
            if is_first { "par { " } else { "" },
            if is_last { " }" } else { "" }
        );
    }
    text
}
