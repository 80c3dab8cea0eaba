//! What the border has for this extension only: codes and balls, sketches, the OIDs of its objects, and the
//! queries by which its functions read tables. Nothing else in the border is to know of them; other
//! extensions could use the rest.

pub mod code;
pub mod code_column;
pub mod corpus;
pub mod gist_entry;
pub mod input;
pub mod oids;
mod scanned_codes;
mod scheme;
pub mod sketch;
pub mod sketch_oids;
pub mod strategy;
