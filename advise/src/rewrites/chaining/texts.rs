//! What stands in groups that become one, and what each is given there.

use std::collections::BTreeMap;
use std::ops::Range;

use calyx_ir as ir;
use petal_program::lexer::Kind;
use petal_program::tree::GroupRef;

use super::super::{Edit, Scope};
use super::{Body, Row};

/// What stands in a group, and what of it becomes otherwise.
pub(super) struct Written {
    inner: Range<usize>,
    edits: Vec<Edit>,
    /// What it is done with: its name, and the whole.
    done: Option<[Range<usize>; 2]>,
}

/// What a port is given.
pub(super) struct Assigned {
    /// Word for word, with what goes into registers.
    given: String,
    /// The group in the row.
    step: usize,
    whole: Range<usize>,
}

/// An assignment as it is written.
struct Line {
    to: String,
    from: Range<usize>,
    whole: Range<usize>,
}

impl Scope<'_> {
    /// What stands in a group when it is a part of another one, which is done with it or not.
    pub(super) fn becomes(&self, written: &Written, done_of: Option<&String>) -> String {
        let mut edits = written.edits.clone();
        edits.extend(written.done.clone().map(|[name, whole]| match done_of {
            Some(of) => Edit::replace(name, of.clone()),
            None => Edit::replace(self.text.with_space(whole), ""),
        }));
        edits.sort_by_key(|edit| edit.range.start);
        let mut text = String::new();
        let mut at = written.inner.start;
        for edit in edits {
            // What is left out is not changed, too; what is left out next to it begins with the same space.
            if edit.range.end > at {
                text += self.text.of(at..edit.range.start.max(at));
                text += &edit.text;
                at = edit.range.end;
            }
        }
        text += self.text.of(at..written.inner.end.max(at));
        text.trim().to_owned()
    }

    /// What is written in a group, with what those before it in the row give in the place of their registers.
    pub(super) fn read(&self, row: &mut Row, group: &GroupRef, body: &Body) -> Option<Written> {
        let span = self.span_of(group)?;
        let inner = self.text.body(span.clone())? + 1..span.end.checked_sub(1)?;
        let name = group.name();
        let dones = self.text.dones(inner.clone(), name.as_ref());
        let mut written = Written {
            inner: inner.clone(),
            edits: Vec::new(),
            done: dones.first().cloned(),
        };
        let mut own: BTreeMap<String, Vec<Assigned>> = BTreeMap::new();
        for line in self.lines(inner)? {
            let is_done = |[_, whole]: &[Range<usize>; 2]| whole.start == line.whole.start;
            if !dones.iter().any(is_done) {
                let forwarded = self.forwarded(row, body, &line.from)?;
                own.entry(line.to).or_default().push(Assigned {
                    given: self.with(line.from, &forwarded),
                    step: row.texts.len(),
                    whole: line.whole,
                });
                written.edits.extend(forwarded);
            }
        }
        let mut left_out = Vec::new();
        for (to, assigned) in &own {
            let Some(known) = row.assigned.get(to) else {
                continue;
            };
            let given = |of: &Assigned| of.given.clone();
            let is_same = known.iter().map(given).eq(assigned.iter().map(given));
            let is_written = |cell: &ir::Id| {
                let ports = [format!("{cell}.in"), format!("{cell}.write_en")];
                ports.contains(to) && row.body.written.contains(cell)
            };
            // The same is left where it is last; of what a register is given, only the last counts.
            if !is_same && !body.written.iter().any(is_written) {
                return None;
            }
            left_out.extend(known.iter().map(|of| (of.step, of.whole.clone())));
        }
        for (step, whole) in left_out {
            let edit = Edit::replace(self.text.with_space(whole), "");
            row.texts[step].edits.push(edit);
        }
        row.assigned.extend(own);
        Some(written)
    }

    /// The edits by which an assignment gets what goes into registers, where it reads these; `None` if it can't.
    fn forwarded(&self, row: &Row, body: &Body, from: &Range<usize>) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        for cell in body
            .read
            .keys()
            .filter(|cell| row.body.written.contains(cell))
        {
            for named in self.text.references(from.clone(), cell.as_ref()) {
                let output = self
                    .text
                    .port(named.start..from.end, cell.as_ref(), "out")?;
                let [Assigned { given, .. }] = row.assigned.get(&format!("{cell}.in"))?.as_slice()
                else {
                    return None;
                };
                // A guard takes no number, and a register no guard.
                let is_number = given.starts_with(|first: char| first.is_ascii_digit());
                let is_plain = !given.contains(['?', '|', '&', '!', '=', '<', '>']);
                let guards = body.guarding.contains(cell);
                if output.start != named.start || !is_plain || is_number && guards {
                    return None;
                }
                edits.push(Edit::replace(output, given.clone()));
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        Some(edits)
    }

    /// A part of the text word for word, with edits in the order of the text.
    fn with(&self, range: Range<usize>, edits: &[Edit]) -> String {
        let mut words = Vec::new();
        for token in self.text.tokens(range) {
            let edit = edits.iter().find(|edit| edit.range.contains(&token.start));
            match edit {
                Some(edit) if edit.range.start == token.start => words.push(edit.text.as_str()),
                Some(_) => {}
                None => words.push(self.text.of(token.start..token.end)),
            }
        }
        words.concat()
    }

    /// The assignments in a group; `None` if something else is there, too.
    fn lines(&self, inner: Range<usize>) -> Option<Vec<Line>> {
        let mut lines = Vec::new();
        let mut rest = self.text.tokens(inner);
        while let Some(first) = rest.first() {
            let end = rest
                .iter()
                .position(|token| token.kind == Kind::Mark(b';'))?;
            let equal = rest
                .iter()
                .position(|token| token.kind == Kind::Mark(b'='))?;
            let to = rest[..equal].iter();
            if equal + 1 >= end || { to.clone() }.any(|token| token.kind == Kind::Mark(b'@')) {
                return None;
            }
            lines.push(Line {
                to: to
                    .map(|token| self.text.of(token.start..token.end))
                    .collect(),
                from: rest[equal + 1].start..rest[end].start,
                whole: first.start..rest[end].end,
            });
            rest = &rest[end + 1..];
        }
        Some(lines)
    }
}
