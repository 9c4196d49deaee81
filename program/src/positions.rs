//! Who may use the Calyx parser's table of positions: it is one for the whole process, and the crates
//! that own it do not lock it. Who parses writes to it, who compiles reads it.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static TABLE: RwLock<()> = RwLock::new(());

/// Waits until no other thread parses or compiles with this crate, and keeps them from it as long as
/// the result lives. For those who call the Calyx parser by themselves beside this crate, which does
/// it where it parses; a thread that holds the result must not call this crate.
pub fn parsing() -> RwLockWriteGuard<'static, ()> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no other thread parses, and keeps them from it as long as the result lives.
pub fn compiling() -> RwLockReadGuard<'static, ()> {
    TABLE.read().unwrap_or_else(PoisonError::into_inner)
}
