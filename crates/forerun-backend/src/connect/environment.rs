//! Environment variables that hold credentials.

use std::collections::BTreeMap;
use std::fmt;

/// The environment variables with credentials and endpoints. The default is the process's own
/// environment, read when connecting.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Option<BTreeMap<String, String>>,
}

impl Environment {
    /// These variables alone, whatever the process has.
    pub fn of<K: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (K, V)>) -> Environment {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Environment { variables: Some(variables.collect()) }
    }

    /// The value of `name`, unless it is unset or empty.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let value = match &self.variables {
            Some(variables) => variables.get(name).cloned(),
            None => std::env::var(name).ok(),
        };
        value.filter(|value| !value.is_empty())
    }

    /// The variables whose names start with `prefix`.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Vec<(String, String)> {
        let all: Vec<(String, String)> = match &self.variables {
            Some(variables) => variables.clone().into_iter().collect(),
            None => std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        };
        all.into_iter().filter(|(name, value)| name.starts_with(prefix) && !value.is_empty()).collect()
    }
}

impl fmt::Debug for Environment {
    /// Names only: the values are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variables {
            Some(variables) => f.debug_set().entries(variables.keys()).finish(),
            None => f.write_str("the process's environment"),
        }
    }
}
