//! What a command is given to replay: a token, or a file with a schedule or a regression, or either on standard input.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;

use super::arguments::{DesignArg, design, scenario};
use super::output::Failure;
use vgdp_sim::designs;
use vgdp_sim::model::design::Design;
use vgdp_sim::report::{Schedule, Token, TokenError};
use vgdp_sim::scenario::Scenario;

#[derive(Args)]
pub struct GivenArgs {
    /// A token, or a file: a schedule, or a regression in JSON; `-` reads either from standard input.
    #[arg(value_name = "TOKEN|FILE")]
    what: PathBuf,
    /// Replay it on this design, instead of the one for which it was made.
    #[arg(long, value_name = "NAME", value_parser = design)]
    design: Option<DesignArg>,
    /// The scenario of the token, where that is not built in: its file.
    #[arg(long, value_name = "FILE", value_parser = scenario)]
    scenario: Option<Scenario>,
}

pub enum Given {
    Token(Token),
    /// A schedule, and what it is called.
    Schedule(Box<Schedule>, String),
}

impl GivenArgs {
    /// What is given, and the design on which it is replayed.
    pub fn read(&self) -> Result<(Given, &'static dyn Design), Failure> {
        let is_piped = self.what.as_os_str() == "-";
        let name = if is_piped { "standard input".to_owned() } else { self.what.display().to_string() };
        let text = if is_piped {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        } else if Token::is_meant_by(&name) && !self.what.exists() {
            Ok(name.clone())
        } else {
            fs::read_to_string(&self.what)
        };
        let text = text.map_err(|it| {
            Failure::Input(format!(
                "`{name}` cannot be read: {it}; `vgdp-sim` prints tokens to replay, and `vgdp-sim hunt` writes schedules"
            ))
        })?;
        if Token::is_meant_by(&text) {
            let token = self.token(text.trim()).map_err(Failure::Input)?;
            let made_for = || token.design().map_err(|it| Failure::Input(it.to_string()));
            let design = self.design.map_or_else(made_for, |it| Ok(it.0))?;
            return Ok((Given::Token(token), design));
        }
        if self.scenario.is_some() {
            let what =
                format!("`{name}` is a schedule, which says itself of which scenario it is; leave out --scenario");
            return Err(Failure::Input(what));
        }
        let schedule: Schedule = text.parse().map_err(|it| Failure::Input(format!("{name}: {it}")))?;
        let made_for = || designs::named(schedule.design).expect("a schedule names a built-in design");
        let design = self.design.map_or_else(made_for, |it| it.0);
        Ok((Given::Schedule(Box::new(schedule), name), design))
    }

    fn token(&self, text: &str) -> Result<Token, String> {
        let Some(scenario) = &self.scenario else { return Token::read(text).map_err(|it| it.to_string()) };
        Token::read_among(text, std::slice::from_ref(scenario)).map_err(|it| match it {
            TokenError::UnknownScenario { hash } => format!(
                "the token is for another scenario than `{}` (its name has the hash {hash:08x}); give --scenario that one, or leave it out where it is built in",
                scenario.name
            ),
            it => it.to_string(),
        })
    }
}
