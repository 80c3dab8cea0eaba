//! Finds the ends of words: the rules of UAX #29 as an automaton over classes of characters.
//!
//! Rules for line ends (WB3, 3a, 3b), white space (3d) and emoji joiners (3c) are missing: white space
//! separates words before the rules apply, and the joiner is invisible and was removed. The other rules look
//! ahead by a character in three places: a mid character, such as the full stop in `3.14`, only joins if the
//! right character follows. For these, the automaton has more states, and the place of the mid character is
//! stored.

use super::table::class;

/// The states of the automaton: what it has read of the word so far. Marks do not change the state (WB4).
pub(super) mod state {
    /// No character of a word was read.
    pub(crate) const START: u8 = 0;
    /// The last character does not join any other.
    pub(crate) const OTHER: u8 = 1;
    pub(crate) const LETTER: u8 = 2;
    pub(crate) const HEBREW: u8 = 3;
    pub(crate) const NUMERIC: u8 = 4;
    pub(crate) const KATAKANA: u8 = 5;
    pub(crate) const JOINER: u8 = 6;
    /// The first half of a flag.
    pub(crate) const REGIONAL: u8 = 7;
    /// A letter and a mid character, which joins if a letter follows (WB6, WB7).
    pub(crate) const LETTER_MID: u8 = 8;
    /// A Hebrew letter and an apostrophe, which joins whatever follows (WB7a).
    pub(crate) const HEBREW_APOSTROPHE: u8 = 9;
    /// A Hebrew letter and a double quote, which joins if a Hebrew letter follows (WB7b, WB7c).
    pub(crate) const HEBREW_QUOTE: u8 = 10;
    /// A digit and a mid character, which joins if a digit follows (WB11, WB12).
    pub(crate) const NUMERIC_MID: u8 = 11;
}

/// The next state, and an action to take first. There is no action if the character joins the word.
#[derive(Clone, Copy)]
pub(super) struct Step(u8);

impl Step {
    const STATE: u8 = 0x0f;
    /// The word ends before this character.
    const BREAK: u8 = 0x10;
    /// The word ends before the mid character.
    const BREAK_AT_MID: u8 = 0x20;
    /// The character is a mid character.
    const MID: u8 = 0x40;
    /// The mid character joins its neighbours.
    const JOIN: u8 = 0x80;

    #[inline(always)]
    pub(super) fn state(self) -> u8 {
        self.0 & Self::STATE
    }

    #[inline(always)]
    pub(super) fn joins(self) -> bool {
        self.0 & !Self::STATE == 0
    }

    #[inline(always)]
    pub(super) fn is_break(self) -> bool {
        self.0 & (Self::BREAK | Self::BREAK_AT_MID) != 0
    }

    #[inline(always)]
    pub(super) fn is_mid(self) -> bool {
        self.0 & Self::MID != 0
    }
}

/// The step from a state at a character of a class other than [`class::SPACE`].
#[inline(always)]
pub(super) fn step(state: u8, class: u8) -> Step {
    STEPS[usize::from(state & 15)][usize::from(class & 15)]
}

/// Whether the last character is a mid character, so that the next one decides.
#[inline(always)]
pub(super) fn is_waiting(state: u8) -> bool {
    matches!(state, state::LETTER_MID | state::HEBREW_QUOTE | state::NUMERIC_MID)
}

/// Whether a letter would join the word, with the state LETTER afterwards and no action.
#[inline(always)]
pub(super) fn takes_letter(state: u8) -> bool {
    const STATES: u32 = 1 << state::START
        | 1 << state::LETTER
        | 1 << state::HEBREW
        | 1 << state::NUMERIC
        | 1 << state::JOINER;
    STATES >> state & 1 == 1
}

/// A square table, so that indexes of four bits need no bounds check.
static STEPS: [[Step; 16]; 16] = {
    let mut steps = [[Step(0); 16]; 16];
    let mut state = 0;
    while state <= state::NUMERIC_MID {
        let mut class = 0;
        while class < class::SPACE {
            steps[state as usize][class as usize] = Step(make_step(state, class));
            class += 1;
        }
        state += 1;
    }
    steps
};

const fn make_step(state: u8, class: u8) -> u8 {
    use state::*;
    match (state, class) {
        (START, class::MARK) => OTHER,
        (_, class::MARK) => state,
        (START, _) => state_after(class),
        // WB5, WB8 to WB10, WB13b: letters, digits and underscores join.
        (LETTER | HEBREW | NUMERIC | JOINER, class::LETTER | class::HEBREW | class::NUMERIC) => {
            state_after(class)
        }
        // WB13 to WB13b.
        (LETTER | HEBREW | NUMERIC | KATAKANA | JOINER, class::JOINER) => JOINER,
        (KATAKANA | JOINER, class::KATAKANA) => KATAKANA,
        // WB7a, and after it WB7.
        (HEBREW, class::SINGLE_QUOTE) => HEBREW_APOSTROPHE,
        (HEBREW_APOSTROPHE, class::LETTER | class::HEBREW) => state_after(class),
        (HEBREW, class::DOUBLE_QUOTE) => HEBREW_QUOTE | Step::MID,
        (LETTER | HEBREW, class::MID_LETTER | class::MID_EITHER) | (LETTER, class::SINGLE_QUOTE) => {
            LETTER_MID | Step::MID
        }
        (NUMERIC, class::MID_NUMBER | class::MID_EITHER | class::SINGLE_QUOTE) => NUMERIC_MID | Step::MID,
        (LETTER_MID, class::LETTER | class::HEBREW)
        | (HEBREW_QUOTE, class::HEBREW)
        | (NUMERIC_MID, class::NUMERIC) => state_after(class) | Step::JOIN,
        (LETTER_MID | HEBREW_QUOTE | NUMERIC_MID, _) => state_after(class) | Step::BREAK_AT_MID,
        // WB15, WB16: a flag is two indicators.
        (REGIONAL, class::REGIONAL) => OTHER,
        _ => state_after(class) | Step::BREAK,
    }
}

/// The state after the first character of a word.
const fn state_after(class: u8) -> u8 {
    match class {
        class::LETTER => state::LETTER,
        class::HEBREW => state::HEBREW,
        class::NUMERIC => state::NUMERIC,
        class::KATAKANA => state::KATAKANA,
        class::JOINER => state::JOINER,
        class::REGIONAL => state::REGIONAL,
        _ => state::OTHER,
    }
}
