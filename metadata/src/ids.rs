//! Typed indices into the tables of the metadata. An index is only meaningful in the table that it was
//! made for: those of files, positions and components in the whole metadata, all others in one component.

use serde::{Deserialize, Serialize};

/// A typed index into a table.
pub trait Id: Copy {
    /// The handle of the `index`-th entry.
    fn from_index(index: usize) -> Self;
    /// The position of the entry in its table.
    fn index(self) -> usize;
}

/// Defines typed indices into tables: newtypes of a `u32` that implement [`Id`] and can be compared,
/// sorted and hashed.
///
/// ```
/// use petal_metadata::{Id as _, ids};
///
/// ids! {
///     /// A row of the table.
///     pub RowId,
/// }
/// assert_eq!(RowId::from_index(7).index(), 7);
/// ```
#[macro_export]
macro_rules! ids {
    ($($(#[$meta:meta])* $vis:vis $name:ident),* $(,)?) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis struct $name(u32);

        impl $crate::Id for $name {
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
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub FileId,
    /// A file of a front end, in [`crate::FrontEnd::files`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub FrontEndFileId,
    /// A place in a file of a front end, in [`crate::FrontEnd::positions`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub PositionId,
    /// A variable of a front end, in [`crate::FrontEnd::variables`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub VariableId,
    /// What holds variables, in [`crate::FrontEnd::holders`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub HolderId,
    /// A component, in [`crate::Metadata::components`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub ComponentId,
    /// A cell of a component, in [`crate::Component::cells`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub CellId,
    /// A group of a component, in [`crate::Component::groups`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub GroupId,
    /// A control node of a component, in [`crate::Component::control`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub ControlId,
    /// A way in which a group runs, in [`crate::Component::runs`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub GroupRunId,
    /// A call, in [`crate::Component::calls`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub CallId,
    /// A compilation group, in [`crate::Component::compiled`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub CompiledId,
    /// A control register, in [`crate::Component::registers`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub RegisterId,
    /// A par thread, in [`crate::Component::threads`].
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub ThreadId,
}
