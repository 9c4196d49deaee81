//! The header of a VCD file: its scopes, and the identifier codes of the signals in them.

use vcd::{IdCode, Scope, ScopeItem, Var};

use crate::wanted::Scopes;

/// The signals of a header.
pub(super) fn scopes(items: &[ScopeItem]) -> Scopes<IdCode> {
    let mut scopes = Scopes::default();
    add(items, &mut scopes);
    scopes
}

fn add(items: &[ScopeItem], scopes: &mut Scopes<IdCode>) {
    for item in items {
        match item {
            ScopeItem::Scope(Scope {
                identifier, items, ..
            }) => {
                scopes.enter(identifier.clone());
                add(items, scopes);
                scopes.leave();
            }
            ScopeItem::Var(Var {
                reference,
                code,
                size,
                ..
            }) => scopes.declare(reference.clone(), *code, *size),
            _ => {}
        }
    }
}
