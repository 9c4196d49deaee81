//! Which primitives are the standard library's, because only for those is the meaning of a name certain.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;

use calyx_frontend::{LibrarySignatures, PrimitiveInfo};
use calyx_ir as ir;
use calyx_stdlib::{COMPILE_LIB, KNOWN_LIBS};

use crate::hardfloat;
use crate::verilog::Modules;

/// Whose primitive a name is.
#[derive(Debug, Clone)]
pub(crate) enum Definition {
    /// Its body is empty: cells of it do nothing.
    Empty,
    /// The standard library's.
    Standard,
    /// Another one: the reason why its meaning is not certain.
    Other(String),
}

/// Tells which primitives are those of the standard library.
pub(crate) struct Library<'a> {
    bodies: HashMap<ir::Id, &'a str>,
    externs: HashMap<ir::Id, &'a Path>,
    files: HashMap<&'a Path, Verilog>,
    /// The modules of the standard library, once something has to be compared with them.
    standard: OnceCell<Modules>,
    definitions: HashMap<ir::Id, Definition>,
}

/// Primitives of newer standard libraries, and of `unsynthesizable.futil`, which is not among the files that
/// `calyx-stdlib` offers. They come as Verilog of the design's own, so they are known by their text.
const INLINE: [(&str, &str); 9] = [
    ("std_unsyn_mult", "assign out = left * right;"),
    ("std_unsyn_div", "assign out = left / right;"),
    ("std_unsyn_mod", "assign out = left % right;"),
    ("std_unsyn_smult", "assign out = $signed(left * right);"),
    ("std_unsyn_sdiv", "assign out = $signed(left / right);"),
    ("std_unsyn_smod", "assign out = $signed(left % right);"),
    ("std_const_mult", "assign out = in * VALUE;"),
    (
        "std_bypass_reg",
        "logic [WIDTH-1:0] value;
         assign out = write_en ? in : value;
         always_ff @(posedge clk) begin
           done <= ~reset & write_en;
           if (reset) value <= 0;
           else if (write_en) value <= in;
         end",
    ),
    (
        "std_skid_buffer",
        "logic held;
         logic [WIDTH-1:0] value;
         assign out = held ? value : in;
         assign o_valid = held | i_valid;
         assign o_ready = ~held;
         always_ff @(posedge clk) begin
           held <= ~reset & ~i_ready & (held | i_valid);
           if (reset) value <= 0;
           else if (~held & ~i_ready & i_valid) value <= in;
         end",
    ),
];

/// What is known of an extern file.
enum Verilog {
    /// One of the standard library's, as it is.
    Standard(String),
    Other(Modules),
}

impl Verilog {
    fn of(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if verilog().any(|known| *known == *text) {
            Self::Standard(text)
        } else {
            Self::Other(Modules::of([text.as_str()]))
        }
    }
}

/// Whether a text of the standard library's has this module.
fn has_module(text: &str, name: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut modules = text.match_indices("module ");
    modules.any(|(at, word)| {
        let rest = text[at + word.len()..].trim_start();
        let rest = rest.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(of_word))
    })
}

/// The modules of the standard library, and those of `memories/dyn.futil`, which newer ones have.
fn standard() -> Modules {
    let verilog: Vec<_> = verilog().collect();
    Modules::of(verilog.iter().map(|text| &**text))
}

/// The Verilog of these files.
fn verilog() -> impl Iterator<Item = Cow<'static, str>> {
    let files = KNOWN_LIBS.iter();
    files.flat_map(|(name, [_, (_, verilog)])| {
        // A memory without a fixed latency is defined as a sequential one.
        let dynamic = (*name == "seq_memories").then(|| verilog.replace("seq_mem", "dyn_mem"));
        [Cow::Borrowed(*verilog)]
            .into_iter()
            .chain(dynamic.map(Cow::Owned))
    })
}

impl<'a> Library<'a> {
    pub fn of(lib: &'a LibrarySignatures) -> Self {
        let mut library = Self {
            bodies: HashMap::new(),
            externs: HashMap::new(),
            files: HashMap::new(),
            standard: OnceCell::new(),
            definitions: HashMap::new(),
        };
        for info in lib.prim_infos() {
            match info {
                PrimitiveInfo::Extern {
                    path, primitives, ..
                } => {
                    for primitive in primitives.keys() {
                        library.externs.insert(*primitive, path);
                    }
                }
                PrimitiveInfo::Inline { primitive, .. } => {
                    let body = primitive.body.as_deref().unwrap_or_default();
                    library.bodies.insert(primitive.name, body);
                }
            }
        }
        library
    }

    pub fn definition(&mut self, primitive: ir::Id) -> Definition {
        if let Some(definition) = self.definitions.get(&primitive) {
            return definition.clone();
        }
        let definition = self.look_up(primitive);
        self.definitions.insert(primitive, definition.clone());
        definition
    }

    fn look_up(&mut self, primitive: ir::Id) -> Definition {
        if let Some(body) = self.bodies.get(&primitive) {
            let body = body.trim();
            let is_inline = |(name, text): &(&str, &str)| {
                *name == primitive.as_ref() && text.split_whitespace().eq(body.split_whitespace())
            };
            let is_standard = COMPILE_LIB.1.contains(body) || INLINE.iter().any(is_inline);
            return if body.is_empty() {
                Definition::Empty
            } else if is_standard {
                Definition::Standard
            } else {
                Definition::Other("it is Verilog of the design's own".to_owned())
            };
        }
        let Some(&path) = self.externs.get(&primitive) else {
            return Definition::Other("nobody defines it".to_owned());
        };
        if hardfloat::is_known(primitive.as_ref(), path) {
            return Definition::Standard;
        }
        let file = self.files.entry(path).or_insert_with(|| Verilog::of(path));
        let is_standard = match file {
            Verilog::Standard(text) => has_module(text, primitive.as_ref()),
            Verilog::Other(modules) => {
                modules.same(self.standard.get_or_init(standard), primitive.as_ref())
            }
        };
        if is_standard {
            Definition::Standard
        } else {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            Definition::Other(format!("it is Verilog from {}", path.display()))
        }
    }
}
