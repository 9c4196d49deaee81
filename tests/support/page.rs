//! Pages of the documentation.

use std::fs;

/// A code block of a page.
#[derive(Debug)]
pub struct Block {
    /// What follows the opening fence.
    pub language: String,
    /// Its lines.
    pub text: String,
}

/// The code blocks of a page of the repository, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(super::root().join(page))
        .unwrap_or_else(|error| panic!("{page}: {error}"));
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            open = !open;
            if open {
                blocks.push(Block {
                    language: language.to_owned(),
                    text: String::new(),
                });
            }
        } else if let (true, Some(block)) = (open, blocks.last_mut()) {
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    assert!(!open, "{page}: a code block is not closed");
    blocks
}

/// The code blocks of a page in one language.
pub fn blocks_in(page: &str, language: &str) -> Vec<String> {
    blocks(page)
        .into_iter()
        .filter(|block| block.language == language)
        .map(|block| block.text)
        .collect()
}
