//! `sql/html.sql`: the text of documents in HTML.

use crate::pg::call::{Utf8, pg_functions};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use text::html;

pg_functions!(extract_text);

fn extract_text(html: Utf8<'_>) -> Result<String, SqlError> {
    Ok(html::extract_text(&html, &mut check_for_interrupts)?)
}
