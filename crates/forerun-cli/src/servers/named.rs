//! A URL, and the name that its exports get.

/// `[NAME=]URL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedUrl {
    pub(crate) name: Option<String>,
    pub(crate) url: String,
}

impl NamedUrl {
    /// As a user gives it. A URL or a path may have `=` itself, but not before its first `/` or `:`.
    pub(crate) fn parse(text: &str) -> Result<NamedUrl, String> {
        match text.split_once('=') {
            Some(("", _)) => Err("there is no name before `=`: give NAME=URL".to_owned()),
            Some((name, _)) if name.contains(['/', ':']) => Ok(NamedUrl { name: None, url: text.to_owned() }),
            Some((_, "")) => {
                Err("there is no URL after `=`: give NAME=URL, or ./PATH for a path with `=`".to_owned())
            }
            Some((name, url)) => Ok(NamedUrl { name: Some(name.to_owned()), url: url.to_owned() }),
            None => Ok(NamedUrl { name: None, url: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_before_the_first_equals_sign_is_a_name() {
        let parse = |text| NamedUrl::parse(text).map(|named| (named.name, named.url));
        let named = |name: Option<&str>, url: &str| Ok((name.map(str::to_owned), url.to_owned()));
        assert_eq!(parse("s3://b/k"), named(None, "s3://b/k"));
        assert_eq!(parse("https://h/k?a=b"), named(None, "https://h/k?a=b"));
        assert_eq!(parse("./a=b"), named(None, "./a=b"));
        assert_eq!(parse("root=s3://b/k=v"), named(Some("root"), "s3://b/k=v"));
        assert_eq!(parse("disk.img"), named(None, "disk.img"));
        assert!(parse("=x").is_err() && parse("x=").is_err());
    }
}
