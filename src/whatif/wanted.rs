//! What the words of a command ask for at once.

use petal_analysis::replay::{Question, Wanted};
use petal_metadata::{Metadata, nearest};
use petal_profile::Error;
use petal_reconstruct::FrameLabels;

use crate::args::WhatIfArgs;

/// Everything of a kind.
const ALL: &str = "all";

/// What `args` ask for.
pub fn wanted(args: &WhatIfArgs, metadata: &Metadata) -> Result<Wanted, Error> {
    let labels = FrameLabels::new(metadata);
    let all = Question::all(metadata).into_iter();
    let all: Vec<(String, Question)> = all
        .map(|question| (question.subject(metadata, &labels), question))
        .collect();
    let mut wanted = Wanted::default();
    let asked = [
        ("--overhead", &args.overhead, Some(Question::AllControl)),
        (
            "--condition",
            &args.condition,
            Some(Question::AllConditions),
        ),
        ("--balance", &args.balance, None),
        ("--order", &args.order, Some(Question::AllOrder)),
    ];
    for (option, names, of_all) in asked {
        for name in names {
            let question = match of_all.filter(|_| name == ALL) {
                Some(question) => question,
                None => find(option, name, &all)?,
            };
            wanted.without.insert(question);
        }
    }
    for (name, cycles) in &args.cycles {
        let question = find("--cycles", name, &all)?;
        if wanted.cycles.insert(question, u64::from(*cycles)).is_some() {
            return Err(Error::usage(format!(
                "`--cycles`: a run of `{name}` takes one number of cycles: name it once"
            )));
        }
    }
    Ok(wanted)
}

/// Whether a question is what an option asks.
fn is_of(option: &str, question: Question) -> bool {
    match question {
        Question::Control(_) | Question::Call(_) => option == "--overhead",
        Question::Condition(_) => option == "--condition",
        Question::Balance(_) => option == "--balance",
        Question::Order(_) => option == "--order",
        Question::Group(..) | Question::Invoke(_) => option == "--cycles",
        _ => false,
    }
}

/// The question that an option asks of what has this name.
fn find(option: &str, name: &str, all: &[(String, Question)]) -> Result<Question, Error> {
    let of_option = || all.iter().filter(|(_, question)| is_of(option, *question));
    if let Some((_, question)) = of_option().find(|(subject, _)| subject == name) {
        return Ok(*question);
    }
    let names = of_option().map(|(subject, _)| subject.as_str());
    let near = nearest(name, names);
    let near = near.first().map(|near| format!("; is it `{near}`?"));
    Err(Error::usage(format!(
        "`{option}`: the design has no `{name}` that this can be asked of{}",
        near.unwrap_or_default()
    )))
}
