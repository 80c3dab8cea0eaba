//! `sql/html.sql`: the text of documents in HTML.

use crate::pg::error::{self, SqlError};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::text;
use pgrx::pg_extern;
use simhash_core::html;

#[pg_extern(sql = false)]
fn extract_text(html: &[u8]) -> Result<Vec<u8>, SqlError> {
    let extracted = html::extract_text(&text::to_utf8(html)?, &mut check_for_interrupts);
    text::to_database(extracted.map_err(error::html)?)
}
