//! JSON-RPC, and what the Model Context Protocol makes of it: what a line asks for, in which version, and how it is answered.
//!
//! Knows no tools.

use serde_json::{Map, Value, json};

/// The version in which each request says its version by itself.
pub const BY_REQUEST: &str = "2026-07-28";

/// The version before, which client and server agree on by `initialize`.
pub const BY_HANDSHAKE: &str = "2025-11-25";

/// Where a request says its version, and what its client can do.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Where an answer says what server gave it.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// How long a client may keep what never changes while the server runs, in milliseconds.
const KEPT_MS: u64 = 3_600_000;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;

/// What a line says.
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
    /// With what.
    pub params: Map<String, Value>,
}

/// What is wrong with a request.
#[derive(Debug, PartialEq)]
pub struct Problem {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Problem {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
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

/// What a line says; `None` if it is empty, or an answer, since nothing was asked.
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
            let problem = Problem::request("a line has one message, which is an object");
            return refused(problem, &Value::Null);
        }
        Err(error) => {
            let problem = Problem::new(PARSE_ERROR, format!("a line is no JSON: {error}"));
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
    let params = match message.get("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(_) if id.is_none() => return Ok(None),
        Some(_) => return refused(Problem::params("`params` is no object"), shown),
    };
    Ok(Some(match (id, known) {
        (None, _) => Message::Notification { method, params },
        (_, Some(id)) => Message::Request(Request {
            id: id.clone(),
            method,
            params,
        }),
        _ => return refused(Problem::request("`id` is no text or whole number"), shown),
    }))
}

/// The version of the protocol that a request is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// [`BY_REQUEST`].
    ByRequest,
    /// [`BY_HANDSHAKE`].
    ByHandshake,
}

impl Version {
    /// That of a request with these parameters.
    ///
    /// # Errors
    /// If it says another one, or not all that such a request has to say.
    pub fn of(params: &Map<String, Value>) -> Result<Self, Problem> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let Some((meta, version)) = meta.and_then(|meta| Some((meta, meta.get(VERSION_KEY)?)))
        else {
            return Ok(Self::ByHandshake);
        };
        let Some(version) = version.as_str() else {
            return Err(Problem::params(format!("`{VERSION_KEY}` is no text")));
        };
        if !meta.get(CAPABILITIES_KEY).is_some_and(Value::is_object) {
            return Err(Problem::params(format!(
                "`_meta` has no object `{CAPABILITIES_KEY}`"
            )));
        }
        if version != BY_REQUEST {
            return Err(Problem {
                data: Some(json!({ "supported": [BY_REQUEST], "requested": version })),
                ..Problem::new(
                    UNSUPPORTED_VERSION,
                    format!("unsupported protocol version {version}"),
                )
            });
        }
        Ok(Self::ByRequest)
    }

    /// The answer to the request `id`.
    pub fn answer(self, id: &Value, mut result: Value) -> Value {
        if self == Self::ByRequest {
            result["resultType"] = "complete".into();
            result["_meta"] = json!({ SERVER_KEY: server() });
        }
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    }

    /// The answer to the request `id`, which is the same as long as the server runs.
    pub fn lasting_answer(self, id: &Value, mut result: Value) -> Value {
        if self == Self::ByRequest {
            result["ttlMs"] = KEPT_MS.into();
            result["cacheScope"] = "public".into();
        }
        self.answer(id, result)
    }
}

/// What this server is.
pub fn server() -> Value {
    json!({ "name": "petal", "version": env!("CARGO_PKG_VERSION") })
}

/// Tells how far a request has come.
pub fn progress(token: &Value, seconds: u64, message: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": { "progressToken": token, "progress": seconds, "message": message },
    })
}

/// What the client wants to know the progress of this request by, if it does.
pub fn progress_token(params: &Map<String, Value>) -> Option<Value> {
    let token = params.get("_meta")?.get("progressToken")?;
    (token.is_string() || token.is_number()).then(|| token.clone())
}
