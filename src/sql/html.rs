//! `sql/html.sql`: the text of documents in HTML.

use crate::pg::call::pg_functions;
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use text::html;

pg_functions!(extract_text);

fn extract_text(html: &[u8]) -> Result<Vec<u8>, SqlError> {
    encoding::to_database(html::extract_text(&encoding::to_utf8(html)?, &mut check_for_interrupts)?)
}
