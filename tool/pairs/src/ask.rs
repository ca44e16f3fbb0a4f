//! Questions to a child process. Each is a type with the type of its answer, and a line of its name and of JSON:
//!
//! ```text
//! parent   RunPrepared {"cell":0,"connections":12}
//! child    RunPrepared {"Ok":{"client_ns":1200345, …}}
//! ```

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::child::Child;
use crate::failed::Failed;

/// A question to a child process.
pub trait Ask: Serialize + DeserializeOwned {
    /// Its name in lines.
    const NAME: &'static str;

    /// What it is answered by.
    type Answer: Serialize + DeserializeOwned;

    /// Answers it, in the child process.
    ///
    /// # Errors
    /// Why there is no answer, which the parent is told in its place.
    fn answer(self, child: &mut Child) -> Result<Self::Answer, Failed>;

    /// The line that asks it.
    ///
    /// # Errors
    /// If it has no form in JSON.
    fn line(&self) -> serde_json::Result<Vec<u8>> {
        line(Self::NAME, self)
    }

    /// What a line of the child's answers to it.
    ///
    /// # Errors
    /// If the line is no answer to it.
    fn read(line: &str) -> Result<Result<Self::Answer, Failed>, Failed> {
        match line.split_once(' ') {
            Some((name, answer)) if name == Self::NAME => serde_json::from_str(answer)
                .map_err(|error| Failed::broken(format!("its answer to {} cannot be read: {error}", Self::NAME))),
            _ => {
                let said: String = line.chars().take(80).collect();
                Err(Failed::broken(format!("it writes to standard output: {said:?}")))
            }
        }
    }
}

/// A type of questions that a child process answers.
#[derive(Clone, Copy)]
pub struct Question {
    name: &'static str,
    answer: fn(&str, &mut Child) -> serde_json::Result<Vec<u8>>,
}

impl Question {
    /// Questions of this type.
    pub const fn of<A: Ask>() -> Self {
        Self { name: A::NAME, answer: answer::<A> }
    }
}

/// Answers such questions until there are no more.
///
/// # Errors
/// If they cannot be read or the answers not be written: then nobody is left to ask.
pub fn serve(questions: &[Question], asked: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut child = Child::default();
    for asked in asked.lines() {
        let asked = asked?;
        let (name, json) = asked.split_once(' ').unwrap_or((&asked, ""));
        let answer = match questions.iter().find(|question| question.name == name) {
            Some(question) => (question.answer)(json, &mut child)?,
            None => line(name, &Err::<(), Failed>(Failed::broken("nothing answers this question")))?,
        };
        answers.write_all(&answer)?;
        answers.flush()?;
    }
    Ok(())
}

fn answer<A: Ask>(json: &str, child: &mut Child) -> serde_json::Result<Vec<u8>> {
    let asked = serde_json::from_str::<A>(json);
    let asked = asked.map_err(|error| Failed::broken(format!("the question {} cannot be read: {error}", A::NAME)));
    line(A::NAME, &asked.and_then(|asked| asked.answer(child)))
}

fn line(name: &str, json: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = format!("{name} ").into_bytes();
    serde_json::to_writer(&mut line, json)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Keeps a text, whose number is the answer.
    #[derive(Serialize, Deserialize)]
    struct Keep(String);

    impl Ask for Keep {
        const NAME: &'static str = "Keep";
        type Answer = usize;

        fn answer(self, child: &mut Child) -> Result<usize, Failed> {
            Ok(child.keep(self.0))
        }
    }

    /// Asks for a number in place of the text.
    #[derive(Serialize, Deserialize)]
    struct Take(usize);

    impl Ask for Take {
        const NAME: &'static str = "Take";
        type Answer = u16;

        fn answer(self, child: &mut Child) -> Result<u16, Failed> {
            child.kept::<u16>(self.0).copied()
        }
    }

    fn answers(asked: &str) -> String {
        let mut answers = Vec::new();
        serve(&[Question::of::<Keep>(), Question::of::<Take>()], asked.as_bytes(), &mut answers).unwrap();
        String::from_utf8(answers).unwrap()
    }

    fn reason<A: Ask>(line: &str) -> String {
        A::read(line).unwrap_or_else(Err).err().unwrap().reason
    }

    #[test]
    fn a_question_is_answered_by_its_type() {
        let asked = String::from_utf8(Keep("text".to_owned()).line().unwrap()).unwrap();
        assert_eq!(asked, "Keep \"text\"\n");
        let answered = answers(&(asked.clone() + &asked));
        assert_eq!(answered, "Keep {\"Ok\":0}\nKeep {\"Ok\":1}\n");
        assert_eq!(Keep::read(answered.lines().next().unwrap()).unwrap().unwrap(), 0);
    }

    #[test]
    fn what_is_of_another_type_is_named() {
        assert!(reason::<Take>(answers("Take \"x\"\n").trim_end()).starts_with("the question Take cannot be read: "));
        let other = answers("Keep \"text\"\nTake 0\nTake 1\n");
        let lines: Vec<&str> = other.lines().collect();
        assert_eq!(reason::<Take>(lines[1]), "number 0 is of another type");
        assert_eq!(reason::<Take>(lines[2]), "nothing is prepared under this number");
        assert_eq!(
            answers("Drop 0\n"),
            "Drop {\"Err\":{\"outcome\":\"broken\",\"reason\":\"nothing answers this question\"}}\n"
        );
        assert!(reason::<Keep>("Keep {\"Ok\":\"text\"}").starts_with("its answer to Keep cannot be read: "));
        assert_eq!(reason::<Keep>("hello"), "it writes to standard output: \"hello\"");
    }
}
