//! The handshake: a client chooses an export and what it understands.

mod answer;
mod found;
mod options;

use bytes::{Buf, BytesMut};

use super::{Broken, Session};
use crate::fields::Fields;
use answer::{Answer, Problem};
use options::{Choice, Wanted};

/// Begins the greeting.
const MAGIC: u64 = u64::from_be_bytes(*b"NBDMAGIC");
/// Ends the greeting's magic, and begins every option.
const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");

/// Both sides have the same two flags.
const FIXED_NEWSTYLE: u16 = 1 << 0;
const NO_ZEROES: u16 = 1 << 1;

/// Magic number, option and length.
const OPTION_HEAD_BYTES: usize = 16;
/// The longest option that is looked at: a dozen of the longest strings.
const OPTION_BYTES_MAX: u32 = 64 << 10;
/// The longest option that is skipped and answered; a longer one is no honest mistake.
const OPTION_SKIP_BYTES_MAX: u32 = 16 << 20;

/// The next task of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bring more bytes.
    Receive,
    /// Look for the export of this name, and say by [`Handshake::found`]. The empty name is the first.
    Find(String),
    /// Say by [`Handshake::listed`] which exports there are.
    List,
    /// The export that was found last is the client's: requests come next.
    Begin(Session),
    /// The client waits for TLS. All that follows is encrypted.
    BeginTls,
    /// The client leaves.
    End,
}

/// The server's side of a handshake. A driver calls [`Handshake::step`] until the answer is
/// [`Step::Begin`] or [`Step::End`], and sends `output` whenever it waits.
#[derive(Debug, Default)]
pub struct Handshake {
    phase: Phase,
    session: Session,
    tls: TlsState,
    /// The client wants no zeros after EXPORT_NAME.
    has_no_zeroes: bool,
    /// The client keeps to the fixed handshake, in which every option has an answer.
    is_fixed: bool,
    /// Which export block status was asked for.
    contexts_of: Option<String>,
}

/// Whether the connection is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TlsState {
    /// The server has no certificate.
    #[default]
    Absent,
    /// No other option is answered before.
    Required,
    Begun,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Flags,
    Option,
    /// Bytes of an option that was refused for its length.
    Skip(usize),
    /// The driver looks for something.
    Wait {
        option: u32,
        name: String,
        question: Question,
    },
}

#[derive(Clone, Copy, Debug)]
enum Question {
    ExportName,
    Info(Wanted),
    Contexts { is_met: bool },
    List,
}

impl Handshake {
    /// Greets the client.
    pub fn new(output: &mut Vec<u8>) -> Handshake {
        output.extend_from_slice(&MAGIC.to_be_bytes());
        output.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        output.extend_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        Handshake::default()
    }

    /// Greets the client, which has to begin TLS.
    pub fn with_tls(output: &mut Vec<u8>) -> Handshake {
        Handshake { tls: TlsState::Required, ..Handshake::new(output) }
    }

    /// Takes at most one message from `input`, and adds its answer to `output`.
    ///
    /// # Errors
    /// If no answer is left: the connection ends once `output` is sent.
    pub fn step(&mut self, input: &mut BytesMut, output: &mut Vec<u8>) -> Result<Step, Broken> {
        loop {
            match &mut self.phase {
                Phase::Flags => match input.try_get_u32() {
                    Ok(flags) => self.take_flags(flags)?,
                    Err(_) => return Ok(Step::Receive),
                },
                Phase::Skip(left) => {
                    let skipped = input.len().min(*left);
                    input.advance(skipped);
                    *left -= skipped;
                    if *left > 0 {
                        return Ok(Step::Receive);
                    }
                    self.phase = Phase::Option;
                }
                Phase::Option => match self.take_option(input, output)? {
                    Some(step) => return Ok(step),
                    None => continue,
                },
                // The driver has not answered yet.
                Phase::Wait { .. } => return Ok(Step::Receive),
            }
        }
    }

    fn take_flags(&mut self, flags: u32) -> Result<(), Broken> {
        if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
            return Err(Broken::ClientFlags(flags));
        }
        self.is_fixed = flags & u32::from(FIXED_NEWSTYLE) != 0;
        self.has_no_zeroes = flags & u32::from(NO_ZEROES) != 0;
        self.phase = Phase::Option;
        Ok(())
    }

    /// Takes an option if `input` has all of it; none if the next may follow at once.
    fn take_option(&mut self, input: &mut BytesMut, output: &mut Vec<u8>) -> Result<Option<Step>, Broken> {
        let mut head = Fields(input);
        let (Ok(magic), Ok(option), Ok(len)) = (head.u64(), head.u32(), head.u32()) else {
            return Ok(Some(Step::Receive));
        };
        if magic != OPTION_MAGIC {
            return Err(Broken::OptionMagic(magic));
        }
        if !self.is_fixed && option != options::EXPORT_NAME {
            return Err(Broken::OptionOfOldClient(option));
        }
        if len > OPTION_BYTES_MAX {
            // EXPORT_NAME has no room for an error.
            if len > OPTION_SKIP_BYTES_MAX || option == options::EXPORT_NAME {
                return Err(Broken::OptionTooLong(len));
            }
            input.advance(OPTION_HEAD_BYTES);
            self.phase = Phase::Skip(len as usize);
            Answer { option, output }.refuse(Problem::TooBig);
            return Ok(None);
        }
        if head.0.len() < len as usize {
            return Ok(Some(Step::Receive));
        }
        input.advance(OPTION_HEAD_BYTES);
        let data = input.split_to(len as usize);
        if self.tls == TlsState::Required {
            return self.demand_tls(&data, &mut Answer { option, output });
        }
        if option == options::EXPORT_NAME {
            let name = options::name(&data).map_err(|_| Broken::NoSuchExport)?;
            return Ok(Some(self.ask(option, name, Question::ExportName)));
        }
        let mut answer = Answer { option, output };
        match Choice::parse(option, &data) {
            Ok(choice) => Ok(self.choose(choice, &mut answer)),
            Err(problem) => {
                answer.refuse(problem);
                Ok(None)
            }
        }
    }

    /// Answers an option before TLS.
    fn demand_tls(&mut self, data: &[u8], answer: &mut Answer<'_>) -> Result<Option<Step>, Broken> {
        match (answer.option, data) {
            (options::STARTTLS, []) => {
                answer.ack();
                self.tls = TlsState::Begun;
                return Ok(Some(Step::BeginTls));
            }
            (options::STARTTLS, _) => answer.refuse(Problem::Invalid),
            (options::ABORT, _) => {
                answer.ack();
                return Ok(Some(Step::End));
            }
            (options::EXPORT_NAME, _) => return Err(Broken::NoTls),
            _ => answer.refuse(Problem::TlsRequired),
        }
        Ok(None)
    }

    fn choose(&mut self, choice: Choice, answer: &mut Answer<'_>) -> Option<Step> {
        match choice {
            Choice::Export { name, wanted } => {
                return Some(self.ask(answer.option, name, Question::Info(wanted)));
            }
            // Block status comes in chunks.
            Choice::Contexts { .. } if !self.session.has_structured_replies => {
                answer.refuse(Problem::Invalid);
            }
            Choice::Contexts { name, is_met } => {
                // Whether this succeeds or not, what was chosen before is not any more.
                if answer.option == options::SET_META_CONTEXT {
                    self.contexts_of = None;
                }
                return Some(self.ask(answer.option, name, Question::Contexts { is_met }));
            }
            Choice::List => return Some(self.ask(answer.option, String::new(), Question::List)),
            Choice::StructuredReply => {
                self.session.has_structured_replies = true;
                answer.ack();
            }
            Choice::StartTls if self.tls == TlsState::Begun => answer.refuse(Problem::Invalid),
            Choice::StartTls => answer.refuse(Problem::Unsupported),
            Choice::Abort => {
                answer.ack();
                return Some(Step::End);
            }
        }
        None
    }

    fn ask(&mut self, option: u32, name: String, question: Question) -> Step {
        let step = if let Question::List = question { Step::List } else { Step::Find(name.clone()) };
        self.phase = Phase::Wait { option, name, question };
        step
    }
}
