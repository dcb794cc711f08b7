use super::*;

fn check(html: &str, expected: &[&str]) {
    let base = Url::parse("http://host/pub/my%20files/").unwrap();
    let names = links(html.as_bytes(), &base)
        .into_iter()
        .map(|link| link.name + if link.directory { "/" } else { "" });
    assert_eq!(names.collect::<Vec<_>>(), expected, "{html}");
}

#[test]
fn nginx() {
    check(
        r#"<html><head><title>Index of /pub/my files/</title></head><body>
<h1>Index of /pub/my files/</h1><hr><pre><a href="../">../</a>
<a href="sub%20dir/">sub dir/</a>            21-Nov-2026 10:00                   -
<a href="a%2Bb%23c%3Fd%25.bin">a+b#c?d%.bin</a>   21-Nov-2026 10:00             1000
<a href="gr%C3%B6%C3%9Fe.txt">gr&ouml;&szlig;e.txt</a>  21-Nov-2026 10:00       5
</pre><hr></body></html>"#,
        &["sub dir/", "a+b#c?d%.bin", "größe.txt"],
    );
}

#[test]
fn apache() {
    check(
        r#"<table><tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>
<tr><td><img src="/icons/back.gif" alt="[PARENTDIR]"></td><td><a href="/pub/">Parent Directory</a></td></tr>
<tr><td><a href="one.iso">one.iso</a></td><td align="right">2026-11-21 10:00</td></tr>
<tr><td><a href="a&amp;b.txt">a&amp;b.txt</a></td></tr></table>
<address>Apache Server at <a href="mailto:me@host">host</a></address>"#,
        &["one.iso", "a&b.txt"],
    );
}

#[test]
fn python() {
    check(
        r#"<ul><li><a href="100%25/">100%/</a></li><li><a href="it%27s.txt">it&#x27;s.txt</a></li>
<li><a href="link">link@</a></li></ul>"#,
        &["100%/", "it's.txt", "link"],
    );
}

#[test]
fn links_in_other_forms() {
    check(
        "<A class=x HREF='b.txt'>b</A> <a\nhref=c.txt>c</a> <a href = \"./d\">d</a>",
        &["b.txt", "c.txt", "d"],
    );
    check(r#"<a href="http://host/pub/my%20files/e">e</a> <a href="/pub/my files/f/">f</a>"#, &["e", "f/"]);
    check(r#"<a href="g">g</a><a href="g">again</a><a href="g#top">top</a>"#, &["g"]);
    check("<a title=\"a > b\" href=\"h\">h</a>", &["h"]);
}

#[test]
fn links_to_other_places_are_left_out() {
    check(r#"<a href="/etc/passwd">x</a> <a href="http://elsewhere/pub/my%20files/x">x</a>"#, &[]);
    check(r#"<a href="https://host/pub/my%20files/x">x</a> <a href="x/y">x</a> <a href="">x</a>"#, &[]);
    check(r#"<a href="%2e%2e/x">x</a> <a href="a%2Fb">x</a> <a href="%ff">x</a> <a href="..">x</a>"#, &[]);
    check(r#"<a name="href">x</a> <abbr href="x">x</abbr> <a href="x"#, &[]);
}

#[test]
fn broken_encodings_stay_as_they_are() {
    assert_eq!(decode("100%"), b"100%");
    assert_eq!(decode("%4"), b"%4");
    assert_eq!(decode("%zz%41%"), b"%zzA%");
    check(r#"<a href="a & b &amp; &bogus; &#65;">x</a>"#, &["a & b & &bogus; A"]);
}

#[test]
fn names_are_as_long_as_file_systems_allow() {
    let longest = "n".repeat(255);
    check(&format!("<a href={longest}>x</a><a href=m{longest}>x</a>"), &[&longest]);
}

#[test]
fn hostile_pages_take_no_longer_than_others() {
    let size = 1 << 20;
    let many = |text: &str| text.repeat(size / text.len());
    for page in [
        format!("<a href=\"{}\">x</a>", many("&")),
        format!("<a href=\"{}\">x</a>", many("&#")),
        many("<a x "),
        many("<a x=\""),
        many("<!--"),
        format!("<a {}>", (0..size / 8).map(|index| format!("x{index:06} ")).collect::<String>()),
        format!("<a href={}>x</a>", many("../")),
    ] {
        check(&page, &[]);
    }
}
