//! The instructions of one operation on values of up to 64 bits.
//!
//! The results are those of [`Op::eval`], which computes wider ones and constants.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::compile::{FunctionCompiler, WORD};
use crate::graph::{NodeId, Op};

impl FunctionCompiler<'_, '_> {
    /// The lowest `width` bits of a value.
    fn masked(&mut self, value: Value, width: u32) -> Value {
        if width >= 64 {
            return value;
        }
        let mask = self.number((1 << width) - 1);
        self.builder.ins().band(value, mask)
    }

    /// A value of `width` bits with copies of its highest bit above.
    fn extended(&mut self, value: Value, width: u32) -> Value {
        let by = i64::from(64 - width);
        let shifted = self.builder.ins().ishl_imm(value, by);
        self.builder.ins().sshr_imm(shifted, by)
    }

    /// 1 if the condition holds, else 0.
    fn compare(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let bit = self.builder.ins().icmp(condition, a, b);
        self.builder.ins().uextend(WORD, bit)
    }

    /// An operation on values of up to 64 bits.
    pub fn operation(&mut self, op: Op, width: u32, operands: &[NodeId]) -> Value {
        let widths: Vec<u32> = operands
            .iter()
            .map(|&node| self.compiler.plan.graph.width(node))
            .collect();
        let args: Vec<Value> = operands.iter().map(|&node| self.value(node)).collect();
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        let ins = |function: &mut Self, act: &dyn Fn(&mut FunctionBuilder<'_>) -> Value| {
            let value = act(&mut function.builder);
            function.masked(value, width)
        };
        match op {
            Op::And => self.builder.ins().band(a, b),
            Op::Or => self.builder.ins().bor(a, b),
            Op::Xor => self.builder.ins().bxor(a, b),
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
            Op::Mux => self.builder.ins().select(a, b, args[2]),
            Op::Slice(low) if low >= 64 => self.number(0),
            Op::Slice(low) => ins(self, &|builder| builder.ins().ushr_imm(a, i64::from(low))),
            Op::Pad => a,
            Op::SignExtend => {
                let extended = self.extended(a, widths[0]);
                self.masked(extended, width)
            }
            Op::Cat => {
                let high = self.builder.ins().ishl_imm(a, i64::from(widths[1]));
                self.builder.ins().bor(high, b)
            }
            // Always by a helper.
            Op::Float(..) => unreachable!("floating point is computed by helpers"),
            Op::NotSqrt => {
                let builder = &mut self.builder;
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
        let is_zero = self.builder.ins().icmp(IntCC::Equal, b, zero);
        let signed = matches!(op, Op::SDiv | Op::SRem);
        let (a, b) = if signed {
            (self.extended(a, width), self.extended(b, width))
        } else {
            (a, b)
        };
        let by = self.builder.ins().select(is_zero, one, b);
        let result = if signed {
            // The least number by -1 would trap.
            let minus_one = self.number(u64::MAX);
            let negates = self.builder.ins().icmp(IntCC::Equal, by, minus_one);
            let by = self.builder.ins().select(negates, one, by);
            if op == Op::SDiv {
                let quotient = self.builder.ins().sdiv(a, by);
                let negative = self.builder.ins().ineg(a);
                self.builder.ins().select(negates, negative, quotient)
            } else {
                self.builder.ins().srem(a, by)
            }
        } else if op == Op::Div {
            self.builder.ins().udiv(a, by)
        } else {
            self.builder.ins().urem(a, by)
        };
        let result = self.builder.ins().select(is_zero, zero, result);
        self.masked(result, width)
    }

    /// A shift by any number of bits.
    fn shift(&mut self, op: Op, width: u32, a: Value, by: Value) -> Value {
        let limit = self.number(u64::from(width));
        let fits = self.builder.ins().icmp(IntCC::UnsignedLessThan, by, limit);
        if op == Op::Sar {
            let most = self.number(u64::from(width - 1));
            let by = self.builder.ins().select(fits, by, most);
            let a = self.extended(a, width);
            let shifted = self.builder.ins().sshr(a, by);
            return self.masked(shifted, width);
        }
        let shifted = if op == Op::Shl {
            let shifted = self.builder.ins().ishl(a, by);
            self.masked(shifted, width)
        } else {
            self.builder.ins().ushr(a, by)
        };
        let zero = self.number(0);
        self.builder.ins().select(fits, shifted, zero)
    }
}
