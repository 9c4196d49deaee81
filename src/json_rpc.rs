//! JSON-RPC: what a message asks for, and how it is answered.
//!
//! Knows neither how messages come and go, nor what can be asked.

use serde_json::{Map, Value, json};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

/// What a message says.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification {
        /// What it tells.
        method: String,
        /// Of what.
        params: Map<String, Value>,
    },
}

/// What a client asks.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// What its answer is known by: a text or number.
    pub id: Value,
    /// What is to be done.
    pub method: String,
    /// With what: an object, if the method is known.
    pub params: Value,
}

/// What is wrong with a request.
#[derive(Debug, PartialEq)]
pub struct Problem {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Problem {
    /// It has this code.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same with data for programs.
    pub fn with(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    /// It makes no sense at this time.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// Something in it is not as it must be.
    pub fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// What was to answer it has panicked.
    pub fn panicked() -> Self {
        let message = "petal panicked, which is a bug; standard error has more";
        Self::new(INTERNAL_ERROR, message)
    }

    /// Nobody here does such a thing.
    pub fn method(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("there is no method `{method}`"))
    }

    /// The answer to the request `id`.
    pub fn answer(self, id: &Value) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }
}

/// What parameters have to be.
///
/// # Errors
/// If they are not.
pub fn object(params: &Value) -> Result<&Map<String, Value>, Problem> {
    let problem = || Problem::params("`params` is no object");
    params.as_object().ok_or_else(problem)
}

/// The answer to the request `id` if all went well.
pub fn answer(id: &Value, result: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id });
    message["result"] = result;
    message
}

/// What is told, and wants no answer.
pub fn notification(method: &str, params: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    message["params"] = params;
    message
}

/// What a text says; `None` if it is empty, or an answer, since nothing was asked.
///
/// # Errors
/// If it is no message; the answer to that.
pub fn message(line: &[u8]) -> Result<Option<Message>, Value> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let refused = |problem: Problem, id: &Value| Err(problem.answer(id));
    let message = match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => message,
        Ok(_) => {
            let problem = Problem::request("a message is an object");
            return refused(problem, &Value::Null);
        }
        Err(error) => {
            let problem = Problem::new(PARSE_ERROR, format!("a message is no JSON: {error}"));
            return refused(problem, &Value::Null);
        }
    };
    let id = message.get("id");
    let known = id.filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    let shown = known.unwrap_or(&Value::Null);
    if message.get("jsonrpc") != Some(&"2.0".into()) {
        return refused(Problem::request("`jsonrpc` is not \"2.0\""), shown);
    }
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        if message.contains_key("result") || message.contains_key("error") {
            return Ok(None);
        }
        return refused(Problem::request("there is no `method`"), shown);
    };
    let method = method.to_owned();
    // Some clients write that there are none.
    let params = message.get("params").filter(|params| !params.is_null());
    let params = params.cloned().unwrap_or_else(|| json!({}));
    Ok(Some(match (id, known) {
        (None, _) => match params {
            Value::Object(params) => Message::Notification { method, params },
            _ => return Ok(None),
        },
        (_, Some(id)) => Message::Request(Request {
            id: id.clone(),
            method,
            params,
        }),
        _ => return refused(Problem::request("`id` is no text or whole number"), shown),
    }))
}
