//! The text of loops of which iterations overlap.
//!
//! Owns what of that is the same however often one starts: where new cells, groups and statements come, and what goes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlId;
use petal_program::tree::{GroupRef, View};
use petal_table::listed;

use super::new::New;
use super::{Loop, Scope};
use crate::proof::Assignment;
use crate::rewrites::{Certainty, Edit, Rewrite, RewriteKind};

/// Why a register may have a word for another one.
const SAME_WORDS: &str = "; what a register has from the iteration before is the word at that address, whatever all cells hold";

/// The statements of which a new group has parts, and all that it assigns.
pub(super) type Group<'a> = (Vec<View<'a>>, Vec<Assignment>);

/// Where new groups come, and what their lines begin with.
pub(super) struct Place<'a> {
    span: Range<usize>,
    pub indent: &'a str,
}

impl Scope<'_> {
    /// The group of the condition of a loop, if nothing else has it.
    fn condition_of(&self, of: &Loop<'_>) -> Option<Range<usize>> {
        let group = of.view.comb_group()?;
        let name = group.borrow().name();
        let mut uses = 0;
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            uses += usize::from(
                view.comb_group()
                    .is_some_and(|of| of.borrow().name() == name),
            );
        });
        let group = group.borrow();
        self.span(&group.attributes).filter(|_| uses == 1)
    }

    /// What is done besides: that steps run once before a loop, and that registers have words for others.
    pub(super) fn besides(&self, of: &Loop<'_>) -> Vec<String> {
        let heads = of.before.iter();
        let heads = heads.map(|step| self.text.head(step.span.clone()));
        let heads: Vec<String> = heads.map(|head| format!("`{head}`")).collect();
        let once = (!heads.is_empty()).then(|| format!("run {} once before it", listed(&heads)));
        let taken = of.ahead.iter().map(|ahead| {
            let names = |which: usize| {
                let names = ahead.registers.iter();
                let names: Vec<String> = names.map(|of| format!("`{}`", of[which])).collect();
                listed(&names)
            };
            let gets = if ahead.registers.len() == 1 {
                "gets"
            } else {
                "get"
            };
            format!(
                "take what {} {gets} from {} of the iteration before",
                names(0),
                names(1)
            )
        });
        once.into_iter().chain(taken).collect()
    }

    /// Where the first of the groups of a loop stands, in the place of which there are new ones.
    pub(super) fn place_of(&self, of: &Loop<'_>) -> Option<Place<'_>> {
        let first = &of.steps.first()?.group;
        let span = self.span_of(first)?;
        let indent = self.text.indent(span.start);
        Some(Place { span, indent })
    }

    /// What declares new cells, each behind another one; `None` if two of them or of the new groups have the same name.
    pub(super) fn declared<'a>(
        &self,
        of: &'a Loop<'_>,
        new: impl Iterator<Item = &'a New>,
        groups: &[&str],
    ) -> Option<Vec<Edit>> {
        let ahead = of.ahead.iter().map(|ahead| &*ahead.group);
        let mut names: BTreeSet<ir::Id> = ahead
            .chain(groups.iter().copied())
            .map(ir::Id::from)
            .collect();
        of.new
            .iter()
            .chain(new)
            .map(|new| {
                names.insert(new.name()).then_some(())?;
                let declared = self.span(&new.behind.borrow().attributes)?;
                let text = format!("{} = {};", new.name(), new.of);
                Some(self.text.behind(&declared, &text))
            })
            .collect()
    }

    /// What has new groups instead of those of a loop. What something else runs stays.
    pub(super) fn in_place_of_groups(
        &self,
        of: &Loop<'_>,
        place: &Place<'_>,
        text: &str,
    ) -> Option<Vec<Edit>> {
        let mut steps: BTreeMap<ControlId, &GroupRef> = BTreeMap::new();
        steps.extend(of.steps.iter().map(|step| (step.id, &step.group)));
        let body: Vec<ir::Id> = steps.values().map(|group| group.name()).collect();
        let mut groups: BTreeMap<ir::Id, &GroupRef> = BTreeMap::new();
        groups.extend(of.steps.iter().map(|step| (step.group.name(), &step.group)));
        let ahead = of.ahead.as_ref().map(|ahead| ahead.text(place.indent));
        let ahead = ahead.map_or_else(String::new, |text| format!("{text}\n{}", place.indent));
        let text = &(ahead + text);
        let condition = self.condition_of(of).into_iter();
        let gone = condition.map(|span| Edit::replace(self.text.with_space(span), ""));
        let mut edits: Vec<Edit> = gone.collect();
        for (name, group) in groups {
            let span = self.span_of(group)?;
            edits.push(match (span == place.span, self.runs_only_in(name, &body)) {
                (true, true) => Edit::replace(span, text),
                (true, false) => Edit::insert(span.start, format!("{text}\n{}", place.indent)),
                (false, true) => Edit::replace(self.text.with_space(span), ""),
                (false, false) => continue,
            });
        }
        Some(edits)
    }

    /// What has other statements instead of a loop, with its comments before them.
    pub(super) fn in_place_of(
        &self,
        of: &Loop<'_>,
        region: Range<usize>,
        steps: &[String],
    ) -> Edit {
        let mut comments = self.text.comments(region.clone());
        comments.extend(
            self.condition_of(of)
                .into_iter()
                .flat_map(|span| self.text.comments(span)),
        );
        let lead = if comments.is_empty() {
            self.text.lead(region.start)
        } else {
            format!("\n{}", self.text.indent(region.start))
        };
        let once = of.before.iter().map(|step| self.text.of(step.span.clone()));
        let ahead = of.ahead.as_ref().map(|ahead| format!("{};", ahead.group));
        let steps = ahead.iter().chain(steps).map(String::as_str);
        let all: Vec<&str> = comments.into_iter().chain(once).chain(steps).collect();
        Edit::replace(region, all.join(&lead))
    }

    /// An edit that makes iterations overlap. `first` is the group that comes first then, with what else is not certain of it, and `same` says why what is found is the
    /// same, where that needs more than that steps stay in their order.
    pub(super) fn overlapped(
        &self,
        of: &Loop<'_>,
        what: String,
        (first, doubt): (Group<'_>, Option<&str>),
        same: Option<&str>,
        edits: Vec<Edit>,
    ) -> Option<Rewrite> {
        let ahead = of.ahead.iter();
        let ahead = ahead.map(|ahead| (ahead.views.clone(), ahead.assignments()));
        let groups: Vec<Group<'_>> = ahead.chain([first]).collect();
        let place = (of.seq, &*of.earlier());
        let come_first = self
            .again
            .groups_come_first(self.component, place, &groups, self.ends);
        let doubt = come_first.or(doubt);
        let certainty = match (doubt, same) {
            (Some(doubt), _) => (Certainty::Checked, doubt.to_owned()),
            (None, Some(same)) if of.certainty.0 == Certainty::Proved => {
                (Certainty::Proved, same.to_owned())
            }
            (None, _) => of.certainty.clone(),
        };
        let certainty = match (certainty, &of.ahead) {
            ((Certainty::Proved, why), Some(_)) => {
                (Certainty::Proved, format!("{why}{SAME_WORDS}"))
            }
            (certainty, _) => certainty,
        };
        Some(self.rewrite(
            RewriteKind::PipelinedLoop,
            vec![of.ids()],
            self.statement(of.view)?,
            what,
            certainty,
            edits,
        ))
    }
}
