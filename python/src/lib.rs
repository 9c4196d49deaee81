//! The native part of the Python package `petal`: the command, and tables as Arrow.
//!
//! Owns what Python cannot do: calling the command without the interpreter's lock, while Ctrl-C is looked for, and handing over
//! Arrow's streams. What users see is in `petal/`.

mod shown;

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatchIterator, RecordBatchReader};
use arrow_schema::ArrowError;
use petal::tables::Table as Name;
use petal::{Error as PetalError, Interrupt};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

create_exception!(
    petal._petal,
    Error,
    PyException,
    "What a command of petal ends with: its message, and in `code` what the command exits with."
);

/// How often to look whether the user wants to stop.
const PATIENCE: Duration = Duration::from_millis(20);

/// Runs `act` without the interpreter's lock. Ctrl-C asks it to stop, and waits until it has.
fn unlocked<T: Send + 'static>(
    py: Python<'_>,
    act: impl FnOnce(&Interrupt) -> Result<T, PetalError> + Send + 'static,
) -> PyResult<T> {
    let (give, take) = sync_channel(1);
    let interrupt = Interrupt::default();
    let asked = interrupt.clone();
    let thread = thread::spawn(move || {
        let _ = give.send(act(&asked));
    });
    let mut interrupted = None;
    let mut take = take;
    let result = loop {
        let waited;
        (waited, take) = py.detach(move || (take.recv_timeout(PATIENCE), take));
        match waited {
            Ok(result) => break result,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    interrupt.request();
                    interrupted = Some(signal);
                }
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("it sends before it ends"),
            },
        }
    };
    match (interrupted, result) {
        (Some(signal), _) => Err(signal),
        (None, result) => result.map_err(|failure| error(py, &failure)),
    }
}

fn error(py: Python<'_>, failure: &PetalError) -> PyErr {
    let error = Error::new_err(failure.to_string());
    // An attribute of an exception can be set.
    let _ = error.value(py).setattr("code", petal::code(failure));
    error
}

/// Runs a command of petal with these arguments, and gives what it prints; `-` stands for `input` there.
#[pyfunction]
fn call(py: Python<'_>, arguments: Vec<String>, input: String) -> PyResult<String> {
    unlocked(py, move |interrupt| {
        petal::call_until(interrupt, arguments, input)
    })
}

/// The command as a process: it prints, and gives what the process is to exit with.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| {
        let program = std::iter::once("petal".to_owned());
        petal::main(program.chain(arguments))
    })
}

/// The names of all tables.
#[pyfunction]
fn table_names() -> Vec<&'static str> {
    Name::all().into_iter().map(Name::name).collect()
}

/// The tables of a profile that do not grow with the length of the run, by name.
#[pyfunction]
fn small_tables(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(&'static str, Table)>> {
    let tables = unlocked(py, move |interrupt| {
        interrupt.heeded(|| petal::tables::tables(&folder))
    })?;
    let tables = tables.into_iter();
    Ok(tables
        .map(|(table, batch)| (table.name(), Table(TableRows::There(batch))))
        .collect())
}

/// A table of a profile that is as long as the run: its rows are made while they are taken.
#[pyfunction]
fn long_table(folder: PathBuf, name: &str) -> PyResult<Table> {
    match Name::of_name(name) {
        Some(table) => Ok(Table(TableRows::Made(folder, table))),
        None => Err(PyValueError::new_err(format!("there is no table `{name}`"))),
    }
}

/// A table of a profile, as a stream of Arrow: Polars, pandas, `DuckDB` and pyarrow take it.
#[pyclass(frozen, module = "petal._petal")]
struct Table(TableRows);

enum TableRows {
    There(petal::tables::RecordBatch),
    Made(PathBuf, Name),
}

#[pymethods]
impl Table {
    /// The stream, in a capsule as the Arrow `PyCapsule` interface has it. The table can be taken again and again.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may give its own schema.
        drop(requested_schema);
        let reader: Box<dyn RecordBatchReader + Send> = match &self.0 {
            TableRows::There(batch) => {
                let schema = batch.schema();
                Box::new(RecordBatchIterator::new([Ok(batch.clone())], schema))
            }
            TableRows::Made(folder, table) => {
                let (folder, table) = (folder.clone(), *table);
                let rows = unlocked(py, move |_| petal::tables::rows(&folder, table))?;
                let rows = rows.into_iter().flatten().map(|batch| {
                    batch.map_err(|failure| ArrowError::ExternalError(failure.to_string().into()))
                });
                Box::new(RecordBatchIterator::new(rows, table.schema()))
            }
        };
        let stream = FFI_ArrowArrayStream::new(reader);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema, in a capsule as the Arrow `PyCapsule` interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = match &self.0 {
            TableRows::There(batch) => batch.schema(),
            TableRows::Made(_, table) => table.schema(),
        };
        let schema = arrow_schema::ffi::FFI_ArrowSchema::try_from(&*schema);
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The first rows, as notebooks show them.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let (names, rows, count) = match &self.0 {
            TableRows::There(batch) => shown::first(batch),
            TableRows::Made(folder, table) => {
                let (folder, table) = (folder.clone(), *table);
                let first = unlocked(py, move |_| {
                    let mut batches = petal::tables::rows(&folder, table)?.into_iter().flatten();
                    batches.next().transpose()
                })?;
                first.map_or_else(Default::default, |batch| shown::first(&batch))
            }
        };
        let notebook = py.import("petal._notebook")?;
        notebook
            .call_method1("table", (names, rows, count))?
            .extract()
    }
}

/// The native part of petal.
#[pymodule]
fn _petal(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Table>()?;
    module.add_function(wrap_pyfunction!(call, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(table_names, module)?)?;
    module.add_function(wrap_pyfunction!(small_tables, module)?)?;
    module.add_function(wrap_pyfunction!(long_table, module)?)
}
