//! What the Model Context Protocol makes of JSON-RPC: in which version a request is, and how it is answered.
//!
//! Knows no tools.

use serde_json::{Map, Value, json};

use crate::json_rpc::{self, Problem};

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

const UNSUPPORTED_VERSION: i64 = -32022;

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
            let message = format!("unsupported protocol version {version}");
            let data = json!({ "supported": [BY_REQUEST], "requested": version });
            return Err(Problem::new(UNSUPPORTED_VERSION, message).with(data));
        }
        Ok(Self::ByRequest)
    }

    /// The answer to the request `id`.
    pub fn answer(self, id: &Value, mut result: Value) -> Value {
        if self == Self::ByRequest {
            result["resultType"] = "complete".into();
            result["_meta"] = json!({ SERVER_KEY: server() });
        }
        json_rpc::answer(id, result)
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
    let params = json!({ "progressToken": token, "progress": seconds, "message": message });
    json_rpc::notification("notifications/progress", params)
}

/// What the client wants to know the progress of this request by, if it does.
pub fn progress_token(params: &Map<String, Value>) -> Option<Value> {
    let token = params.get("_meta")?.get("progressToken")?;
    (token.is_string() || token.is_number()).then(|| token.clone())
}
