//! Lists of policies and devices as users write them.

use std::str::FromStr;

use forerun::PolicyKind;
use forerun_sim::device::Preset;

/// Policies, each once, in the order given.
#[derive(Clone, Debug)]
pub(crate) struct Policies(pub(crate) Vec<PolicyKind>);

impl FromStr for Policies {
    type Err = String;

    fn from_str(text: &str) -> Result<Policies, String> {
        let mut policies = Vec::new();
        for name in text.split(',').map(str::trim) {
            let named = match name {
                "all" => PolicyKind::ALL.to_vec(),
                _ => vec![name.parse().map_err(|_| unknown(name))?],
            };
            for policy in named {
                if !policies.contains(&policy) {
                    policies.push(policy);
                }
            }
        }
        Ok(Policies(policies))
    }
}

fn unknown(name: &str) -> String {
    let known = PolicyKind::ALL.map(PolicyKind::name).join(", ");
    format!("no policy is called {name:?}; there are {known}, and all")
}

/// Devices, each once, in the order given. The options of `network:` have commas of their own.
#[derive(Clone, Debug)]
pub(crate) struct Devices(pub(crate) Vec<Preset>);

impl FromStr for Devices {
    type Err = String;

    fn from_str(text: &str) -> Result<Devices, String> {
        let mut names: Vec<String> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let is_known = names.iter().any(|name| name == part);
            let is_parameter = part.contains('=') && !part.starts_with("network:");
            match names.last_mut().filter(|name| is_parameter && name.starts_with("network:")) {
                Some(network) => {
                    network.push(',');
                    network.push_str(part);
                }
                None if is_known => {}
                None => names.push(part.to_owned()),
            }
        }
        names.iter().map(|name| Preset::from_name(name)).collect::<Result<_, _>>().map(Devices)
    }
}

/// Every device, for the long help.
pub(super) fn device_help() -> String {
    let mut text = String::from("The devices, with commas:\n\n");
    for preset in Preset::ALL.iter().filter_map(|name| Preset::from_name(name).ok()) {
        text += &format!("- {:<12} {}\n", preset.name(), preset.title());
    }
    text + "- network:latency=50ms,connection=80MB/s,total=400MB/s: a store behind a network; also with sigma=0.3, \
            tail=0.5%:100ms-1s, requests=5500/s and connections=64"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_listed_once() {
        let names = |text: &str| -> Vec<&str> {
            text.parse::<Policies>().unwrap().0.into_iter().map(PolicyKind::name).collect()
        };
        assert_eq!(names("plain, none,plain"), ["plain", "none"]);
        assert_eq!(names("adaptive,all").len(), PolicyKind::ALL.len());
        let error = "none,best".parse::<Policies>().unwrap_err();
        assert!(error.contains("\"best\"") && error.contains("none, plain, aligned, eager"), "{error}");
    }

    #[test]
    fn a_network_has_commas_of_its_own() {
        let network = "network:latency=50ms,tail=0.5%:100ms-1s,total=400MB/s";
        let devices: Devices = format!("s3,{network},demo,s3").parse().unwrap();
        let names: Vec<&str> = devices.0.iter().map(Preset::name).collect();
        assert_eq!(names, ["s3", network, "demo"]);
        let error = "demo,floppy".parse::<Devices>().unwrap_err();
        assert!(error.contains("\"floppy\"") && error.contains("demo, "), "{error}");
    }
}
