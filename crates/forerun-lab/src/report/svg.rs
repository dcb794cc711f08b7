//! Elements of the page and of its pictures: whatever is built from them is well
//! formed and escaped.

use super::number;

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Node {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Child>,
}

#[derive(Clone, Debug)]
enum Child {
    Node(Node),
    Text(String),
    Style(&'static str),
}

/// An empty element.
pub(super) fn el(name: &'static str) -> Node {
    Node { name, attributes: Vec::new(), children: Vec::new() }
}

/// An element with text in it.
pub(super) fn text(name: &'static str, content: impl Into<String>) -> Node {
    el(name).text(content)
}

impl Node {
    /// With an attribute.
    pub(super) fn set(mut self, name: &'static str, value: impl ToString) -> Node {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// With a class.
    pub(super) fn class(self, name: impl ToString) -> Node {
        self.set("class", name)
    }

    /// With coordinates or sizes.
    pub(super) fn at<const N: usize>(mut self, numbers: [(&'static str, f64); N]) -> Node {
        self.attributes.extend(numbers.map(|(name, value)| (name, number::coordinate(value))));
        self
    }

    /// With text at its end.
    pub(super) fn text(mut self, content: impl Into<String>) -> Node {
        self.children.push(Child::Text(content.into()));
        self
    }

    /// With a style sheet, which must not contain `</`.
    pub(super) fn style(mut self, sheet: &'static str) -> Node {
        self.children.push(Child::Style(sheet));
        self
    }

    /// With an element at its end.
    pub(super) fn with(mut self, child: Node) -> Node {
        self.children.push(Child::Node(child));
        self
    }

    /// With elements at its end.
    pub(super) fn with_all(mut self, children: impl IntoIterator<Item = Node>) -> Node {
        self.children.extend(children.into_iter().map(Child::Node));
        self
    }

    /// Adds the element to `page`.
    pub(super) fn write(&self, page: &mut String) {
        page.push('<');
        page.push_str(self.name);
        for (name, value) in &self.attributes {
            page.push(' ');
            page.push_str(name);
            page.push_str("=\"");
            escape(value, page);
            page.push('"');
        }
        if self.children.is_empty() && IS_VOID.contains(&self.name) {
            page.push_str("/>");
            return;
        }
        page.push('>');
        for child in &self.children {
            match child {
                Child::Node(node) => node.write(page),
                Child::Text(content) => escape(content, page),
                Child::Style(sheet) => page.push_str(sheet),
            }
        }
        page.push_str("</");
        page.push_str(self.name);
        page.push('>');
        if BREAKS_LINE.contains(&self.name) {
            page.push('\n');
        }
    }
}

/// Elements that have no closing tag in HTML, and shapes that need none.
const IS_VOID: [&str; 5] = ["meta", "path", "rect", "line", "polyline"];

/// Elements after which a line ends, so that the page is no single line.
const BREAKS_LINE: [&str; 10] = ["p", "h1", "h2", "h3", "svg", "tr", "section", "figure", "li", "details"];

fn escape(content: &str, page: &mut String) {
    for c in content.chars() {
        match c {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            // Not allowed in any document.
            c if c.is_control() && c != '\n' && c != '\t' => page.push('\u{fffd}'),
            c => page.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_escaped() {
        let mut page = String::new();
        text("b", "a<b>&\"'\u{0}").set("title", "\"<").at([("x", 1.25), ("y", -0.0)]).write(&mut page);
        let expected = "<b title=\"&quot;&lt;\" x=\"1.3\" y=\"0\">a&lt;b&gt;&amp;&quot;&#39;\u{fffd}</b>";
        assert_eq!(page, expected);
    }
}
