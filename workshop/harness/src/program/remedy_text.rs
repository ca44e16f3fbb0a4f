//! What a remedy prints for a file, without what it says beside it.

/// The text before a note in parentheses at its end.
pub fn without_note(text: &str) -> &str {
    let mut open = 0;
    for (place, character) in text.char_indices().rev() {
        open += i32::from(character == ')') - i32::from(character == '(');
        if open == 0 {
            let before = text.get(..place).unwrap_or_default();
            return if character == '(' { before.strip_suffix(' ').unwrap_or(text) } else { text };
        }
    }
    text
}
