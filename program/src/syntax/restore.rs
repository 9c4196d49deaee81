//! Gives a parsed program what its [translation](super::Translation) kept aside: the names and constants
//! of cells, and the user's file as the place of everything.
//!
//! Owns the walk through the syntax tree. Knows nothing of the text.

use calyx_frontend::ast::{Cell, ComponentDef, Control};
use calyx_frontend::{Attribute, Attributes, NamespaceDef};
use calyx_utils::{FileIdx, Id, WithPos as _};

use super::Translation;

/// The primitive of a floating-point constant, which the front ends write with a decimal number.
pub(super) const FLOAT_CONSTANT: &str = "std_float_const";

/// The primitive of constants.
const CONSTANT: &str = "std_const";

/// What a program has that the passes of Calyx 0.7.1 ignore, although it may change cycles.
#[derive(Debug, Default)]
pub(crate) struct Ignored {
    /// The offsets of every `seq` with `@fast`.
    pub fast: Vec<usize>,
}

/// Restores the program that the parser made of `translation`. `file` is the user's file, with its text, in
/// the compiler's table.
pub(crate) fn restore(
    namespace: &mut NamespaceDef,
    translation: &Translation,
    file: FileIdx,
) -> Ignored {
    let mut restorer = Restorer {
        translation,
        file,
        ignored: Ignored::default(),
    };
    for component in &mut namespace.components {
        restorer.component(component);
    }
    let primitives = namespace.externs.iter_mut();
    for primitive in primitives.flat_map(|(_, primitives)| primitives) {
        restorer.place(&mut primitive.attributes);
    }
    restorer.ignored
}

struct Restorer<'a> {
    translation: &'a Translation,
    file: FileIdx,
    ignored: Ignored,
}

impl Restorer<'_> {
    /// Moves a place to the user's file. Returns the offset at which it begins.
    fn place(&self, attributes: &mut Attributes) -> Option<usize> {
        let (_, start, end) = attributes.copy_span().into_option()?.get_location();
        let position = petal_compiler::position(self.file, start, end);
        *attributes = std::mem::take(attributes).add_span(position);
        Some(start)
    }

    fn component(&mut self, component: &mut ComponentDef) {
        self.place(&mut component.attributes);
        for cell in &mut component.cells {
            self.cell(cell);
        }
        for group in &mut component.groups {
            self.place(&mut group.attributes);
            for wire in &mut group.wires {
                self.place(&mut wire.attributes);
            }
        }
        for group in &mut component.static_groups {
            self.place(&mut group.attributes);
            for wire in &mut group.wires {
                self.place(&mut wire.attributes);
            }
        }
        for wire in &mut component.continuous_assignments {
            self.place(&mut wire.attributes);
        }
        self.control(&mut component.control);
    }

    fn cell(&self, cell: &mut Cell) {
        let start = self.place(&mut cell.attributes);
        let kept = start.and_then(|start| self.translation.cells.get(&start));
        if let Some(name) = kept.and_then(|kept| kept.name.as_deref()) {
            cell.name = Id::new(name);
        }
        if let (Some(bits), &[_, width, _]) = (
            kept.and_then(|kept| kept.constant),
            cell.prototype.params.as_slice(),
        ) {
            cell.prototype.name = Id::new(CONSTANT);
            cell.prototype.params = vec![width, bits];
        }
    }

    fn control(&mut self, control: &mut Control) {
        let mut waiting = vec![control];
        while let Some(node) = waiting.pop() {
            let is_seq = matches!(node, Control::Seq { .. });
            let (Control::Seq { attributes, .. }
            | Control::Par { attributes, .. }
            | Control::If { attributes, .. }
            | Control::While { attributes, .. }
            | Control::Repeat { attributes, .. }
            | Control::Enable { attributes, .. }
            | Control::Invoke { attributes, .. }
            | Control::Empty { attributes }
            | Control::StaticSeq { attributes, .. }
            | Control::StaticPar { attributes, .. }
            | Control::StaticIf { attributes, .. }
            | Control::StaticRepeat { attributes, .. }
            | Control::StaticInvoke { attributes, .. }) = node;
            let start = self.place(attributes);
            if is_seq && attributes.has(Attribute::Unknown(Id::new("fast"))) {
                self.ignored.fast.extend(start);
            }
            match node {
                Control::Seq { stmts, .. }
                | Control::Par { stmts, .. }
                | Control::StaticSeq { stmts, .. }
                | Control::StaticPar { stmts, .. } => waiting.extend(stmts.iter_mut().rev()),
                Control::If {
                    tbranch, fbranch, ..
                }
                | Control::StaticIf {
                    tbranch, fbranch, ..
                } => waiting.extend([&mut **fbranch, &mut **tbranch]),
                Control::While { body, .. }
                | Control::Repeat { body, .. }
                | Control::StaticRepeat { body, .. } => waiting.push(body),
                Control::Enable { .. }
                | Control::Invoke { .. }
                | Control::StaticInvoke { .. }
                | Control::Empty { .. } => {}
            }
        }
    }
}
