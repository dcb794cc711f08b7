//! Errors of stores as errors of a backend, and back again.

use std::error::Error as StdError;

use forerun::{Error, ErrorKind};
use object_store::path::Path;

/// The name of this store in errors that have to name one.
const STORE: &str = "Forerun";

/// An error of the store inside, for the engine. [`to_store`] finds the variant again.
pub(crate) fn from_store(error: object_store::Error, location: &Path) -> Error {
    use object_store::Error as Store;
    let kind = match &error {
        Store::NotFound { .. } => ErrorKind::NotFound,
        Store::Precondition { .. } | Store::NotModified { .. } => ErrorKind::Changed,
        Store::PermissionDenied { .. } | Store::Unauthenticated { .. } => ErrorKind::Denied,
        _ => ErrorKind::Permanent,
    };
    Error::new(kind, format!("{location}: {}", innermost(&error))).with_source(error)
}

/// An error of the engine about the object at `location`, as the store inside would say it.
pub(crate) fn to_store(error: Error, location: &Path) -> object_store::Error {
    use object_store::Error as Store;
    let behind = error.source().and_then(|source| source.downcast_ref::<Store>());
    let path = location.to_string();
    match (behind, error.kind) {
        (Some(Store::Unauthenticated { .. }), _) => Store::Unauthenticated { path, source: error.into() },
        (Some(Store::NotSupported { .. }), _) => Store::NotSupported { source: error.into() },
        (Some(Store::Generic { store, .. }), _) => Store::Generic { store, source: error.into() },
        (_, ErrorKind::NotFound) => Store::NotFound { path, source: error.into() },
        (_, ErrorKind::Changed) => Store::Precondition { path, source: error.into() },
        (_, ErrorKind::Denied) => Store::PermissionDenied { path, source: error.into() },
        _ => generic(error),
    }
}

pub(crate) fn generic(error: impl Into<Box<dyn StdError + Send + Sync>>) -> object_store::Error {
    object_store::Error::Generic { store: STORE, source: error.into() }
}

/// The cause of all: errors around it repeat it, and may show a signed URL.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use std::mem::discriminant;

    use object_store::Error as Store;

    use super::*;

    #[test]
    fn an_error_comes_back_as_the_same_variant_with_its_cause() {
        let (location, path) = (Path::from("a/b"), "a/b".to_owned());
        let cause = || "the disk burns".into();
        for make in [
            |path, source| Store::NotFound { path, source },
            |path, source| Store::Precondition { path, source },
            |path, source| Store::PermissionDenied { path, source },
            |path, source| Store::Unauthenticated { path, source },
            |_, source| Store::NotSupported { source },
            |_, source| Store::Generic { store: "S3", source },
        ] {
            let error = to_store(from_store(make(path.clone(), cause()), &location), &location);
            assert_eq!(discriminant(&error), discriminant(&make(path.clone(), cause())), "{error}");
            assert!(error.to_string().ends_with("a/b: the disk burns"), "{error}");
        }
    }

    #[test]
    fn an_error_of_the_engine_says_what_happened() {
        let error = to_store(Error::new(ErrorKind::Changed, "a has changed"), &Path::from("a"));
        assert!(matches!(error, Store::Precondition { .. }), "{error:?}");
        let error = to_store(Error::new(ErrorKind::Ended, "it has ended"), &Path::from("a"));
        assert_eq!(error.to_string(), "Generic Forerun error: it has ended");
    }
}
