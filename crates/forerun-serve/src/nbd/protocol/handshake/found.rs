//! The driver's findings for a client in its handshake.

use std::mem;

use super::super::{Broken, Export, Session};
use super::answer::{Answer, Problem};
use super::{Handshake, Phase, Question, Step, options};

/// Zeros that end the answer to EXPORT_NAME unless the client wants none.
const ZEROS: [u8; 124] = [0; 124];

impl Handshake {
    /// The answer to [`Step::Find`].
    ///
    /// # Errors
    /// If the export is not there and no answer is left for that.
    pub fn found(&mut self, export: Option<&Export>, output: &mut Vec<u8>) -> Result<Step, Broken> {
        let Phase::Wait { option, name, question } = mem::replace(&mut self.phase, Phase::Option) else {
            return Ok(Step::Receive);
        };
        let mut answer = Answer { option, output };
        let Some(export) = export else {
            return match question {
                Question::ExportName => Err(Broken::NoSuchExport),
                _ => {
                    answer.refuse(Problem::Unknown);
                    Ok(Step::Receive)
                }
            };
        };
        match question {
            Question::ExportName => {
                let session = self.session_with(&name);
                output.extend_from_slice(&export.size.to_be_bytes());
                output.extend_from_slice(&export.flags_for(session).to_be_bytes());
                output.extend_from_slice(if self.has_no_zeroes { &[] } else { &ZEROS });
                return Ok(Step::Begin(session));
            }
            Question::Info(wanted) => {
                answer.info(export, wanted, self.session);
                answer.ack();
                if option == options::GO {
                    return Ok(Step::Begin(self.session_with(&name)));
                }
            }
            Question::Contexts { is_met } => {
                let is_list = option == options::LIST_META_CONTEXT;
                if is_met {
                    answer.context(is_list);
                }
                answer.ack();
                if !is_list {
                    self.contexts_of = is_met.then_some(name);
                }
            }
            Question::List => {}
        }
        Ok(Step::Receive)
    }

    /// The answer to [`Step::List`]; none if they cannot be listed.
    pub fn listed(&mut self, names: Option<&[String]>, output: &mut Vec<u8>) {
        let Phase::Wait { option, .. } = mem::replace(&mut self.phase, Phase::Option) else { return };
        let mut answer = Answer { option, output };
        match names {
            Some(names) => {
                names.iter().for_each(|name| answer.server(name));
                answer.ack();
            }
            None => answer.refuse(Problem::Policy),
        }
    }

    /// Block status holds for the export that it was asked for, and no other.
    fn session_with(&self, name: &str) -> Session {
        Session { has_allocation: self.contexts_of.as_deref() == Some(name), ..self.session }
    }
}
