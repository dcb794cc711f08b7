//! The kinds of reading that readahead is for, and one for each of 64 blocks.

/// The kind of reading that readahead is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// A stream towards the end of its object.
    Forward,
    /// A stream towards the start of its object.
    Backward,
    /// A stream that reads equal elements at even steps.
    Strided,
    /// The rest of an object that is read all over.
    Filled,
    /// Bytes that advice or a profile says will be read.
    Planned,
    /// Files that a walk through a directory comes to next.
    Walk,
    /// A bet for no stream, on bytes near those that were read.
    Guessed,
    /// Bytes that a policy other than `adaptive` wants.
    #[default]
    Other,
}

impl Class {
    /// Each of them, by its number.
    pub const ALL: [Class; 8] = [
        Class::Forward,
        Class::Backward,
        Class::Strided,
        Class::Filled,
        Class::Planned,
        Class::Walk,
        Class::Guessed,
        Class::Other,
    ];

    /// Whether it rests on nothing but how was read before: nobody has said that it will be read.
    pub(crate) const fn is_guess(self) -> bool {
        matches!(self, Class::Forward | Class::Backward | Class::Strided | Class::Guessed)
    }

    /// One word for it, of lower-case letters and dashes.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Forward => "forward",
            Class::Backward => "backward",
            Class::Strided => "strided",
            Class::Filled => "filled",
            Class::Planned => "planned",
            Class::Walk => "walk",
            Class::Guessed => "guessed",
            Class::Other => "other",
        }
    }
}

/// A class for each of 64 blocks: the number of each has a bit in each word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Classes([u64; 3]);

impl Classes {
    /// The blocks `bits` have `class` from now on.
    pub(crate) fn set(&mut self, bits: u64, class: Class) {
        for (place, word) in self.0.iter_mut().enumerate() {
            *word = if class as usize >> place & 1 == 1 { *word | bits } else { *word & !bits };
        }
    }

    /// The class of the first block of `bits`, which is not empty, and all blocks of `bits` of that class.
    pub(crate) fn first(&self, bits: u64) -> (Class, u64) {
        let (block, mut class, mut same) = (bits.trailing_zeros(), 0, bits);
        for (place, word) in self.0.iter().enumerate() {
            let bit = word >> block & 1;
            class |= (bit as usize) << place;
            same &= if bit == 1 { *word } else { !word };
        }
        (Class::ALL[class], same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_a_class_of_its_own() {
        let mut classes = Classes::default();
        for (place, class) in Class::ALL.into_iter().enumerate() {
            classes.set(u64::MAX << (8 * place), class);
        }
        for (place, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(classes.first(u64::MAX << (8 * place)), (class, 0xff << (8 * place)));
        }
    }
}
