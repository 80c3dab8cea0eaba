//! The elements of HTML that affect the text around them.

macro_rules! names {
    ($($name:ident)*) => { &[$(stringify!($name).as_bytes()),*] };
}

/// Elements whose content is not shown to readers.
pub(super) const SKIPPED: &[&[u8]] = names! {
    script style title template noscript iframe noembed noframes textarea
};

/// More such elements. A block inside of one means that its end tag is missing.
pub(super) const ENDED_BY_BLOCKS: &[&[u8]] = names! { select datalist svg };

/// Elements that begin and end a line.
pub(super) const BLOCKS: &[&[u8]] = names! {
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p plaintext pre
    search section summary table tbody tfoot thead tr ul xmp frameset marquee
};

/// Elements whose content is in another language than HTML.
pub(super) const FOREIGN: &[&[u8]] = names! { svg math };

/// Cells of a table.
pub(super) const CELLS: &[&[u8]] = names! { td th };
