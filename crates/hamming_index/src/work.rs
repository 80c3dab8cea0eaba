//! What a search has done, for EXPLAIN.

/// The work of a search, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchWork {
    /// The radius of the last pass; `None` where rows are found whatever their codes are.
    pub radius: Option<u32>,
    /// The differing bits that the last pass allowed in each word of a code; or in each band, if codes have
    /// one word. `None` is a part that was not searched. Empty where nothing was divided.
    pub shares: Vec<Option<u32>>,
    /// Trees that were searched, counted again by each pass.
    pub trees: u64,
    /// Leaves that were read.
    pub leaves: u64,
    /// Entries of these leaves.
    pub entries: u64,
    /// Rows that may match, by one of their words; 0 where codes have one word.
    pub candidates: u64,
    /// Rows whose codes were looked up in the table.
    pub looked_up: u64,
}

impl SearchWork {
    /// Adds a later search.
    pub fn add(&mut self, later: &Self) {
        let Self { radius, shares, trees, leaves, entries, candidates, looked_up } = later;
        self.radius = *radius;
        self.shares.clone_from(shares);
        self.trees += trees;
        self.leaves += leaves;
        self.entries += entries;
        self.candidates += candidates;
        self.looked_up += looked_up;
    }

    /// Notes how a pass divides its radius.
    pub(crate) fn note_pass(&mut self, radius: u32, shares: impl Iterator<Item = Option<u32>>) {
        self.radius = Some(radius);
        self.shares.clear();
        // Bounded: the words of a code.
        self.shares.extend(shares);
    }
}
