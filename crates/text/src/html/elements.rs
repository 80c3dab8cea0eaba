//! The elements of HTML that matter for the text around them.

/// Elements whose content is not for readers. The flag says whether a block inside of one means that it was
/// left open.
pub(super) const SKIPPED: [(&[u8], bool); 12] = [
    (b"script", false),
    (b"style", false),
    (b"title", false),
    (b"template", false),
    (b"noscript", false),
    (b"iframe", false),
    (b"noembed", false),
    (b"noframes", false),
    (b"textarea", false),
    (b"select", true),
    (b"datalist", true),
    (b"svg", true),
];

/// Elements that begin and end a line.
pub(super) const BLOCKS: [&[u8]; 52] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"br",
    b"caption",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"dir",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"header",
    b"hgroup",
    b"hr",
    b"html",
    b"legend",
    b"li",
    b"listing",
    b"main",
    b"menu",
    b"nav",
    b"ol",
    b"p",
    b"plaintext",
    b"pre",
    b"search",
    b"section",
    b"summary",
    b"table",
    b"tbody",
    b"tfoot",
    b"thead",
    b"tr",
    b"ul",
    b"xmp",
    b"frameset",
    b"marquee",
];

/// Elements whose content is in a language other than HTML.
pub(super) const FOREIGN: [&[u8]; 2] = [b"svg", b"math"];

/// Cells of a table.
pub(super) const CELLS: [&[u8]; 2] = [b"td", b"th"];
