//! Runs a script for fud2 in Rhai, and prints the Ninja file that its operation from Calyx makes.
//!
//! usage: fud2-script-check SCRIPT INPUT OUTPUT [KEY=VALUE...]
//!
//! The functions that fud2 documents for its scripts are here as far as `petal.rhai` calls them, and write what they are called with.
//! So this tells whether the script is Rhai, and what it would have Ninja do; not whether fud2 has these functions.
//! Folders are as in fud2: INPUT and OUTPUT are from its own folder, which is one below the one where it was called.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::rc::Rc;

use rhai::module_resolvers::StaticModuleResolver;
use rhai::{Array, Dynamic, Engine, FnPtr, Module, Scope};

/// What scripts call to say something to Ninja, with the values of `fud2.toml` and `--set`.
#[derive(Clone, Default)]
struct Emitter {
    config: BTreeMap<String, String>,
    ninja: Rc<RefCell<String>>,
}

impl Emitter {
    fn write(&mut self, line: &str) {
        let mut ninja = self.ninja.borrow_mut();
        ninja.push_str(line);
        ninja.push('\n');
    }

    fn config_or(&mut self, key: &str, default: &str) -> String {
        let value = self.config.get(key);
        value.map_or(default, String::as_str).to_owned()
    }

    fn config_var_or(&mut self, name: &str, key: &str, default: &str) {
        let value = self.config_or(key, default);
        self.variable(name, &value);
    }

    fn variable(&mut self, name: &str, value: &str) {
        self.write(&format!("{name} = {value}"));
    }

    fn rule(&mut self, name: &str, command: &str) {
        self.write(&format!("rule {name}\n  command = {command}"));
    }

    fn build_cmd(&mut self, targets: Array, rule: &str, deps: Array, implicit_deps: Array) {
        let list = |array: Array| {
            let texts = array.iter().map(|text| format!(" {text}"));
            texts.collect::<String>()
        };
        let (targets, deps) = (list(targets), list(deps));
        let implicit_deps = match list(implicit_deps) {
            none if none.is_empty() => none,
            some => format!(" |{some}"),
        };
        self.write(&format!("build{targets}: {rule}{deps}{implicit_deps}"));
    }

    fn arg(&mut self, name: &str, value: &str) {
        self.write(&format!("  {name} = {value}"));
    }
}

/// What a script says of one operation.
struct Operation {
    setups: Vec<String>,
    from: String,
    to: String,
    build: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = |what| arguments.next().ok_or(format!("{what} is missing"));
    let (script, input, output) = (argument("SCRIPT")?, argument("INPUT")?, argument("OUTPUT")?);
    let config = arguments.map(|setting| {
        let (key, value) = setting.split_once('=').ok_or("no KEY=VALUE")?;
        Ok((key.to_owned(), value.to_owned()))
    });
    let emitter = Emitter {
        config: config.collect::<Result<_, &str>>()?,
        ..Emitter::default()
    };

    let operations = Rc::new(RefCell::new(Vec::new()));
    let mut engine = Engine::new();
    let mut calyx = Module::new();
    calyx.set_var("calyx_state", "calyx");
    let mut modules = StaticModuleResolver::new();
    modules.insert("calyx", calyx);
    engine.set_module_resolver(modules);
    engine.register_fn("state", |name: &str, _extensions: Array| name.to_owned());
    let seen = Rc::clone(&operations);
    engine.register_fn(
        "op",
        move |_name: &str, setups: Array, from: &str, to: &str, build: FnPtr| {
            let setups = setups.into_iter().map(Dynamic::cast::<FnPtr>);
            seen.borrow_mut().push(Operation {
                setups: setups.map(|setup| setup.fn_name().to_owned()).collect(),
                from: from.to_owned(),
                to: to.to_owned(),
                build: build.fn_name().to_owned(),
            });
        },
    );
    let ast = engine.compile_file(script.into())?;
    engine.run_ast(&ast)?;

    let operations = operations.take();
    let [operation] = operations.as_slice() else {
        return Err(format!("{} operations", operations.len()).into());
    };
    // fud2 calls what makes the Ninja file in an engine of its own, with the functions of the script and nothing else of it.
    let functions = ast.clone_functions_only();
    let mut engine = Engine::new();
    engine
        .register_fn("config_or", Emitter::config_or)
        .register_fn("config_var_or", Emitter::config_var_or)
        .register_fn("var_", Emitter::variable)
        .register_fn("external_path", |_: &mut Emitter, path: &str| {
            format!("../{path}")
        })
        .register_fn("rule", Emitter::rule)
        .register_fn("build_cmd", Emitter::build_cmd)
        .register_fn("arg", Emitter::arg);
    let scope = &mut Scope::new();
    for setup in &operation.setups {
        engine.call_fn::<()>(scope, &functions, setup, (emitter.clone(),))?;
    }
    let files = (emitter.clone(), input, output);
    engine.call_fn::<()>(scope, &functions, &operation.build, files)?;
    println!("# {} to {}", operation.from, operation.to);
    print!("{}", emitter.ninja.borrow());
    Ok(())
}
