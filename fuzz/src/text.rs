//! Any text: tokens stand in order, and only white space lies between them.

use srparse::text::{Compounds, Language, Punctuation, Splitter, TextSettings, Tokenization};

use super::{split, start};

pub fn check(bytes: &[u8]) {
    let (which, bytes) = split(bytes);
    let text = start(bytes);
    let on = |bit: u32| which & (1 << bit) != 0;
    let settings = TextSettings {
        tokenization: if on(0) { Tokenization::Penn } else { Tokenization::Unicode },
        compounds: if on(1) { Compounds::Split } else { Compounds::Keep },
        punctuation: if on(2) { Punctuation::Penn } else { Punctuation::Keep },
        language: if on(3) { Language::German } else { Language::Auto },
    };
    let characters: Vec<char> = text.chars().collect();
    let mut splitter = Splitter::new(settings);
    let mut at = 0;
    let mut check_sentences = |splitter: &mut Splitter| {
        while let Some(sentence) = splitter.next_sentence() {
            let tokens = sentence.tokens.iter().zip(&sentence.layout.spans);
            for ((token, span), surface) in tokens.zip(sentence.layout.surfaces()) {
                let (start, end) = (span.start as usize, span.end as usize);
                assert!(start < end && !token.word.is_empty());
                assert!(characters[at..start].iter().all(|c| c.is_whitespace()));
                assert!(surface.chars().eq(characters[start..end].iter().copied()));
                at = end;
            }
        }
    };
    for line in text.split_inclusive('\n') {
        splitter.add_line(line);
        check_sentences(&mut splitter);
    }
    splitter.end_paragraph();
    check_sentences(&mut splitter);
    assert!(characters[at..].iter().all(|c| c.is_whitespace()));
}
