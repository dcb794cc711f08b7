//! JSON, written only: objects, arrays, text and numbers are all that outcomes need, and keys stay in the
//! order in which they are written.

use std::fmt::Write;

/// A document being written.
#[derive(Debug, Default)]
pub struct Json {
    text: String,
    depth: usize,
    /// The object or array has something in it already.
    has_items: bool,
}

impl Json {
    /// The document, with a newline at its end.
    pub fn finish(mut self) -> String {
        self.text.push('\n');
        self.text
    }

    /// An object of what `inside` writes, key and value in turn.
    pub fn object(&mut self, inside: impl FnOnce(&mut Json)) {
        self.nest('{', '}', inside);
    }

    /// An array of what `write` writes for each of `items`, one value.
    pub fn array<T>(&mut self, items: &[T], write: impl Fn(&mut Json, &T)) {
        self.nest('[', ']', |json| {
            items.iter().for_each(|item| {
                json.next_line();
                write(json, item);
            });
        });
    }

    /// A key of the object; its value follows.
    pub fn key(&mut self, key: &str) -> &mut Json {
        self.next_line();
        self.text(key);
        self.text.push_str(": ");
        self
    }

    /// A value: a whole number.
    pub fn number(&mut self, number: u64) {
        self.text.push_str(&number.to_string());
    }

    /// A value: a share or a ratio, with six decimals.
    pub fn ratio(&mut self, ratio: f64) {
        write!(self.text, "{ratio:.6}").expect("a string takes all text");
    }

    /// A number, or null.
    pub fn maybe(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.number(number),
            None => self.text.push_str("null"),
        }
    }

    /// A value: text, escaped as needed.
    pub fn text(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            match character {
                '"' | '\\' => self.text.extend(['\\', character]),
                '\u{0}'..='\u{1f}' => {
                    write!(self.text, "\\u{:04x}", u32::from(character)).expect("a string takes all text");
                }
                _ => self.text.push(character),
            }
        }
        self.text.push('"');
    }

    fn nest(&mut self, open: char, close: char, inside: impl FnOnce(&mut Json)) {
        self.text.push(open);
        self.depth += 1;
        self.has_items = false;
        inside(self);
        self.depth -= 1;
        if self.has_items {
            self.new_line();
        }
        self.has_items = true;
        self.text.push(close);
    }

    fn next_line(&mut self) {
        if self.has_items {
            self.text.push(',');
        }
        self.has_items = true;
        self.new_line();
    }

    fn new_line(&mut self) {
        self.text.push('\n');
        self.text.push_str(&"  ".repeat(self.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_nests_and_escapes() {
        let mut json = Json::default();
        json.object(|json| {
            json.key("a").text("x\"\\\n");
            json.key("b").array(&[1, 2], |json, number| json.number(*number));
            json.key("c").object(|_| {});
            json.key("d").maybe(None);
        });
        let expected = "{\n  \"a\": \"x\\\"\\\\\\u000a\",\n  \"b\": [\n    1,\n    2\n  ],\n  \"c\": {},\n  \"d\": null\n}\n";
        assert_eq!(json.finish(), expected);
    }
}
