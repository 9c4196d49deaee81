//! What is taken from the parameters of a message.

use serde_json::Value;

use super::text::Position;
use crate::json_rpc::Problem;

/// A text in them.
pub fn text<'a>(params: &'a Value, path: &str) -> Result<&'a str, Problem> {
    let text = params.pointer(path).and_then(Value::as_str);
    text.ok_or_else(|| Problem::params(format!("`{}` is no text", &path[1..])))
}

/// A position in them.
pub fn position(params: &Value, path: &str) -> Result<Position, Problem> {
    let number = |name: &str| {
        let number = params.pointer(&format!("{path}/{name}"))?.as_u64()?;
        // No document has as many.
        usize::try_from(number.min(u64::from(u32::MAX))).ok()
    };
    let position = number("line").zip(number("character"));
    position.ok_or_else(|| Problem::params(format!("`{}` is no position", &path[1..])))
}

/// The lines of a range in them, the last one too.
pub fn lines(params: &Value) -> Result<std::ops::RangeInclusive<usize>, Problem> {
    let from = position(params, "/range/start")?;
    let to = position(params, "/range/end")?;
    Ok(from.0..=to.0)
}
