//! What the pages share: one file that loads nothing, with its data packed inside.
//!
//! A policy in the page itself forbids it to reach any network, and the scripts put everything in as text, so that an id
//! or a note can do nothing but be read. Data is JSON, compressed (zlib, Deutsch and Gailly 1996) as browsers unpack it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use std::io::Write as _;

const CSS: &str = include_str!("../../assets/page/page.css");
const COMMON: &str = include_str!("../../assets/page/common.js");

/// The parts of a page.
pub(super) struct Page<'a> {
    /// Title of the window, and the heading.
    pub(super) title: &'a str,
    /// Line below the heading.
    pub(super) subtitle: &'a str,
    /// HTML between heading and footer: the page's own, nothing of anybody else's.
    pub(super) body: &'a str,
    /// Last line.
    pub(super) footer: &'a str,
    /// The page's own script.
    pub(super) script: &'a str,
}

impl Page<'_> {
    /// The document with this data in it.
    pub(super) fn render(&self, data: &impl Serialize) -> String {
        let [title, subtitle, footer] = [self.title, self.subtitle, self.footer].map(escaped);
        let (body, script, data) = (self.body, self.script, packed(data));
        format!(
            r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="abreast {version}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{CSS}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the table</a>
<header>
<div><h1>{title}</h1><p class="faint">{subtitle}</p></div>
<button type="button" id="theme">Dark</button>
</header>
<main id="main">
{body}
</main>
<footer>{footer}</footer>
<script type="application/octet-stream" id="data">{data}</script>
<script>
{COMMON}</script>
<script>
{script}</script>
</body>
</html>
"##,
            version = env!("CARGO_PKG_VERSION"),
        )
    }
}

/// JSON, compressed, in letters that mean nothing to HTML. Empty if it could not be written, which plain data cannot do.
fn packed(data: &impl Serialize) -> String {
    let text = serde_json::to_vec(data).unwrap_or_default();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(3));
    let packed = encoder.write_all(&text).and_then(|()| encoder.finish());
    STANDARD.encode(packed.unwrap_or_default())
}

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    super::visible::line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The data of a page, unpacked again.
#[cfg(test)]
pub(super) fn unpacked(page: &str) -> serde_json::Value {
    use std::io::Read as _;
    let data = page
        .split("id=\"data\">")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap();
    let bytes = STANDARD.decode(data).unwrap();
    let mut text = String::new();
    flate2::read::ZlibDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}
