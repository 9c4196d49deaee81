//! Typed indices into the tables of the metadata. A handle is only meaningful in the table it was
//! made for: file handles in the whole metadata, all others but components in one component.

use serde::{Deserialize, Serialize};

/// A typed index into a table.
pub trait Id: Copy {
    /// The handle of the `index`-th entry.
    fn from_index(index: usize) -> Self;
    /// The position of the entry in its table.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl Id for $name {
            fn from_index(index: usize) -> Self {
                // A table of 2^32 entries would not fit in memory.
                Self(u32::try_from(index).expect("tables have fewer than 2^32 entries"))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A source file.
    FileId,
    /// A component, in [`crate::Metadata::components`].
    ComponentId,
    /// A cell of a component, in [`crate::Component::cells`].
    CellId,
    /// A group of a component, in [`crate::Component::groups`].
    GroupId,
    /// A control node of a component, in [`crate::Component::control`].
    ControlId,
    /// A way in which a group runs, in [`crate::Component::runs`].
    RunId,
    /// A call, in [`crate::Component::calls`].
    CallId,
    /// A compilation group, in [`crate::Component::compiled`].
    CompiledId,
    /// A control register, in [`crate::Component::registers`].
    RegisterId,
    /// A par thread, in [`crate::Component::threads`].
    ThreadId,
}
