//! The file that describes a sweep: its keys, and what is said of those that make no sense.
//!
//! Owns the text's form. What runs follow from it, `expand` finds out.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use petal_metadata::{nearest, question};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// After how many seconds a run or a generator is stopped unless the file says otherwise.
pub const TIMEOUT: u64 = 600;

/// A sweep, as its file describes it. `docs/guide/sweeps.md` has the meaning of every key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SweepFile {
    /// The designs.
    #[serde(default, rename = "design")]
    pub designs: Vec<Spanned<DesignEntry>>,
    /// The pipelines with which each design is compiled.
    pub passes: Option<Many<PassesEntry>>,
    /// The data sets on which each design runs.
    pub data: Option<Many<DataEntry>>,
    /// The file of observations.
    pub observe: Option<Spanned<String>>,
    /// Checkpoints, as `petal run --checkpoint` takes them; so all the following.
    #[serde(default)]
    pub checkpoint: Many<String>,
    /// Latencies.
    #[serde(default)]
    pub latency: Many<String>,
    /// Values whose changes are listed.
    #[serde(default)]
    pub watch: Many<String>,
    /// Memories whose accesses are listed.
    #[serde(default)]
    pub access: Many<String>,
    /// What must never be.
    #[serde(default)]
    pub never: Many<String>,
    /// What must be in every cycle.
    #[serde(default)]
    pub always: Many<String>,
    /// Counters.
    #[serde(default)]
    pub count: Many<String>,
    /// Folders with imports.
    #[serde(default)]
    pub library: Many<PathBuf>,
    /// After how many cycles a run is given up.
    pub cycle_limit: Option<u64>,
    /// Whether a run with warnings has failed.
    pub strict: Option<bool>,
    /// After how many seconds a run or a generator is stopped.
    pub timeout: Option<u64>,
    /// How much memory a run may take, such as `2G`.
    pub memory: Option<Spanned<String>>,
    /// Whether the profile of each run is kept.
    pub profiles: Option<bool>,
    /// The device for which each design is synthesised, if it is.
    pub synth: Option<Device>,
    /// The period of the clock, where it is known without that.
    pub period: Option<Spanned<String>>,
    /// How often a design is placed and routed for it.
    pub seeds: Option<Spanned<u64>>,
    /// The two figures of the Pareto front.
    pub pareto: Option<Spanned<Vec<String>>>,
}

/// A device of `petal run --synth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// Lattice iCE40 HX8K.
    Ice40,
    /// Lattice ECP5-85k.
    Ecp5,
    /// Xilinx 7 series, an estimate.
    Xilinx,
}

impl Device {
    /// As the option has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ice40 => "ice40",
            Self::Ecp5 => "ecp5",
            Self::Xilinx => "xilinx",
        }
    }
}

/// Designs: files, or what a command prints.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table, which begins with `[[design]]` and has `files` or `generate`"
)]
pub struct DesignEntry {
    /// Paths and patterns.
    pub files: Option<Many<String>>,
    /// A command that prints a design.
    pub generate: Option<Spanned<String>>,
    /// What it is called: needed for a command.
    pub name: Option<String>,
    /// Values of the parameters of a command, all of which are combined.
    #[serde(default)]
    pub parameters: BTreeMap<String, Many<Parameter>>,
    /// Instead of those of the sweep.
    pub passes: Option<Many<PassesEntry>>,
    /// Instead of those of the sweep.
    pub data: Option<Many<DataEntry>>,
    /// Instead of that of the sweep.
    pub observe: Option<Spanned<String>>,
}

/// A pipeline: the text of `--passes`, or that with more options and a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassesEntry {
    /// What it is called.
    pub name: String,
    /// The text of `--passes`.
    pub list: String,
    /// Each a `--disable-pass`.
    pub disable: Vec<String>,
    /// Each an `--extra-opt`.
    pub extra: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassesTable {
    name: String,
    #[serde(default = "all")]
    list: String,
    #[serde(default)]
    disable: Vec<String>,
    #[serde(default)]
    extra: Vec<String>,
}

impl PassesEntry {
    /// The pipeline that is taken where the file names none.
    pub(crate) fn all() -> Self {
        Self {
            name: all(),
            list: all(),
            disable: Vec::new(),
            extra: Vec::new(),
        }
    }
}

/// The pipeline without a `list`, which is petal's default as well.
fn all() -> String {
    "all".to_owned()
}

/// A data set: the path of a file, or a command that prints one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataEntry {
    /// What it is called [default: the file's name].
    pub name: Option<String>,
    /// Where it comes from.
    pub from: DataFrom,
}

/// Where a data set comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataFrom {
    /// A file.
    File(String),
    /// What a command prints.
    Command(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataTable {
    name: String,
    file: Option<String>,
    generate: Option<String>,
}

/// The value of a parameter, as it is put into commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter(pub String);

/// A list, for which one alone may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl SweepFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong in it, with its line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Result<Self, toml::de::Error> = toml::from_str(text);
        read.map_err(|error| {
            let told = error.to_string().trim_end().to_owned();
            match near(error.message()) {
                Some(question) => format!("{told}\n{question}"),
                None => told,
            }
        })
    }
}

/// A question whether a name is meant that a message lists, instead of the unknown one in it.
fn near(message: &str) -> Option<String> {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names
        .next()
        .filter(|_| message.starts_with("unknown field"))?;
    question(&nearest(unknown, names))
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Of<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Of<T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<T>, E> {
                T::deserialize(de::value::StrDeserializer::new(text)).map(|one| vec![one])
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Vec<T>, E> {
                T::deserialize(de::value::I64Deserializer::new(number)).map(|one| vec![one])
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Vec<T>, E> {
                T::deserialize(de::value::F64Deserializer::new(number)).map(|one| vec![one])
            }
            fn visit_bool<E: de::Error>(self, is: bool) -> Result<Vec<T>, E> {
                T::deserialize(de::value::BoolDeserializer::new(is)).map(|one| vec![one])
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| vec![one])
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = list.next_element()? {
                    all.push(one);
                }
                if all.is_empty() {
                    return Err(de::Error::custom("an empty list: leave it out"));
                }
                Ok(all)
            }
        }
        deserializer.deserialize_any(Of(PhantomData)).map(Many)
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;
        impl Visitor<'_> for Value {
            type Value = Parameter;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Parameter, E> {
                Ok(Parameter(text.to_owned()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Parameter, E> {
                Ok(Parameter(number.to_string()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Parameter, E> {
                Ok(Parameter(number.to_string()))
            }
            fn visit_bool<E: de::Error>(self, is: bool) -> Result<Parameter, E> {
                Ok(Parameter(is.to_string()))
            }
        }
        deserializer.deserialize_any(Value)
    }
}

impl<'de> Deserialize<'de> for PassesEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_table(deserializer, "passes", |of| match of {
            TextOr::Text(text) => Ok(Self {
                name: text.clone(),
                list: text,
                disable: Vec::new(),
                extra: Vec::new(),
            }),
            TextOr::Table(PassesTable {
                name,
                list,
                disable,
                extra,
            }) => Ok(Self {
                name,
                list,
                disable,
                extra,
            }),
        })
    }
}

impl<'de> Deserialize<'de> for DataEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_table(deserializer, "a data file", |of| match of {
            TextOr::Text(file) => Ok(Self {
                name: None,
                from: DataFrom::File(file),
            }),
            TextOr::Table(DataTable {
                name,
                file,
                generate,
            }) => {
                let from = match (file, generate) {
                    (Some(file), None) => DataFrom::File(file),
                    (None, Some(command)) => DataFrom::Command(command),
                    _ => {
                        return Err("a data set has either a `file` or a command to `generate` it");
                    }
                };
                let name = Some(name);
                Ok(Self { name, from })
            }
        })
    }
}

/// A text, or a table with more.
enum TextOr<T> {
    Text(String),
    Table(T),
}

/// Reads a text or a table, each told as what it is meant for where it is something else.
fn text_or_table<'de, D: Deserializer<'de>, T: Deserialize<'de>, V>(
    deserializer: D,
    what: &'static str,
    make: impl Fn(TextOr<T>) -> Result<V, &'static str>,
) -> Result<V, D::Error> {
    struct Of<T>(&'static str, PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Of<T> {
        type Value = TextOr<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{} as a text, or a table with a name", self.0)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<TextOr<T>, E> {
            Ok(TextOr::Text(text.to_owned()))
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextOr<T>, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Table)
        }
    }
    let of = deserializer.deserialize_any(Of(what, PhantomData))?;
    make(of).map_err(de::Error::custom)
}
