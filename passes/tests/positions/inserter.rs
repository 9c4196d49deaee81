//! Puts positions into a program.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use calyx_frontend::NumAttr;
use calyx_frontend::ast::{ComponentDef, Control, NamespaceDef};
use calyx_utils::{GPosIdx, WithPos as _};
use petal_passes::parsing;

/// A Calyx program with positions, and the lines that these name: of the control nodes in preorder, of the cells
/// and of the groups, by component.
#[derive(Default)]
pub struct Positioned {
    pub text: String,
    pub control: BTreeMap<String, Vec<Vec<u32>>>,
    pub cells: BTreeMap<(String, String), Vec<u32>>,
    pub groups: BTreeMap<(String, String), Vec<u32>>,
    pub components: BTreeMap<String, Vec<u32>>,
}

/// Puts positions into a program.
struct Inserter<'a> {
    text: &'a str,
    /// What to put where.
    inserted: Vec<(usize, String)>,
    line: u32,
    result: Positioned,
}

impl Inserter<'_> {
    /// One or two lines that nothing else has.
    fn lines(&mut self) -> Vec<u32> {
        let count = 1 + self.line * 7 % 3 / 2;
        let lines = (self.line..self.line + count).collect();
        self.line += count;
        lines
    }

    /// Before the thing at `position`.
    fn before(&mut self, position: GPosIdx) -> Option<Vec<u32>> {
        let (_, start, _) = position.into_option()?.get_location();
        let lines = self.lines();
        let ids: Vec<String> = lines
            .iter()
            .map(|line| format!("{}", line + 1000))
            .collect();
        let other = if self.line.is_multiple_of(5) {
            "@other{1,2}\n"
        } else {
            ""
        };
        self.inserted
            .push((start, format!("{other}@pos{{{}}} ", ids.join(", "))));
        Some(lines)
    }

    /// In angle brackets behind the name of the thing at `position`.
    fn behind(&mut self, position: GPosIdx, name: &str) -> Option<Vec<u32>> {
        let (_, start, end) = position.into_option()?.get_location();
        let of_name = |c: char| c.is_ascii_alphanumeric() || "_-'".contains(c);
        let thing = &self.text[start..end];
        let keyword = thing.find("component").or(thing.find("group"))?;
        let keyword = keyword + thing[keyword..].find(char::is_whitespace)?;
        let at = keyword + thing[keyword..].find(name)?;
        let rest = &thing[at + name.len()..];
        assert!(!rest.starts_with(of_name));
        let lines = self.lines();
        let ids: Vec<String> = lines
            .iter()
            .map(|line| format!("{}", line + 1000))
            .collect();
        let set = format!("\"pos\"={{{}}}", ids.join(","));
        let at = start + at + name.len();
        self.inserted.push(if rest.starts_with('<') {
            (at + 1, format!("{set}, "))
        } else {
            (at, format!("<{set}>"))
        });
        Some(lines)
    }

    fn component(&mut self, component: &ComponentDef) {
        let name = component.name.to_string();
        let lines = self
            .behind(component.attributes.copy_span(), &name)
            .unwrap();
        self.result.components.insert(name.clone(), lines);
        for cell in &component.cells {
            let lines = self.before(cell.attributes.copy_span()).unwrap();
            let key = (name.clone(), cell.name.to_string());
            self.result.cells.insert(key, lines);
        }
        let groups = component
            .groups
            .iter()
            .map(|group| (group.name, &group.attributes));
        let statics = component.static_groups.iter();
        let statics = statics.map(|group| (group.name, &group.attributes));
        for (group, attributes) in groups.chain(statics) {
            let lines = self.behind(attributes.copy_span(), group.as_ref()).unwrap();
            self.result
                .groups
                .insert((name.clone(), group.to_string()), lines);
        }
        let mut control = Vec::new();
        self.control(&component.control, &mut control);
        self.result.control.insert(name, control);
    }

    fn control(&mut self, control: &Control, lines: &mut Vec<Vec<u32>>) {
        let attributes = control.get_attributes();
        if let Some(own) = self.before(attributes.copy_span()) {
            // An empty statement is no node, unless it waits for others.
            if !matches!(control, Control::Empty { .. }) || attributes.has(NumAttr::Sync) {
                lines.push(own);
            }
        }
        match control {
            Control::Seq { stmts, .. }
            | Control::Par { stmts, .. }
            | Control::StaticSeq { stmts, .. }
            | Control::StaticPar { stmts, .. } => {
                for control in stmts {
                    self.control(control, lines);
                }
            }
            Control::If {
                tbranch, fbranch, ..
            }
            | Control::StaticIf {
                tbranch, fbranch, ..
            } => {
                self.control(tbranch, lines);
                self.control(fbranch, lines);
            }
            Control::While { body, .. }
            | Control::Repeat { body, .. }
            | Control::StaticRepeat { body, .. } => self.control(body, lines),
            _ => {}
        }
    }
}

pub fn positioned(text: &str) -> Option<Positioned> {
    let _alone = parsing();
    let namespace = NamespaceDef::construct_from_str(text).ok()?;
    let mut inserter = Inserter {
        text,
        inserted: Vec::new(),
        line: 1,
        result: Positioned::default(),
    };
    for component in &namespace.components {
        inserter.component(component);
    }
    let Inserter {
        mut inserted,
        line,
        mut result,
        ..
    } = inserter;
    inserted.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    text.clone_into(&mut result.text);
    for (at, inserted) in inserted {
        result.text.insert_str(at, &inserted);
    }
    result
        .text
        .push_str("\nsourceinfo #{\nFILES\n  3: dir/front end.py\nPOSITIONS\n");
    for line in 1..line {
        writeln!(result.text, "  {}: 3 {line}:{}", line + 1000, line + 2).unwrap();
    }
    result.text.push_str("}#\n");
    Some(result)
}
