//! The instructions of one operation on values of up to 64 bits.
//!
//! The results are those of [`Op::eval`], which computes wider ones and constants.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::compile::WORD;
use crate::graph::Op;

/// Makes instructions on values of up to 64 bits.
pub(crate) struct Operations<'a, 'b>(pub &'a mut FunctionBuilder<'b>);

fn byte_offset(word: usize) -> i32 {
    i32::try_from(word * 8).expect("designs need less than 2 GiB of state")
}

impl Operations<'_, '_> {
    pub fn number(&mut self, number: u64) -> Value {
        self.0.ins().iconst(WORD, number.cast_signed())
    }

    pub fn load(&mut self, base: Value, word: usize) -> Value {
        let flags = MemFlags::trusted();
        self.0.ins().load(WORD, flags, base, byte_offset(word))
    }

    pub fn store(&mut self, value: Value, base: Value, word: usize) {
        let flags = MemFlags::trusted();
        self.0.ins().store(flags, value, base, byte_offset(word));
    }

    /// The lowest `width` bits of a value.
    fn masked(&mut self, value: Value, width: u32) -> Value {
        if width >= 64 {
            return value;
        }
        let mask = self.number((1 << width) - 1);
        self.0.ins().band(value, mask)
    }

    /// A value of `width` bits with copies of its highest bit above.
    fn extended(&mut self, value: Value, width: u32) -> Value {
        let by = i64::from(64 - width);
        let shifted = self.0.ins().ishl_imm(value, by);
        self.0.ins().sshr_imm(shifted, by)
    }

    /// 1 if the condition holds, else 0.
    fn compare(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let bit = self.0.ins().icmp(condition, a, b);
        self.0.ins().uextend(WORD, bit)
    }

    /// An operation on values of these widths.
    pub fn operation(&mut self, op: Op, width: u32, args: &[Value], widths: &[u32]) -> Value {
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        let ins = |function: &mut Self, act: &dyn Fn(&mut FunctionBuilder<'_>) -> Value| {
            let value = act(function.0);
            function.masked(value, width)
        };
        match op {
            Op::And => self.0.ins().band(a, b),
            Op::Or => self.0.ins().bor(a, b),
            Op::Xor => self.0.ins().bxor(a, b),
            Op::Not => ins(self, &|builder| builder.ins().bnot(a)),
            Op::Add => ins(self, &|builder| builder.ins().iadd(a, b)),
            Op::Sub => ins(self, &|builder| builder.ins().isub(a, b)),
            Op::Mul => ins(self, &|builder| builder.ins().imul(a, b)),
            Op::Div | Op::Rem | Op::SDiv | Op::SRem => self.division(op, width, a, b),
            Op::Eq => self.compare(IntCC::Equal, a, b),
            Op::Lt => self.compare(IntCC::UnsignedLessThan, a, b),
            Op::SLt => {
                let (a, b) = (self.extended(a, widths[0]), self.extended(b, widths[1]));
                self.compare(IntCC::SignedLessThan, a, b)
            }
            Op::Shl | Op::Shr | Op::Sar => self.shift(op, width, a, b),
            Op::Mux => self.0.ins().select(a, b, args[2]),
            Op::Slice(low) if low >= 64 => self.number(0),
            Op::Slice(low) => ins(self, &|builder| builder.ins().ushr_imm(a, i64::from(low))),
            Op::Pad => a,
            Op::SignExtend => {
                let extended = self.extended(a, widths[0]);
                self.masked(extended, width)
            }
            Op::Cat => {
                let high = self.0.ins().ishl_imm(a, i64::from(widths[1]));
                self.0.ins().bor(high, b)
            }
            // Always by a helper.
            Op::Float(..) => unreachable!("floating point is computed by helpers"),
            Op::NotSqrt => {
                let builder = &mut *self.0;
                let root = builder.ins().fcvt_from_uint(types::F64, b);
                let root = builder.ins().sqrt(root);
                let root = builder.ins().floor(root);
                let value = builder.ins().fcvt_from_uint(types::F64, a);
                let bit = builder.ins().fcmp(FloatCC::NotEqual, value, root);
                builder.ins().uextend(WORD, bit)
            }
        }
    }

    /// A division; by zero the result is 0, and the least number by -1 is itself.
    fn division(&mut self, op: Op, width: u32, a: Value, b: Value) -> Value {
        let zero = self.number(0);
        let one = self.number(1);
        let is_zero = self.0.ins().icmp(IntCC::Equal, b, zero);
        let signed = matches!(op, Op::SDiv | Op::SRem);
        let (a, b) = if signed {
            (self.extended(a, width), self.extended(b, width))
        } else {
            (a, b)
        };
        let by = self.0.ins().select(is_zero, one, b);
        let result = if signed {
            // The least number by -1 would trap.
            let minus_one = self.number(u64::MAX);
            let negates = self.0.ins().icmp(IntCC::Equal, by, minus_one);
            let by = self.0.ins().select(negates, one, by);
            if op == Op::SDiv {
                let quotient = self.0.ins().sdiv(a, by);
                let negative = self.0.ins().ineg(a);
                self.0.ins().select(negates, negative, quotient)
            } else {
                self.0.ins().srem(a, by)
            }
        } else if op == Op::Div {
            self.0.ins().udiv(a, by)
        } else {
            self.0.ins().urem(a, by)
        };
        let result = self.0.ins().select(is_zero, zero, result);
        self.masked(result, width)
    }

    /// A shift by any number of bits.
    fn shift(&mut self, op: Op, width: u32, a: Value, by: Value) -> Value {
        let limit = self.number(u64::from(width));
        let fits = self.0.ins().icmp(IntCC::UnsignedLessThan, by, limit);
        if op == Op::Sar {
            let most = self.number(u64::from(width - 1));
            let by = self.0.ins().select(fits, by, most);
            let a = self.extended(a, width);
            let shifted = self.0.ins().sshr(a, by);
            return self.masked(shifted, width);
        }
        let shifted = if op == Op::Shl {
            let shifted = self.0.ins().ishl(a, by);
            self.masked(shifted, width)
        } else {
            self.0.ins().ushr(a, by)
        };
        let zero = self.number(0);
        self.0.ins().select(fits, shifted, zero)
    }
    /// Reads a word of a memory by its address, which has `width` bits; 0 beyond the memory's end.
    pub fn read(&mut self, base: Value, size: u64, address: Value, width: u32) -> Value {
        let zero = self.number(0);
        let fits = (width >= 64 || size >> width == 0).then(|| {
            let size = self.number(size);
            self.0.ins().icmp(IntCC::UnsignedLessThan, address, size)
        });
        let word = match fits {
            Some(fits) => self.0.ins().select(fits, address, zero),
            None => address,
        };
        let offset = self.0.ins().ishl_imm(word, 3);
        let at = self.0.ins().iadd(base, offset);
        let value = self.load(at, 0);
        match fits {
            Some(fits) => self.0.ins().select(fits, value, zero),
            None => value,
        }
    }
}
