//! Reads trace files, and believes nothing in them: a handle that is not there, a tree that is none and runs
//! that do not add up are errors.

use std::io::{self, BufRead};

use petal_metadata::{CellId, ComponentId, ControlId, GroupId, GroupRunId, Id, RegisterId};

use super::repeats::{MAX_AGAIN, MAX_GUESSED, Repeats, Step};
use super::{
    AGAIN, CELL, CELL_BY_REFERENCE, CONDITION, CONTINUOUS, CONTROL, END, FIGURES, GAP, GROUP,
    GUESSED, INSTANCE, LATEST, MAGIC, OVERHEAD, PRIMITIVE, PRIMITIVE_BY_REFERENCE, RUN, TREE,
    TraceError, UPDATE, USEFUL, VERSION, WARNING, head,
};
use crate::again::{Again, Item};
use crate::blocks::{BlockError, BlockReader};
use crate::model::{
    Activity, CallTree, Charge, Cycle, Event, Gap, Instance, InstanceId, Node, Overhead, TreeId,
    Warning,
};

/// The limit of handles into the metadata, which whoever holds the metadata checks.
const ANY: usize = u32::MAX as usize;

const NOT_THERE: &str = "it refers to an entry that is not there";

/// Reads a Petal trace: an iterator over its events, the last of which is [`Event::End`].
#[derive(Debug)]
pub struct TraceReader<R> {
    input: BlockReader<R>,
    cycles: u64,
    instances: usize,
    trees: usize,
    repeats: Repeats,
    /// So many of the next steps are as guessed.
    guessed: u64,
    /// What comes again, the next time of it, and the next event of that time.
    again: Option<(Again, u64, usize)>,
    ended: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Opens a trace that was recorded for the metadata with this fingerprint.
    ///
    /// # Errors
    /// When `input` is not such a trace or can't be read.
    pub fn new(mut input: R, fingerprint: &str) -> Result<Self, TraceError> {
        let mut line = || -> Result<String, TraceError> {
            let mut bytes = Vec::new();
            // Longer than any line of the header, so that foreign files are not read whole.
            io::Read::take(&mut input, 200).read_until(b'\n', &mut bytes)?;
            if bytes.pop() != Some(b'\n') {
                return Err(TraceError::Foreign);
            }
            String::from_utf8(bytes).map_err(|_| TraceError::Foreign)
        };
        let magic = line()?;
        let version = magic.strip_prefix(MAGIC).ok_or(TraceError::Foreign)?;
        if version != VERSION {
            return Err(TraceError::Version {
                version: version.to_owned(),
            });
        }
        let recorded = line()?;
        if recorded != fingerprint {
            return Err(TraceError::OtherDesign {
                fingerprint: recorded,
                expected: fingerprint.to_owned(),
            });
        }
        Ok(Self {
            input: BlockReader::new(input, &head(fingerprint)),
            cycles: 0,
            instances: 0,
            trees: 0,
            repeats: Repeats::new(),
            guessed: 0,
            again: None,
            ended: false,
        })
    }

    /// The next event, or what comes again at once; `None` after the last one.
    #[inline]
    pub fn next_item(&mut self) -> Option<Result<Item, TraceError>> {
        if self.ended {
            return None;
        }
        let item = if self.guessed > 0 {
            self.guess().map(Item::Event)
        } else {
            self.read()
        };
        self.ended |= item.is_err();
        Some(item)
    }

    /// The latest steps come again.
    fn latest(&mut self) -> Result<Again, TraceError> {
        const NO_LOOP: &str = "nothing comes again, or too much";
        let (count, times) = (self.number()?, self.number()?);
        let all = count.checked_mul(times);
        if !all.is_some_and(|all| (1..=MAX_AGAIN).contains(&all)) {
            return Err(self.damaged(NO_LOOP));
        }
        let steps = usize::try_from(count)
            .ok()
            .and_then(|count| Some(self.repeats.latest(count)?.collect::<Vec<_>>()));
        let Some(steps) = steps else {
            return Err(self.damaged(NOT_THERE));
        };
        let mut cycles = 0u64;
        let events = steps.into_iter().map(|step| {
            let event = step.event(self.cycles.wrapping_add(cycles));
            if let Step::Run { cycles: more, .. } = step {
                cycles = cycles.saturating_add(more);
            }
            event
        });
        let events: Vec<Event> = events.collect();
        if cycles == 0 {
            return Err(self.damaged(NO_LOOP));
        }
        self.pass(cycles.saturating_mul(times))?;
        Ok(Again::new(events.into(), 0, cycles, times))
    }

    fn damaged(&self, problem: &'static str) -> TraceError {
        TraceError::Damaged {
            cycles: self.cycles,
            problem,
        }
    }

    fn byte(&mut self) -> Result<u8, TraceError> {
        self.input.byte().map_err(|error| match error {
            BlockError::Io(error) => error.into(),
            BlockError::End | BlockError::Cut => TraceError::Truncated {
                cycles: self.cycles,
            },
            BlockError::Changed => self.damaged("its checksum does not fit"),
        })
    }

    /// Makes sure that nothing follows.
    fn end(&mut self) -> Result<(), TraceError> {
        match self.input.byte() {
            Err(BlockError::End) => Ok(()),
            Err(BlockError::Io(error)) => Err(error.into()),
            _ => Err(self.damaged("something follows its end")),
        }
    }

    fn number(&mut self) -> Result<u64, TraceError> {
        // Nearly all are short, and whole in a block.
        let mut number = 0u64;
        for (at, byte) in self.input.rest().iter().take(9).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.input.skip(at + 1);
                return Ok(number);
            }
        }
        number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.damaged("a number is too large"))
    }

    fn id<I: Id>(&mut self, below: usize) -> Result<I, TraceError> {
        let number = self.number()?;
        match usize::try_from(number) {
            Ok(index) if index < below => Ok(I::from_index(index)),
            _ => Err(self.damaged(NOT_THERE)),
        }
    }

    fn text(&mut self) -> Result<String, TraceError> {
        let len = self.number()?;
        let mut bytes = Vec::new();
        for _ in 0..len {
            bytes.push(self.byte()?);
        }
        String::from_utf8(bytes).map_err(|_| self.damaged("a text is not UTF-8"))
    }

    fn activity(&mut self) -> Result<Activity, TraceError> {
        let kind = match self.number()? {
            USEFUL => return Ok(Activity::Useful),
            CONDITION => return Ok(Activity::Condition),
            code => usize::try_from(code - OVERHEAD)
                .ok()
                .and_then(|kind| Overhead::ALL.get(kind).copied())
                .ok_or_else(|| self.damaged("an overhead is of unknown kind"))?,
        };
        let statement = self.id::<ControlId>(ANY)?.index().checked_sub(1);
        Ok(Activity::Overhead(Charge {
            kind,
            statement: statement.map(ControlId::from_index),
        }))
    }

    fn node(&mut self) -> Result<Node, TraceError> {
        Ok(match self.number()? {
            tag @ (CELL | CELL_BY_REFERENCE) => Node::Cell {
                formal: match tag {
                    CELL => None,
                    _ => Some((self.id::<ComponentId>(ANY)?, self.id::<CellId>(ANY)?)),
                },
                instance: self.id::<InstanceId>(self.instances)?,
                activity: self.activity()?,
            },
            CONTROL => Node::Control {
                component: self.id::<ComponentId>(ANY)?,
                control: self.id::<ControlId>(ANY)?,
            },
            GROUP => Node::Group {
                component: self.id::<ComponentId>(ANY)?,
                group: self.id::<GroupId>(ANY)?,
                run: self.id::<GroupRunId>(ANY)?,
            },
            CONTINUOUS => Node::Continuous {
                component: self.id::<ComponentId>(ANY)?,
            },
            tag @ (PRIMITIVE | PRIMITIVE_BY_REFERENCE) => Node::Primitive {
                actual: match tag {
                    PRIMITIVE => None,
                    _ => {
                        let holder = self.id::<InstanceId>(self.instances)?;
                        Some((holder, self.id::<CellId>(ANY)?))
                    }
                },
                component: self.id::<ComponentId>(ANY)?,
                cell: self.id::<CellId>(ANY)?,
            },
            _ => return Err(self.damaged("a tree has a node of unknown kind")),
        })
    }

    /// The next cycles are so many. Returns the first one.
    fn pass(&mut self, cycles: u64) -> Result<Cycle, TraceError> {
        let start = Cycle::from_cycles(self.cycles);
        self.cycles = match self.cycles.checked_add(cycles) {
            Some(sum) if cycles > 0 => sum,
            _ => return Err(self.damaged("a run has an impossible length")),
        };
        Ok(start)
    }

    /// A step that is told the first time.
    fn new_step(&mut self, step: Step) -> Result<Event, TraceError> {
        self.repeats.add(step);
        self.step(step)
    }

    fn step(&mut self, step: Step) -> Result<Event, TraceError> {
        let event = step.event(self.cycles);
        if let Step::Run { cycles, .. } = step {
            self.pass(cycles)?;
        }
        Ok(event)
    }

    /// The step that is guessed.
    #[inline]
    fn guess(&mut self) -> Result<Event, TraceError> {
        let Some((id, step)) = self.repeats.guess() else {
            return Err(self.damaged(NOT_THERE));
        };
        self.guessed -= 1;
        self.repeats.take(id);
        self.step(step)
    }

    fn read(&mut self) -> Result<Item, TraceError> {
        Ok(Item::Event(match self.byte()? {
            LATEST => return self.latest().map(|again| Item::Again(Box::new(again))),
            INSTANCE => {
                let component = self.id::<ComponentId>(ANY)?;
                let parent = match self.number()? {
                    0 => None,
                    number => {
                        let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
                        if index >= self.instances {
                            return Err(self.damaged("an instance has an unknown parent"));
                        }
                        Some((InstanceId::from_index(index), self.id::<CellId>(ANY)?))
                    }
                };
                self.instances += 1;
                Event::Instance(Instance { component, parent })
            }
            TREE => {
                let len = self.number()?;
                let mut nodes = Vec::new();
                for _ in 0..len {
                    let depth = usize::try_from(self.number()?).unwrap_or(usize::MAX);
                    nodes.push((depth, self.node()?));
                }
                let tree = CallTree::from_preorder(nodes)
                    .ok_or_else(|| self.damaged("the nodes of a tree make no tree"))?;
                self.trees += 1;
                Event::Tree(Box::new(tree))
            }
            RUN => {
                let tree = self.id::<TreeId>(self.trees)?;
                let cycles = self.number()?;
                self.new_step(Step::Run { tree, cycles })?
            }
            UPDATE => {
                let step = Step::Update {
                    after: self.number()?,
                    instance: self.id::<InstanceId>(self.instances)?,
                    register: self.id::<RegisterId>(ANY)?,
                    old: self.number()?,
                    new: self.number()?,
                };
                self.new_step(step)?
            }
            AGAIN => {
                let known = u32::try_from(self.number()?).ok();
                let Some((id, step)) = known.and_then(|id| Some((id, self.repeats.get(id)?)))
                else {
                    return Err(self.damaged(NOT_THERE));
                };
                self.repeats.take(id);
                self.step(step)?
            }
            GUESSED => {
                self.guessed = self.number()?;
                if !(1..=MAX_GUESSED).contains(&self.guessed) {
                    return Err(self.damaged("nothing comes again, or too much"));
                }
                self.guess()?
            }
            GAP => {
                let cycles = self.number()?;
                let start = self.pass(cycles)?;
                Event::Gap(Gap { start, cycles })
            }
            WARNING => Event::Warning(Box::new(Warning {
                cycle: Cycle::from_cycles(self.number()?),
                signal: self.text()?,
                text: self.text()?,
            })),
            FIGURES => Event::Figures(self.text()?.into()),
            END => {
                let cycles = self.number()?;
                if cycles != self.cycles {
                    return Err(self.damaged("its runs do not add up to its length"));
                }
                self.end()?;
                self.ended = true;
                Event::End { cycles }
            }
            _ => return Err(self.damaged("a record is of unknown kind")),
        }))
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.again.is_none() {
            match self.next_item()? {
                Ok(Item::Event(event)) => return Some(Ok(event)),
                Ok(Item::Again(again)) => self.again = Some((*again, 0, 0)),
                Err(error) => return Some(Err(error)),
            }
        }
        let (again, number, at) = self.again.as_mut()?;
        let event = again.event(*number, *at);
        *at += 1;
        if *at == again.count() {
            *at = 0;
            *number += 1;
        }
        if *number == again.times() {
            self.again = None;
        }
        Some(Ok(event))
    }
}
