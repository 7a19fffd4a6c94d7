//! Tables of replaced characters, as SentencePiece compiles them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The largest table in bytes; SentencePiece's own has 240 kB.
const MAX_BYTES: usize = 1 << 22;
/// The trie of a table is made of blocks of so many units of four bytes.
const BLOCK: usize = 256;
const IS_VALUE: u32 = 1 << 31;

/// The same table with empty blocks after its trie, so that no lookup leaves it; `None` if a link of the trie or a value
/// leads out of the table. A table has the number of bytes of the trie, the trie, and the replacements, each with a zero
/// byte after it.
pub(super) fn checked(table: &str) -> Option<String> {
    if table.is_empty() {
        return Some(String::new());
    }
    if table.len() > MAX_BYTES {
        return None;
    }
    let bytes = STANDARD.decode(table).ok()?;
    let (size, rest) = bytes.split_first_chunk::<4>()?;
    let size = u32::from_le_bytes(*size) as usize;
    let (trie, texts) = rest.split_at_checked(size)?;
    let (chunks, []) = trie.as_chunks::<4>() else { return None };
    let mut units: Vec<u32> = chunks.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect();
    units.resize(units.len().next_multiple_of(BLOCK), 0);
    std::str::from_utf8(texts).ok()?;
    if units.is_empty()
        || !units.iter().enumerate().all(|(at, &unit)| leads_inside(&units, at, unit, texts))
    {
        return None;
    }
    // Already there, if the table comes from a model.
    let is_padded =
        units.len() > BLOCK && units[units.len() - BLOCK..].iter().all(|&unit| unit == 0);
    if !is_padded {
        units.resize(units.len() + BLOCK, 0);
    }
    let mut padded = ((4 * units.len()) as u32).to_le_bytes().to_vec();
    padded.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    padded.extend_from_slice(texts);
    Some(STANDARD.encode(padded))
}

/// Whether the link from a unit, and the value there if it has one, are inside of the table.
fn leads_inside(units: &[u32], at: usize, unit: u32, texts: &[u8]) -> bool {
    if at > 0 && unit & IS_VALUE != 0 {
        return true;
    }
    let offset = (unit >> 10) << ((unit & (1 << 9)) >> 6);
    let Some(&there) = units.get(at ^ offset as usize) else { return false };
    let has_value = unit >> 8 & 1 == 1;
    let value = (there & !IS_VALUE) as usize;
    !has_value || value <= texts.len()
}
