//! The trace file: a Petal trace as a stream of records, written while the run is read and read
//! again by every later command.
//!
//! Layout: the head, which is the magic text `petal-trace 3\n`, the fingerprint of the metadata and a
//! newline; then records, in blocks with checksums (`blocks.rs`) that need not end where records do.
//! A record is a tag byte and unsigned LEB128 numbers. The last record is the end record; a file
//! without it was cut off.

use std::io::{self, BufRead, Write};

use petal_metadata::{CellId, ComponentId, ControlId, GroupId, Id, RegisterId, RunId};
use thiserror::Error;

use crate::blocks::{BlockError, BlockReader, BlockWriter};
use crate::model::{
    Activity, CallTree, Charge, Cycle, Event, Instance, InstanceId, Node, Overhead, RegisterUpdate,
    Run, TreeId, Warning,
};

const MAGIC: &str = "petal-trace ";

/// Whether a file that begins with these bytes is a Petal trace, of whichever version.
pub fn is_trace(start: &[u8]) -> bool {
    start.starts_with(MAGIC.as_bytes())
}

const VERSION: &str = "3";

/// The head of a trace for the metadata with this fingerprint.
fn head(fingerprint: &str) -> String {
    format!("{MAGIC}{VERSION}\n{fingerprint}\n")
}

const INSTANCE: u8 = 1;
const TREE: u8 = 2;
const RUN: u8 = 3;
const UPDATE: u8 = 4;
const WARNING: u8 = 5;
const END: u8 = 6;

const CELL: u64 = 0;
const CONTROL: u64 = 1;
const GROUP: u64 = 2;
const CONTINUOUS: u64 = 3;
const PRIMITIVE: u64 = 4;
/// The same by a `ref` cell.
const CELL_BY_REFERENCE: u64 = 5;
const PRIMITIVE_BY_REFERENCE: u64 = 6;

const USEFUL: u64 = 0;
const CONDITION: u64 = 1;
const OVERHEAD: u64 = 2;

/// The limit of handles into the metadata, which whoever holds the metadata checks.
const ANY: usize = u32::MAX as usize;

/// Why a trace file can't be read.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file can't be read.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// The file is no trace file.
    #[error("this is not a petal trace; profile the design again with `petal run`")]
    Foreign,
    /// The file was written by a petal with another format.
    #[error(
        "the trace has version {found}, but this petal reads version {VERSION}; profile the design again with `petal run`"
    )]
    Version {
        /// The version in the file.
        found: String,
    },
    /// The file belongs to other metadata.
    #[error(
        "the trace was recorded for another metadata file (fingerprint {found}, not {expected}); profile the design again with `petal run`"
    )]
    OtherDesign {
        /// Fingerprint in the trace.
        found: String,
        /// Fingerprint in the metadata.
        expected: String,
    },
    /// The file ends in the middle.
    #[error(
        "the trace is cut off after {cycles} cycles; profile the design again with `petal run`"
    )]
    Truncated {
        /// Cycles that were still there.
        cycles: u64,
    },
    /// A record makes no sense.
    #[error(
        "the trace is damaged after {cycles} cycles ({problem}); profile the design again with `petal run`"
    )]
    Damaged {
        /// Cycles that were read before.
        cycles: u64,
        /// What is wrong with the next record.
        problem: &'static str,
    },
}

/// Writes a Petal trace.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: BlockWriter<W>,
    /// Records that are not written yet.
    records: Vec<u8>,
}

/// How many bytes are written at once.
const CHUNK: usize = 1 << 16;

impl<W: Write> TraceWriter<W> {
    /// Starts a trace for the metadata with this fingerprint.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(out: W, fingerprint: &str) -> io::Result<Self> {
        Ok(Self {
            out: BlockWriter::new(out, &head(fingerprint))?,
            records: Vec::new(),
        })
    }

    /// Appends records as they are, which may be anything: what a fuzz target wants of a reader
    /// that believes no byte without its checksum.
    ///
    /// # Errors
    /// When the file can't be written.
    #[doc(hidden)]
    pub fn records(&mut self, records: &[u8]) -> io::Result<()> {
        self.out.write(records)
    }

    /// Appends one event; the last one completes the file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Instance(instance) => {
                self.records.push(INSTANCE);
                self.id(instance.component);
                match instance.parent {
                    None => self.number(0),
                    Some((parent, cell)) => {
                        self.number(parent.index() as u64 + 1);
                        self.id(cell);
                    }
                }
            }
            Event::Tree(tree) => {
                self.records.push(TREE);
                self.number(tree.len() as u64);
                for (depth, node) in tree.preorder() {
                    self.number(depth as u64);
                    self.node(node);
                }
            }
            Event::Run(run) => {
                self.records.push(RUN);
                self.id(run.tree);
                self.number(run.cycles);
            }
            Event::Update(update) => {
                self.records.push(UPDATE);
                self.number(update.cycle.cycles());
                self.id(update.instance);
                self.id(update.register);
                self.number(update.old);
                self.number(update.new);
            }
            Event::Warning(warning) => {
                self.records.push(WARNING);
                self.number(warning.cycle.cycles());
                self.text(&warning.signal);
                self.text(&warning.text);
            }
            Event::End { cycles } => {
                self.records.push(END);
                self.number(*cycles);
            }
        }
        let ends = matches!(event, Event::End { .. });
        if ends || self.records.len() >= CHUNK {
            self.out.write(&self.records)?;
            self.records.clear();
        }
        if ends { self.out.flush() } else { Ok(()) }
    }

    fn node(&mut self, node: Node) {
        match node {
            Node::Cell {
                instance,
                formal,
                activity,
            } => {
                self.tag(CELL, CELL_BY_REFERENCE, formal);
                self.id(instance);
                match activity {
                    Activity::Useful => self.number(USEFUL),
                    Activity::Condition => self.number(CONDITION),
                    Activity::Overhead(Charge { kind, statement }) => {
                        self.number(OVERHEAD + kind.index() as u64);
                        // 0 for none.
                        self.number(statement.map_or(0, |id| id.index() as u64 + 1));
                    }
                }
            }
            Node::Control { component, control } => {
                self.number(CONTROL);
                self.id(component);
                self.id(control);
            }
            Node::Group {
                component,
                group,
                run,
            } => {
                self.number(GROUP);
                self.id(component);
                self.id(group);
                self.id(run);
            }
            Node::Continuous { component } => {
                self.number(CONTINUOUS);
                self.id(component);
            }
            Node::Primitive {
                component,
                cell,
                actual,
            } => {
                self.tag(PRIMITIVE, PRIMITIVE_BY_REFERENCE, actual);
                self.id(component);
                self.id(cell);
            }
        }
    }

    /// `plain`, or `by_reference` with the other cell and who holds it.
    fn tag(&mut self, plain: u64, by_reference: u64, other: Option<(impl Id, CellId)>) {
        match other {
            None => self.number(plain),
            Some((holder, cell)) => {
                self.number(by_reference);
                self.id(holder);
                self.id(cell);
            }
        }
    }

    fn id(&mut self, id: impl Id) {
        self.number(id.index() as u64);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.records.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.records.push((number & 0x7f) as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.records.extend_from_slice(text.as_bytes());
    }
}

/// Reads a Petal trace: an iterator over its events, the last of which is [`Event::End`].
#[derive(Debug)]
pub struct TraceReader<R> {
    input: BlockReader<R>,
    cycles: u64,
    instances: usize,
    trees: usize,
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
                found: version.to_owned(),
            });
        }
        let found = line()?;
        if found != fingerprint {
            return Err(TraceError::OtherDesign {
                found,
                expected: fingerprint.to_owned(),
            });
        }
        Ok(Self {
            input: BlockReader::new(input, &head(fingerprint)),
            cycles: 0,
            instances: 0,
            trees: 0,
            ended: false,
        })
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
        let mut number = 0u64;
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
            _ => Err(self.damaged("it refers to an entry that is not there")),
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
                run: self.id::<RunId>(ANY)?,
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

    fn read(&mut self) -> Result<Event, TraceError> {
        Ok(match self.byte()? {
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
                let start = Cycle::from_cycles(self.cycles);
                self.cycles = match self.cycles.checked_add(cycles) {
                    Some(sum) if cycles > 0 => sum,
                    _ => return Err(self.damaged("a run has an impossible length")),
                };
                Event::Run(Run {
                    tree,
                    start,
                    cycles,
                })
            }
            UPDATE => Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(self.number()?),
                instance: self.id::<InstanceId>(self.instances)?,
                register: self.id::<RegisterId>(ANY)?,
                old: self.number()?,
                new: self.number()?,
            }),
            WARNING => Event::Warning(Box::new(Warning {
                cycle: Cycle::from_cycles(self.number()?),
                signal: self.text()?,
                text: self.text()?,
            })),
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
        })
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let event = self.read();
        self.ended |= event.is_err();
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<Event> {
        let component = ComponentId::from_index(0);
        let instance = InstanceId::from_index(0);
        let overhead = Activity::Overhead(Charge {
            kind: Overhead::Both,
            statement: Some(ControlId::from_index(7)),
        });
        let nodes = [
            (
                0,
                Node::Cell {
                    instance,
                    formal: Some((component, CellId::from_index(5))),
                    activity: overhead,
                },
            ),
            (
                1,
                Node::Control {
                    component,
                    control: ControlId::from_index(300),
                },
            ),
            (
                2,
                Node::Group {
                    component,
                    group: GroupId::from_index(1),
                    run: RunId::from_index(2),
                },
            ),
            (
                3,
                Node::Primitive {
                    component,
                    cell: CellId::from_index(4),
                    actual: None,
                },
            ),
            (
                3,
                Node::Primitive {
                    component,
                    cell: CellId::from_index(5),
                    actual: Some((instance, CellId::from_index(6))),
                },
            ),
            (1, Node::Continuous { component }),
        ];
        vec![
            Event::Instance(Instance {
                component,
                parent: None,
            }),
            Event::Instance(Instance {
                component,
                parent: Some((instance, CellId::from_index(9))),
            }),
            Event::Tree(Box::new(CallTree::from_preorder(nodes).unwrap())),
            Event::Run(Run {
                tree: TreeId::from_index(0),
                start: Cycle::from_cycles(0),
                cycles: 1_000_000,
            }),
            Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(7),
                instance,
                register: RegisterId::from_index(3),
                old: 0,
                new: u64::MAX,
            }),
            Event::Warning(Box::new(Warning {
                cycle: Cycle::from_cycles(1),
                signal: "TOP.x".to_owned(),
                text: "odd".to_owned(),
            })),
            Event::End { cycles: 1_000_000 },
        ]
    }

    fn written(events: &[Event]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(&mut bytes, "abc").unwrap();
        for event in events {
            writer.event(event).unwrap();
        }
        bytes
    }

    fn bytes() -> Vec<u8> {
        written(&sample())
    }

    #[test]
    fn a_trace_is_read_back() {
        let bytes = bytes();
        let events: Vec<Event> = TraceReader::new(&bytes[..], "abc")
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(events, sample());
    }

    #[test]
    fn a_cut_trace_is_an_error() {
        let bytes = bytes();
        for len in 0..bytes.len() {
            let failed = match TraceReader::new(&bytes[..len], "abc") {
                Err(_) => true,
                Ok(reader) => reader.into_iter().any(|event| event.is_err()),
            };
            assert!(failed, "cut after {len} bytes of {}", bytes.len());
        }
    }

    fn read(bytes: &[u8]) -> Result<Vec<Event>, TraceError> {
        TraceReader::new(bytes, "abc")?.collect()
    }

    #[test]
    fn any_changed_bit_is_an_error() {
        let bytes = bytes();
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&changed).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn anything_behind_the_end_is_an_error() {
        let bytes = bytes();
        for more in [&b"\0"[..], &bytes[bytes.len() - 9..], &bytes] {
            let error = read(&[&bytes, more].concat()).unwrap_err();
            let told = matches!(error, TraceError::Damaged { .. });
            assert!(told, "{error}");
        }
    }

    /// As many runs as fill several blocks.
    fn long() -> Vec<Event> {
        let mut events = sample();
        let end = events.pop();
        let mut start = 1_000_000;
        for cycles in 1..20_000 {
            events.push(Event::Run(Run {
                tree: TreeId::from_index(0),
                start: Cycle::from_cycles(start),
                cycles,
            }));
            start += cycles;
        }
        assert!(end.is_some());
        events.push(Event::End { cycles: start });
        events
    }

    #[test]
    fn blocks_can_be_neither_left_out_nor_swapped() {
        let events = long();
        let bytes = written(&events);
        assert_eq!(read(&bytes).unwrap(), events);
        let mut starts = vec![head("abc").len()];
        while let Some(&start) = starts.last().filter(|&&start| start < bytes.len()) {
            let length = u32::from_le_bytes(bytes[start..start + 4].try_into().unwrap());
            starts.push(start + 8 + length as usize);
        }
        assert!(starts.len() > 2, "there is one block only");
        let (first, second) = (starts[0], starts[1]);
        let without = [&bytes[..first], &bytes[second..]].concat();
        assert!(read(&without).is_err());
        let third = starts[2];
        let swapped = [
            &bytes[..first],
            &bytes[second..third],
            &bytes[first..second],
            &bytes[third..],
        ];
        assert!(read(&swapped.concat()).is_err());
    }

    #[test]
    fn another_version_is_an_error() {
        let bytes = b"petal-trace 2\nabc\n\x06\0";
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains("version 2"), "{error}");
    }

    #[test]
    fn another_design_is_an_error() {
        let error = TraceReader::new(&bytes()[..], "abd").unwrap_err();
        assert!(matches!(error, TraceError::OtherDesign { .. }));
    }
}
