//! Observations of a run: made ready from a request, fed while the run goes by, and told in the end.

use std::ops::Range;

use petal_metadata::{CellId, CellKind, ComponentId, ControlId, Id as _, Metadata, labels};
use petal_reconstruct::{Change, Cycle, Event, Next, Observer, Signal, TreeId, Value, ValueOp};

use crate::activity::{Activities, Aspect, Site, SiteKind};
use crate::check::{Checker, Expression, Named};
use crate::collect::{Checkpoint, Collector, Counter, Latency, Look, Rule, Watch, Watched};
use crate::countable::{countable, matching};
use crate::directory::{Directory, Memory};
use crate::problem::Problem;
use crate::program::Program;
use crate::request::{CounterRequest, Interval, LatencyRequest, Request, Text};
use crate::results::{self, Results, VERSION};
use crate::syntax::{self, Kind, Syntax};
use crate::trees::{Trees, Written};

/// What is wrong with a request: the text that it is in, and the problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Refused {
    /// The text of the request, which tells whether it is from a file.
    pub text: Text,
    /// What is wrong.
    pub problem: Problem,
}

/// Observations of one run.
pub struct Observations<'a> {
    program: Program,
    activities: Activities<'a>,
    trees: Trees,
    collectors: Vec<Collector>,
    /// The collectors that look at each node.
    lookers: Vec<Vec<usize>>,
    /// Those that look at the next cycle that comes, and whether each is among them.
    waiting: Vec<usize>,
    is_waiting: Vec<bool>,
    /// The nodes that end the run, and the latencies.
    stops: Vec<usize>,
    latencies: Vec<usize>,
    sample: Option<u64>,
    is_done: bool,
    stopped_by: Option<String>,
    stop_on: Option<String>,
}

/// Makes observations ready.
struct Builder<'a> {
    metadata: &'a Metadata,
    directory: &'a Directory,
    program: Program,
    collectors: Vec<Collector>,
}

impl<'a> Observations<'a> {
    /// Looks at all expressions of a request.
    ///
    /// # Errors
    /// What is wrong with the first that makes no sense.
    pub fn new(
        metadata: &'a Metadata,
        directory: &Directory,
        request: &Request,
    ) -> Result<Self, Box<Refused>> {
        let mut builder = Builder {
            metadata,
            directory,
            program: Program::default(),
            collectors: Vec::new(),
        };
        builder.add(request)?;
        let Builder {
            program,
            collectors,
            ..
        } = builder;
        let mut lookers = vec![Vec::new(); program.len()];
        for (at, collector) in collectors.iter().enumerate() {
            for node in collector.nodes() {
                lookers[node].push(at);
            }
        }
        let numbers = |is_wanted: fn(&Collector) -> bool| -> Vec<usize> {
            let all = collectors.iter().enumerate();
            let wanted = all.filter(|(_, collector)| is_wanted(collector));
            wanted.map(|(at, _)| at).collect()
        };
        Ok(Self {
            activities: Activities::new(metadata, program.sites().to_vec()),
            trees: Trees::new(metadata),
            // All look at the first cycle.
            waiting: (0..collectors.len()).collect(),
            is_waiting: vec![true; collectors.len()],
            stops: numbers(|collector| matches!(collector, Collector::Stop { .. })),
            latencies: numbers(|collector| matches!(collector, Collector::Latency(_))),
            lookers,
            collectors,
            program,
            sample: request.sample,
            is_done: false,
            stopped_by: None,
            stop_on: request.stop_on.as_ref().map(|stop| stop.text.clone()),
        })
    }

    /// Whether a design has checkpoints that its source marks.
    pub fn are_marked(metadata: &Metadata) -> bool {
        let nodes = metadata.components.iter().flat_map(|of| &of.control);
        nodes.into_iter().any(|node| node.checkpoint.is_some())
    }

    /// The values that a source has to deliver, in the order of their slots after the probes.
    pub fn values(&self) -> &[Value] {
        self.program.values()
    }

    /// The expression that ended the run, if one did.
    pub fn stopped_by(&self) -> Option<&str> {
        self.stopped_by.as_deref()
    }

    /// Goes on to a cycle; with no tree, to the one after the run.
    fn go_on(&mut self, cycle: Cycle, tree: Option<TreeId>, changes: &[Change]) -> Next {
        let due = self.activities.go_on(cycle, tree);
        let Self {
            program,
            activities,
            trees,
            ..
        } = self;
        program.go_on(activities.states(), changes);
        let mut looking = std::mem::take(&mut self.waiting);
        for &node in program.changed() {
            for &looker in &self.lookers[node] {
                if !std::mem::replace(&mut self.is_waiting[looker], true) {
                    looking.push(looker);
                }
            }
        }
        if tree.is_none() {
            looking = (0..self.collectors.len()).collect();
        }
        // In the order of the request, whoever changed first.
        looking.sort_unstable();
        let mut look = Look {
            cycle: cycle.cycles(),
            values: program.now(),
            tree,
            is_done: self.is_done,
            trees,
            instances: activities.instances(),
        };
        looking.retain(|&at| {
            self.is_waiting[at] = self.collectors[at].look(&mut look);
            self.is_waiting[at]
        });
        let is_eager = !looking.is_empty();
        self.waiting = looking;
        for &at in self.stops.iter().filter(|_| tree.is_some()) {
            if let Collector::Stop { node } = self.collectors[at]
                && program.now()[node] != 0
            {
                self.stopped_by.clone_from(&self.stop_on);
            }
        }
        let latencies = self.latencies.iter().map(|&at| &self.collectors[at]);
        let oldest = latencies.filter_map(Collector::needs_since).min();
        let oldest = oldest.unwrap_or(u64::MAX).min(cycle.cycles());
        self.trees.forget_before(oldest);
        if self.stopped_by.is_some() {
            return Next::Stop;
        }
        let next = Cycle::from_cycles(cycle.cycles() + 1);
        match due {
            _ if is_eager || self.program.is_unsettled() => Next::At(next),
            Some(due) => Next::At(Cycle::from_cycles(due)),
            None => Next::Change,
        }
    }

    /// Ends the run, which took so many cycles; `is_done` if the design was done then.
    pub fn finish(mut self, cycles: u64, is_done: bool) -> Results {
        self.is_done = is_done;
        self.go_on(Cycle::from_cycles(cycles), None, &[]);
        let instances = self.activities.instances();
        let mut results = Results {
            version: VERSION,
            cycles,
            stopped_by: self.stopped_by,
            checkpoints: Vec::new(),
            latencies: Vec::new(),
            watches: Vec::new(),
            rules: Vec::new(),
            counters: Vec::new(),
            sample: self.sample,
        };
        let medians: Vec<(String, Option<u64>)> = self
            .collectors
            .iter()
            .filter_map(|collector| match collector {
                Collector::Checkpoint(of) => Some((of.name.clone(), of.median_distance())),
                _ => None,
            })
            .collect();
        for collector in self.collectors {
            match collector {
                Collector::Checkpoint(of) if !of.is_listed => {}
                Collector::Checkpoint(of) => {
                    let median_distance = of.median_distance();
                    let interval = match of.interval {
                        None => None,
                        Some(Interval::Cycles(cycles)) => Some(cycles),
                        Some(Interval::Of(name)) => medians
                            .iter()
                            .find(|(of, _)| *of == name)
                            .and_then(|(_, median)| *median),
                    };
                    results.checkpoints.push(results::Checkpoint {
                        name: of.name,
                        when: of.when,
                        cycles: of.cycles,
                        median_distance,
                        interval,
                    });
                }
                Collector::Latency(of) => {
                    results
                        .latencies
                        .push(of.results(&mut self.trees, instances));
                }
                Collector::Watch(of) => results.watches.push(results::Watch {
                    name: of.name,
                    value: of.value,
                    is_written: of.written.is_some() || matches!(of.what, Watched::Memory { .. }),
                    changes: of.changes,
                }),
                Collector::Rule(of) => results.rules.push(results::Rule {
                    name: of.name,
                    when: of.when,
                    always: of.always,
                    cycles: of.violations.iter().map(|violation| violation.cycles).sum(),
                    violations: of.violations,
                }),
                Collector::Counter(of) => results.counters.push(of.results(cycles)),
                Collector::Stop { .. } => {}
            }
        }
        results
    }
}

impl Observer for Observations<'_> {
    fn event(&mut self, event: &Event) {
        if let Event::Tree(tree) = event {
            self.trees.add(tree);
        }
        self.activities.event(event);
    }

    fn cycle(&mut self, cycle: Cycle, tree: TreeId, changes: &[Change]) -> Next {
        self.trees.go_on(cycle.cycles(), tree);
        self.go_on(cycle, Some(tree), changes)
    }
}

impl Builder<'_> {
    fn add(&mut self, request: &Request) -> Result<(), Box<Refused>> {
        let name =
            |name: &Option<String>, text: &Text| name.clone().unwrap_or_else(|| text.text.clone());
        for of in &request.checkpoints {
            let event = self.event(&of.when)?;
            let node = self.program.add(&event);
            self.collectors.push(Collector::Checkpoint(Checkpoint {
                name: name(&of.name, &of.when),
                when: of.when.text.clone(),
                node,
                interval: of.interval.clone(),
                is_listed: true,
                cycles: Vec::new(),
            }));
        }
        self.marked();
        let names: Vec<String> = request
            .checkpoints
            .iter()
            .map(|of| name(&of.name, &of.when))
            .collect();
        for of in &request.checkpoints {
            if let Some(Interval::Of(wanted)) = &of.interval
                && !names.contains(wanted)
            {
                let event = self.event(&Text::from(wanted.as_str()))?;
                let node = self.program.add(&event);
                self.collectors.push(Collector::Checkpoint(Checkpoint {
                    name: wanted.clone(),
                    when: wanted.clone(),
                    node,
                    interval: None,
                    is_listed: false,
                    cycles: Vec::new(),
                }));
            }
        }
        for of in &request.latencies {
            self.latency(of)?;
        }
        for of in &request.watches {
            let (what, written) = self.watched(&of.value)?;
            self.collectors.push(Collector::Watch(Watch {
                name: name(&of.name, &of.value),
                value: of.value.text.clone(),
                what,
                written,
                latest: 0,
                changes: Vec::new(),
                known: std::collections::HashMap::new(),
            }));
        }
        let never = request.never.iter().map(|rule| (rule, false));
        for (of, always) in never.chain(request.always.iter().map(|rule| (rule, true))) {
            let condition = self.checked(&of.when, syntax::expression, |checker, syntax| {
                checker.condition(syntax)
            })?;
            let node = self.program.add(&condition);
            self.collectors.push(Collector::Rule(Rule {
                name: name(&of.name, &of.when),
                when: of.when.text.clone(),
                always,
                node,
                violations: Vec::new(),
                is_broken: false,
            }));
        }
        if request.sample == Some(0) {
            let text = Text::from("0");
            return refuse(&text, "a sample has at least one cycle");
        }
        for of in &request.counters {
            for of in self.named(of)? {
                self.counter(&of, request.sample)?;
            }
        }
        if let Some(stop) = &request.stop_on {
            let event = self.event(stop)?;
            let node = self.program.add(&event);
            self.collectors.push(Collector::Stop { node });
        }
        Ok(())
    }

    /// Adds the checkpoints that the source marks, in every instance that has them.
    fn marked(&mut self) {
        let mut waiting = vec![(self.metadata.main, Vec::new(), String::new())];
        while let Some((id, holder, path)) = waiting.pop() {
            let component = self.metadata.component(id);
            for (at, node) in component.control.iter().enumerate() {
                let Some(number) = node.checkpoint else {
                    continue;
                };
                let control = ControlId::from_index(at);
                let holder = holder.clone();
                let kind = SiteKind::of_statement(component, control);
                let event = Expression::Site(Site { holder, kind }, Aspect::Begin);
                let node = self.program.add(&event);
                let label = labels::control_label(self.metadata, component, control);
                self.collectors.push(Collector::Checkpoint(Checkpoint {
                    name: format!("{path}{number}"),
                    when: format!("@checkpoint({number}) {label}"),
                    node,
                    interval: None,
                    is_listed: true,
                    cycles: Vec::new(),
                }));
            }
            for (cell, inner) in component.instances() {
                let mut holder = holder.clone();
                holder.push(cell);
                waiting.push((
                    inner,
                    holder,
                    format!("{path}{}.", component.cell(cell).name),
                ));
            }
        }
    }

    /// Parses a text and checks it.
    fn checked<S, T>(
        &self,
        text: &Text,
        parse: impl FnOnce(&str) -> Result<S, Problem>,
        check: impl FnOnce(&Checker<'_>, &S) -> Result<T, Problem>,
    ) -> Result<T, Box<Refused>> {
        let checker = Checker {
            text: &text.text,
            metadata: self.metadata,
            directory: self.directory,
        };
        let checked = parse(&text.text).and_then(|syntax| check(&checker, &syntax));
        checked.map_err(|problem| {
            Box::new(Refused {
                text: text.clone(),
                problem,
            })
        })
    }

    fn event(&self, text: &Text) -> Result<Expression, Box<Refused>> {
        self.checked(text, syntax::expression, |checker, syntax| {
            checker.event(syntax)
        })
    }

    /// The counters of the design that are meant by a name or pattern; any other text is an expression.
    fn named(&self, of: &CounterRequest) -> Result<Vec<CounterRequest>, Box<Refused>> {
        let is_pattern = |c: char| c == '.' || c == '*' || c == '_' || c.is_ascii_alphanumeric();
        if !of.value.text.chars().all(is_pattern) {
            return Ok(vec![of.clone()]);
        }
        let counters = countable(self.metadata, self.directory);
        let named = matching(&of.value.text, &counters).map(|counter| CounterRequest {
            name: Some(counter.name.clone()),
            value: Text::from(counter.value.as_str()),
        });
        let mut named: Vec<CounterRequest> = named.collect();
        match (&mut named[..], &of.name) {
            // A star beside a dot multiplies nothing.
            ([], _) if of.value.text.contains(".*") || of.value.text.contains("*.") => {
                let message = "nothing that can be counted has such a name; `petal counters` lists what there is";
                return refuse(&of.value, message);
            }
            ([], _) => named.push(of.clone()),
            ([one], Some(_)) => one.name.clone_from(&of.name),
            _ => {}
        }
        Ok(named)
    }

    fn counter(&mut self, of: &CounterRequest, sample: Option<u64>) -> Result<(), Box<Refused>> {
        let value = self.checked(&of.value, syntax::expression, |checker, syntax| {
            checker.expression(syntax)
        })?;
        let node = self.program.add(&value);
        self.collectors.push(Collector::Counter(Counter {
            name: of.name.clone().unwrap_or_else(|| of.value.text.clone()),
            value: of.value.text.clone(),
            node,
            latest: (0, 0),
            total: 0,
            sample,
            samples: Vec::new(),
        }));
        Ok(())
    }

    fn latency(&mut self, of: &LatencyRequest) -> Result<(), Box<Refused>> {
        let event = |checker: &Checker<'_>, syntax: &Syntax| checker.event(syntax);
        let (from, to, is_handshake) = match &of.to {
            Some(to) => (self.event(&of.from)?, self.event(to)?, false),
            None => self.checked(&of.from, syntax::interval, |checker, (from, to)| match to {
                Some(to) => Ok((event(checker, from)?, event(checker, to)?, false)),
                None => alone(checker, from),
            })?,
        };
        let value = |text: &Text| {
            self.checked(text, syntax::expression, |checker, syntax| {
                checker.expression(syntax)
            })
        };
        let tags = match (&of.tag, &of.tag_to) {
            (None, None) => None,
            (Some(tag), None) => Some((value(tag)?, value(tag)?)),
            (Some(tag), Some(tag_to)) => Some((value(tag)?, value(tag_to)?)),
            (None, Some(tag_to)) => return refuse(tag_to, "`tag-to` needs `tag`"),
        };
        let text = match &of.to {
            Some(to) => format!("{}..{}", of.from.text, to.text),
            None => of.from.text.clone(),
        };
        let program = &mut self.program;
        let tags = tags.map(|(from, to)| (program.add(&from), program.add(&to)));
        let latency = Latency {
            name: of.name.clone().unwrap_or_else(|| text.clone()),
            when: text,
            from: program.add(&from),
            to: program.add(&to),
            tags,
            ends_with_run: matches!(to, Expression::Site(_, Aspect::End)),
            is_handshake,
            open: std::collections::VecDeque::new(),
            intervals: Vec::new(),
            histogram: std::collections::BTreeMap::new(),
            unmatched: 0,
            active: std::collections::HashMap::new(),
        };
        self.collectors.push(Collector::Latency(Box::new(latency)));
        Ok(())
    }

    fn watched(&mut self, text: &Text) -> Result<(Watched, Option<Written>), Box<Refused>> {
        let checked = self.checked(text, syntax::range, |checker, (syntax, range)| {
            watchable(checker, syntax, range.clone())
        })?;
        match checked {
            Watchable::Value(expression, path) => {
                let node = self.program.add(&expression);
                let written = path.and_then(|path| register(self.metadata, &path));
                Ok((Watched::Value { node }, written))
            }
            Watchable::Memory {
                path,
                memory,
                words,
                signal,
            } => {
                let writes = writes(self.directory, &signal, &memory, words);
                let writes = writes.or_else(|message| refuse(text, &message))?;
                let what = Watched::Memory {
                    event: self.program.add(&Expression::Value(writes.event)),
                    index: self.program.add(&Expression::Value(writes.index)),
                    old: writes
                        .old
                        .map(|old| self.program.add(&Expression::Value(old))),
                    new: self.program.add(&Expression::Value(writes.new)),
                };
                Ok((what, written(self.metadata, &path, "_mem_d")))
            }
        }
    }
}

/// Refuses a text as a whole.
fn refuse<T>(text: &Text, message: &str) -> Result<T, Box<Refused>> {
    Err(Box::new(Refused {
        text: text.clone(),
        problem: Problem {
            text: text.text.clone(),
            span: 0..text.text.len(),
            message: message.to_owned(),
            help: None,
        },
    }))
}

/// What a latency is of that is told by one name: a handshake, or something that is active.
fn alone(
    checker: &Checker<'_>,
    syntax: &Syntax,
) -> Result<(Expression, Expression, bool), Problem> {
    if let Kind::Path(path) = &syntax.kind {
        let port = |name: &str| {
            let mut path = path.clone();
            path.push(name.to_owned());
            let kind = Kind::Path(path);
            let span = syntax.span.clone();
            checker.condition(&Syntax { span, kind }).ok()
        };
        // Whether the end is one only while the beginning is asked for: `go` may be low again when `done` comes.
        let pairs = [("go", "done", false), ("valid", "ready", true)];
        let is_site = matches!(checker.named(syntax), Ok(Named::Site(Site { kind, .. })) if !matches!(kind, SiteKind::Primitive(_)));
        let pair = pairs
            .iter()
            .find_map(|(start, end, both)| Some((port(start)?, port(end)?, *both)));
        if let Some((start, end, both)) = pair.filter(|_| !is_site) {
            // It begins when it is asked for, and again after each end.
            let ends = if both { start.clone().and(end) } else { end };
            let goes_on = start.clone().past().and(ends.clone().past().not());
            let begins = start.and(goes_on.not());
            return Ok((begins, ends, true));
        }
    }
    match checker.named(syntax)? {
        Named::Site(site) => {
            let end = checker.end(syntax, site.clone())?;
            Ok((Expression::Site(site, Aspect::Begin), end, false))
        }
        _ => Err(Problem {
            text: checker.text.to_owned(),
            span: syntax.span.clone(),
            message: "a latency needs two events".to_owned(),
            help: Some(
                "write `FROM..TO`, or name a group, a statement, a cell of a component, or one with the ports `go` and `done`"
                    .to_owned(),
            ),
        }),
    }
}

/// What can be watched.
enum Watchable {
    /// A value, and its path if it is only that.
    Value(Expression, Option<Vec<String>>),
    /// Words of a memory.
    Memory {
        path: Vec<String>,
        signal: Signal,
        memory: Memory,
        words: Range<u64>,
    },
}

fn watchable(
    checker: &Checker<'_>,
    syntax: &Syntax,
    range: Option<Range<u64>>,
) -> Result<Watchable, Problem> {
    let problem = |span: Range<usize>, message: String| Problem {
        text: checker.text.to_owned(),
        span,
        message,
        help: None,
    };
    // The indices of one word, from the last one on.
    let (mut base, mut indices) = (syntax, Vec::new());
    while let Kind::Index(of, at) = &base.kind
        && let Kind::Number(index, _) = at.kind
    {
        indices.push(index);
        base = of;
    }
    indices.reverse();
    let path = match &base.kind {
        Kind::Path(path) => Some(path.clone()),
        _ => None,
    };
    if let Some(path) = &path
        && let Named::Memory(signal, memory) = checker.named(base)?
    {
        let all = memory.words();
        let words = match range {
            Some(words) if words.start >= words.end || words.end > all => {
                let message = format!("the memory has the words 0..{all}, in row-major order");
                return Err(problem(0..checker.text.len(), message));
            }
            Some(words) => words,
            None if indices.is_empty() => 0..all,
            None if indices.len() != memory.dims.len()
                || indices
                    .iter()
                    .zip(&memory.dims)
                    .any(|(index, dim)| index >= dim) =>
            {
                let dims: Vec<String> = memory.dims.iter().map(|dim| format!("[{dim}]")).collect();
                let message = format!("the memory has the sizes {}", dims.concat());
                return Err(problem(syntax.span.clone(), message));
            }
            None => {
                let dims = indices.iter().zip(&memory.dims);
                let index = dims.fold(0, |flat, (index, dim)| flat * dim + index);
                index..index + 1
            }
        };
        return Ok(Watchable::Memory {
            path: path.clone(),
            signal,
            memory,
            words,
        });
    }
    if range.is_some() {
        let message = "this is no memory; bits are taken as `[7:0]`".to_owned();
        return Err(problem(syntax.span.clone(), message));
    }
    Ok(match checker.named(syntax)? {
        Named::Site(site) => Watchable::Value(Expression::Site(site, Aspect::Active), None),
        _ => Watchable::Value(
            checker.expression(syntax)?,
            path.filter(|_| indices.is_empty()),
        ),
    })
}

/// The register whose output a path is.
fn register(metadata: &Metadata, path: &[String]) -> Option<Written> {
    match path {
        [cells @ .., port] if port == "out" => written(metadata, cells, "std_reg"),
        _ => None,
    }
}

/// The cell of a primitive with this in its name that a path is.
fn written(metadata: &Metadata, path: &[String], primitive: &str) -> Option<Written> {
    let (_, names) = path.split_first()?;
    let (last, between) = names.split_last()?;
    let (mut component, mut holder) = (metadata.main, Vec::new());
    let cell_of = |component: ComponentId, name: &String| {
        let cells = &metadata.component(component).cells;
        cells.iter().position(|cell| cell.name == *name)
    };
    for name in between {
        let cell = CellId::from_index(cell_of(component, name)?);
        holder.push(cell);
        match metadata.component(component).cell(cell).kind {
            CellKind::Component(inner) => component = inner,
            CellKind::Primitive(_) => return None,
        }
    }
    let cell = CellId::from_index(cell_of(component, last)?);
    match &metadata.component(component).cell(cell).kind {
        CellKind::Primitive(name) if name.contains(primitive) => Some(Written { holder, cell }),
        _ => None,
    }
}

/// The writes to some words of a memory.
struct Writes {
    event: Value,
    index: Value,
    old: Option<Value>,
    new: Value,
}

fn writes(
    directory: &Directory,
    cell: &Signal,
    memory: &Memory,
    words: Range<u64>,
) -> Result<Writes, String> {
    if memory.width > u64::BITS {
        return Err(format!(
            "its words have {} bits, and at most 64 can be looked at",
            memory.width
        ));
    }
    let port = |name: &str| {
        let signal = Signal {
            scope: cell.scope.clone(),
            name: format!("{}_{name}", cell.name),
        };
        let width = directory.width(&signal)?;
        Some(Value::Signal(signal, width))
    };
    let missing = || {
        format!(
            "`{}` has no ports of a memory in the compiled design",
            cell.name
        )
    };
    let op = |op, width, operands| Value::Op(op, width, operands);
    let number = |number| Value::Constant(number, 64);
    let mut index = number(0);
    let mut event = port("write_en").ok_or_else(missing)?;
    if let Some(enable) = port("content_en") {
        event = op(ValueOp::And, 1, vec![event, enable]);
    }
    let dims = &memory.dims;
    for (at, &size) in dims.iter().enumerate() {
        let name = format!("addr{at}");
        let address = op(ValueOp::Pad, 64, vec![port(&name).ok_or_else(missing)?]);
        let is_inside = op(ValueOp::Lt, 1, vec![address.clone(), number(size)]);
        event = op(ValueOp::And, 1, vec![event, is_inside]);
        let before = op(ValueOp::Mul, 64, vec![index, number(size)]);
        index = op(ValueOp::Add, 64, vec![before, address]);
    }
    if words.start > 0 {
        let is_below = op(ValueOp::Lt, 1, vec![index.clone(), number(words.start)]);
        let is_above = op(ValueOp::Not, 1, vec![is_below]);
        event = op(ValueOp::And, 1, vec![event, is_above]);
    }
    if words.end < memory.words() {
        let is_below = op(ValueOp::Lt, 1, vec![index.clone(), number(words.end)]);
        event = op(ValueOp::And, 1, vec![event, is_below]);
    }
    let new = port("write_data").ok_or_else(missing)?;
    let old = directory.has_memories().then(|| Value::Word {
        memory: cell.clone(),
        index: Box::new(index.clone()),
        width: memory.width,
    });
    if let Some(old) = &old {
        let same = op(ValueOp::Eq, 1, vec![old.clone(), new.clone()]);
        let differ = op(ValueOp::Not, 1, vec![same]);
        event = op(ValueOp::And, 1, vec![event, differ]);
    }
    // Quiet as long as nothing is written.
    let quiet = |value: Value| {
        let width = value.width();
        let nothing = Value::Constant(0, width);
        op(ValueOp::Mux, width, vec![event.clone(), value, nothing])
    };
    Ok(Writes {
        index: quiet(index),
        old: old.map(quiet),
        new: quiet(new),
        event,
    })
}
