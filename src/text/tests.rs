use proptest::prelude::*;

use super::*;

/// The sentences of a text.
fn sentences(text: &str, settings: TextSettings) -> Vec<TextSentence> {
    Tokenizer::from(settings).sentences(text)
}

pub(super) const SPLIT: TextSettings = TextSettings {
    tokenization: Tokenization::Penn,
    compounds: Compounds::Split,
    punctuation: Punctuation::Keep,
    language: Language::Auto,
};
const TREEBANK_2: TextSettings = TextSettings {
    tokenization: Tokenization::Penn,
    compounds: Compounds::Keep,
    punctuation: Punctuation::Penn,
    language: Language::Auto,
};
pub(super) const UNICODE: TextSettings = TextSettings {
    tokenization: Tokenization::Unicode,
    compounds: Compounds::Keep,
    punctuation: Punctuation::Keep,
    language: Language::Auto,
};

/// The sentences of a text, words separated by spaces.
fn split(text: &str, settings: TextSettings) -> Vec<String> {
    let words = |sentence: TextSentence| {
        sentence.tokens.iter().map(|token| token.word.to_string()).collect::<Vec<_>>().join(" ")
    };
    sentences(text, settings).into_iter().map(words).collect()
}

#[track_caller]
pub(super) fn check(settings: TextSettings, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(split(text, settings), *expected, "{text}");
    }
}

#[test]
fn contractions_and_clitics_are_split() {
    check(
        SPLIT,
        &[
            (
                "I can't, won\u{2019}t and shouldn't've",
                &["I ca n't , wo n\u{2019}t and should n't 've"],
            ),
            ("Ann's and the girls' dogs", &["Ann 's and the girls ' dogs"]),
            ("It's gonna be what they cannot do", &["It 's gon na be what they can not do"]),
            ("O'Neill at six o'clock in the '90s", &["O'Neill at six o'clock in the '90s"]),
            (
                "Goin' to th' ol' rock 'n' roll cos' o' 'im",
                &["Goin' to th' ol' rock 'n' roll cos ' o' 'im"],
            ),
            ("'Come in' and 'go on singin' now'", &["' Come in ' and ' go on singin ' now '"]),
            ("\"'Robin' left\" ('begin')", &["\" ' Robin ' left \" -LRB- ' begin ' -RRB-"]),
        ],
    );
}

#[test]
fn letters_with_accents_are_composed_and_invisible_characters_left_out() {
    let text = "The cafe\u{301}'s entre\u{301}e-like ti\u{ad}tle, \u{ad} \u{1f44d}\u{1f3fd}";
    check(
        SPLIT,
        &[(text, &["The caf\u{e9} 's entr\u{e9}e - like title , \u{ad} \u{1f44d}\u{1f3fd}"])],
    );
    check(
        SPLIT,
        &[
            ("A do\u{200b}g\u{200b}.\u{200e} \u{2060}Cat\u{ad}s \u{feff}a", &["A dog .", "Cats a"]),
            ("Ask no.\u{200b} The man.\u{ad}", &["Ask no .", "The man ."]),
            ("\u{200e}Dr. Smith can't\u{200b} go.", &["Dr. Smith ca n't go ."]),
            ("\u{200b}http://a.example/b \u{2060}it's\u{200b}", &["http://a.example/b it 's"]),
            ("\u{200b}\u{ad}", &["\u{200b}"]),
        ],
    );
    let found = sentences(text, SPLIT);
    let spans: Vec<_> = found[0].layout.spans.iter().map(|span| (span.start, span.end)).collect();
    assert_eq!(spans[1..3], [(4, 9), (9, 11)]);
    assert_eq!(found[0].layout.text, text);
}

#[test]
fn numbers_abbreviations_and_addresses_stay_whole() {
    check(
        SPLIT,
        &[
            (
                "1,000 or 3.5 or 50% of $2.50 (-5 \u{b0}C)",
                &["1,000 or 3.5 or 50 % of $ 2.50 -LRB- - 5 \u{b0}C -RRB-"],
            ),
            ("at 6:30, 1/2 or 1:100, not 1,2", &["at 6:30 , 1/2 or 1 : 100 , not 1 , 2"]),
            ("in 1:23:45 w/o or w/ us, c/o you/me", &["in 1:23:45 w/o or w/ us , c/o you / me"]),
            (
                "Call 555-0123 (e.g. today), i.e. now",
                &["Call 555-0123 -LRB- e.g. today -RRB- , i.e. now"],
            ),
            (
                "See https://a.example/b?c=1, or write to a.b@c.example.",
                &["See https://a.example/b?c=1 , or write to a.b@c.example ."],
            ),
            ("Ca2+ in A.B.'s R&D", &["Ca2+ in A.B. 's R&D"]),
            (
                "Well... no!? \u{2014}yes--maybe \u{2026}",
                &["Well ... no !?", "\u{2014} yes -- maybe \u{2026}"],
            ),
            ("cafe\u{301}s na\u{ef}ve", &["caf\u{e9}s na\u{ef}ve"]),
            ("AT&T and R&D, but Mum&Dad", &["AT&T and R&D , but Mum & Dad"]),
            (
                "Call (+44) 20 or +1-800-555-0123, 2+2",
                &["Call -LRB- +44 -RRB- 20 or +1-800-555-0123 , 2 + 2"],
            ),
            ("Wow!!! Really?!?", &["Wow !!!", "Really ?!?"]),
            ("p<.05, $.50 <<a>>", &["p < .05 , $ .50 << a >>"]),
        ],
    );
}

#[test]
fn compounds_are_split_or_kept() {
    let text = "A well-known non-human (U.S.-based) and/or X-ray pre- and two-fold";
    check(
        SPLIT,
        &[(
            text,
            &[
                "A well - known non-human -LRB- U.S. - based -RRB- and / or X-ray pre - and two-fold",
            ],
        )],
    );
    check(
        TREEBANK_2,
        &[(
            text,
            &["A well-known non-human -LRB- U.S.-based -RRB- and\\/or X-ray pre - and two-fold"],
        )],
    );
}

#[test]
fn a_word_may_begin_with_a_period() {
    check(
        SPLIT,
        &[
            ("Edit the .gitignore file now.", &["Edit the .gitignore file now ."]),
            (
                "(.NET's .env.local, \".PDF\" or ~/.bashrc) is the .com boom.",
                &["-LRB- .NET 's .env.local , \" .PDF \" or ~/.bashrc -RRB- is the .com boom ."],
            ),
            ("Use .NET. .Net-based too", &["Use .NET .", ".Net - based too"]),
            (
                "So .5 of it ...and . . . so on. . .then",
                &["So .5 of it ... and . . . so on . . . then"],
            ),
            // The space is in the wrong place.
            ("Hello .World", &["Hello .", "World"]),
            ("He left .It rained .then it dried", &["He left .", "It rained .", "then it dried"]),
            ("ok .Not now. bad .Just so", &["ok .", "Not now .", "bad .", "Just so"]),
            ("He said \"yes\".no idea", &["He said \" yes \" . no idea"]),
        ],
    );
    check(UNICODE, &[("Tulis .env.local di sini.", &["Tulis .env.local di sini ."])]);
}

#[test]
fn names_of_programming_languages_stay_whole() {
    let text = "C++, c++ or C++17's C# (F#). D++x, a#b, AB#, C+++";
    let expected = ["C++ , c++ or C++17 's C# -LRB- F# -RRB- .", "D ++ x , a # b , AB # , C +++"];
    check(SPLIT, &[(text, &expected), ("C/C++-based", &["C / C++ - based"])]);
    check(TREEBANK_2, &[("C/C++-based", &["C\\/C++-based"])]);
    check(UNICODE, &[("C++17, C#.", &["C++17 , C# ."])]);
}

#[test]
fn a_fraction_before_a_hyphen_stays_whole() {
    check(
        SPLIT,
        &[
            ("A 1/2-inch or 10-inch bolt", &["A 1/2 - inch or 10 - inch bolt"]),
            ("a 1/2-1/4 share", &["a 1/2 - 1/4 share"]),
        ],
    );
    check(TREEBANK_2, &[("A 1/2-inch bolt", &["A 1\\/2-inch bolt"])]);
}

#[test]
fn punctuation_is_kept_or_written_as_in_the_penn_treebank() {
    let text = "\"Oh,\" he \u{201c}said\u{201d} \u{2014} \u{2018}so\u{2019} {it} is [his]\u{2026}";
    check(
        SPLIT,
        &[(
            text,
            &[
                "\" Oh , \" he \u{201c} said \u{201d} \u{2014} \u{2018} so \u{2019} { it } is [ his ] \u{2026}",
            ],
        )],
    );
    check(
        TREEBANK_2,
        &[(text, &["`` Oh , '' he `` said '' -- ` so ' -LCB- it -RCB- is -LSB- his -RSB- ..."])],
    );
}

#[test]
fn straight_quotation_marks_get_a_direction() {
    check(
        TREEBANK_2,
        &[
            (
                "He said \"yes\", \"no\"-\"maybe\" (\"so\").",
                &["He said `` yes '' , `` no '' - `` maybe '' -LRB- `` so '' -RRB- ."],
            ),
            (
                "It was 'good', or 'bad'. 'It was.'",
                &["It was ` good ' , or ` bad ' .", "` It was . '"],
            ),
            ("\"Go.\" \"Come.''", &["`` Go . ''", "`` Come . ''"]),
        ],
    );
}

#[test]
fn other_languages_are_split_by_the_rules_of_unicode() {
    check(
        UNICODE,
        &[
            (
                "L'eau est l\u{e0}. \u{ab}Bonjour\u{bb}, dit-il.",
                &["L'eau est l\u{e0} .", "\u{ab} Bonjour \u{bb} , dit-il ."],
            ),
            (
                "\u{6211}\u{559d}\u{8336}\u{3002}\u{4f60}\u{5462}\u{ff1f}\u{597d}\u{ff01}",
                &[
                    "\u{6211} \u{559d} \u{8336} \u{3002}",
                    "\u{4f60} \u{5462} \u{ff1f}",
                    "\u{597d} \u{ff01}",
                ],
            ),
            (
                "\u{645}\u{627}\u{630}\u{627}\u{61f} \u{646}\u{639}\u{645}\u{6d4}",
                &["\u{645}\u{627}\u{630}\u{627} \u{61f}", "\u{646}\u{639}\u{645} \u{6d4}"],
            ),
            (
                "\u{939}\u{93e}\u{901}\u{964} \u{920}\u{940}\u{915}",
                &["\u{939}\u{93e}\u{901} \u{964}", "\u{920}\u{940}\u{915}"],
            ),
            ("Z.B. anak-anak (2,5 %).", &["Z.B. anak-anak -LRB- 2,5 % -RRB- ."]),
        ],
    );
}

#[test]
fn abbreviations_of_a_language_end_no_sentence() {
    let of = |language| TextSettings { language, ..UNICODE };
    check(
        of(Language::German),
        &[
            ("Herr Dr. Reh kam bzw. ging.", &["Herr Dr. Reh kam bzw. ging ."]),
            ("Er mag Tee usw. Sie auch.", &["Er mag Tee usw.", "Sie auch ."]),
        ],
    );
    check(
        of(Language::Indonesian),
        &[
            ("Ada gula dll. Jakarta ramai.", &["Ada gula dll .", "Jakarta ramai ."]),
            ("Ada gula dll. di meja.", &["Ada gula dll. di meja ."]),
        ],
    );
    check(of(Language::Dutch), &[("Dhr. De Vos zag o.a. Jan.", &["Dhr. De Vos zag o.a. Jan ."])]);
    check(
        of(Language::French),
        &[
            ("Il rate son vol.", &["Il rate son vol ."]),
            ("Il lit vol. 5 ici.", &["Il lit vol. 5 ici ."]),
        ],
    );
    check(of(Language::Other), &[("Dhr. Vos zag Jan.", &["Dhr .", "Vos zag Jan ."])]);
}

#[test]
fn every_language_is_known_by_its_frequent_words() {
    for language in Language::KNOWN {
        let frequent = &language.rules().frequent;
        let found = Language::Auto.resolved(|word| frequent.iter().any(|known| known == word));
        assert_eq!(found, language);
    }
    assert_eq!(Language::Other.resolved(|_| true), Language::Other);
    assert_eq!(Language::Auto.resolved(|_| false), Language::Other);
}

#[test]
fn sentences_go_on_after_quotations() {
    check(
        UNICODE,
        &[
            ("\u{ab}Va?\u{bb}, dit-il. Va.", &["\u{ab} Va ? \u{bb} , dit-il .", "Va ."]),
            ("\u{201e}Gut.\u{201c} Er lacht.", &["\u{201e} Gut . \u{201c}", "Er lacht ."]),
            ("\u{bb}Gut.\u{ab} Er lacht.", &["\u{bb} Gut . \u{ab}", "Er lacht ."]),
            ("Er sagt: \u{bb}Gut.\u{ab}", &["Er sagt : \u{bb} Gut . \u{ab}"]),
        ],
    );
}

#[test]
fn a_quotation_of_several_sentences_belongs_to_the_words_after_it() {
    let japanese = TextSettings { language: Language::Japanese, ..UNICODE };
    let ends = |text: &str| {
        let found = sentences(text, japanese);
        found.iter().map(|sentence| sentence.layout.text.replace(' ', "")).collect::<Vec<_>>()
    };
    assert_eq!(ends("「行く。」と言う。"), ["「行く。」と言う。"]);
    assert_eq!(ends("「はい。行く。」と言う。来た。"), ["「はい。行く。」と言う。", "来た。"]);
    assert_eq!(
        ends("「『はい。行く。』と？来い。」と言う。"),
        ["「『はい。行く。』と？来い。」と言う。"]
    );
    assert_eq!(
        ends("「はい。行く。」「来た。見た」彼は言う。"),
        ["「はい。", "行く。」", "「来た。", "見た」彼は言う。"]
    );
    assert_eq!(ends("「彼は行く。\nそう。」と言った。来た。").len(), 2);
    for text in [
        "「はい。行く。」という人。",
        "「はい。行く。」を聞く。",
        "「はい。行く。」の意味。",
        "〝はい。行く。〟と言う。",
        "｢はい。行く。｣と言う。",
        "\"はい。行く。\"と言う。",
        "«はい。行く。»と言う。",
        "``はい。行く。''と言う。",
        "「¡はい。行く。」と言う。",
        // Marks that close nothing, and one that is not closed.
        "「はい。行く。）」と言う。",
        "「はい。（行く。」と言う。",
        "「はい（笑)。行く。」と言う。",
    ] {
        assert_eq!(ends(text), [text]);
    }
    // A quotation that never ends.
    assert_eq!(ends("「はい。\n行く。\n\n来た。"), ["「はい。", "行く。", "来た。"]);
    assert_eq!(ends("「はい。行く。来た"), ["「はい。", "行く。", "来た"]);
    let long = format!("「{}", "はい。".repeat(700));
    assert_eq!(ends(&long).len(), 700);
}

#[test]
fn a_blank_line_ends_a_sentence_and_a_line_does_not() {
    check(
        SPLIT,
        &[("A title\n \nA first\nline.\r\nA second\n", &["A title", "A first line .", "A second"])],
    );
}

#[test]
fn mail_headers_and_items_of_lists_end_with_their_line() {
    let list = "Buy these\n- milk\n- two loaves\n  of bread\n* salt\nand go home.\n\n1. Open it\n2. Eat. Sleep\na. Wake up\nb. Rise\n";
    let mail = "From: Ann Reed\nTo: Bo\nSubject: The dog\n of Ann\n\nIt costs all the money that we have, or at least\n200. Now\n";
    check(
        SPLIT,
        &[
            (
                list,
                &[
                    "Buy these",
                    "- milk",
                    "- two loaves of bread",
                    "* salt",
                    "and go home .",
                    "1. Open it",
                    "2. Eat .",
                    "Sleep",
                    "a. Wake up",
                    "b. Rise",
                ],
            ),
            (
                mail,
                &[
                    "From : Ann Reed",
                    "To : Bo",
                    "Subject : The dog of Ann",
                    "It costs all the money that we have , or at least 200 .",
                    "Now",
                ],
            ),
        ],
    );
}

#[test]
fn paths_and_dollars_are_single_words() {
    check(
        SPLIT,
        &[(
            "Run ./a.out or C:\\x\\y (/etc/hosts). US$5 != A$6, and d'you see?",
            &[
                "Run ./a.out or C:\\x\\y -LRB- /etc/hosts -RRB- .",
                "US$ 5 != A$ 6 , and d' you see ?",
            ],
        )],
    );
}

#[test]
fn a_line_that_ends_a_sentence_returns_it_at_once() {
    let mut splitter = Splitter::new(SPLIT);
    for (line, sentences) in
        [("He ran.\n", 1), ("She said \"No!\"\n", 0), ("Why?\n", 2), ("1.\n", 0), ("Dr.\n", 0)]
    {
        splitter.add_line(line);
        let found = std::iter::from_fn(|| splitter.next_sentence()).count();
        assert_eq!(found, sentences, "{line}");
    }
}

#[test]
fn a_sentence_without_end_is_cut() {
    let text = "word ".repeat(2 * MAX_TOKENS + 1);
    let lengths: Vec<usize> = sentences(&text, SPLIT).iter().map(|s| s.tokens.len()).collect();
    assert_eq!(lengths, [MAX_TOKENS, MAX_TOKENS, 1]);
}

#[test]
fn offsets_count_characters_from_the_beginning_of_the_input() {
    let found = sentences("\u{e9}t\u{e9} (no).\r\n\n\u{1f600}b", SPLIT);
    let spans = |at: usize| -> Vec<(u64, u64)> {
        found[at].layout.spans.iter().map(|span| (span.start, span.end)).collect()
    };
    assert_eq!(spans(0), [(0, 3), (4, 5), (5, 7), (7, 8), (8, 9)]);
    assert_eq!(spans(1), [(12, 13), (13, 14)]);
    let layout = &found[0].layout;
    assert_eq!(layout.surfaces().collect::<Vec<_>>(), ["\u{e9}t\u{e9}", "(", "no", ")", "."]);
    let spaces: Vec<bool> = (0..5).map(|token| layout.space_after(token)).collect();
    assert_eq!(spaces, [true, false, false, false, true]);
}

#[test]
fn settings_are_found_in_training_words() {
    let of = |words: &str| TextSettings::default().resolved(words.split(' '));
    assert_eq!(of("the dog - like cat 's non-dog x / y \""), SPLIT);
    assert_eq!(of("`` the well-known dog does n't ''"), TREEBANK_2);
    let learned = TextSettings { tokenization: Tokenization::Learned, ..UNICODE };
    assert_eq!(of("anak-anak itu"), learned);
    assert_eq!(of(""), learned);
    let cites_english = format!("the dog 's {}", "anak ".repeat(100));
    assert_eq!(of(&cites_english).tokenization, Tokenization::Learned);
    assert_eq!(TREEBANK_2.resolved(["anak"]), TREEBANK_2);
}

/// Texts with much that the rules look at.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "\n( ?-|\\*|1\\.|\\(a\\)|From:|) ",
        "\\PC{0,4}",
        "[ \n\t\u{a0}]{1,2}",
        "[.?!,;:'\"\u{2019}()\\[\\]#@$%+*/-]{1,3}",
        "[0-9]{1,3}",
        "(Dr|No|U\\.S|J|can't|dog's|http://|www|com|[a-zA-Z]{1,3})\\.?",
        "[\u{e9}\u{301}\u{200d}\u{3002}\u{6211}\u{1f600}\u{e01}\u{94d}]{1,3}",
    ];
    proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_is_split_without_loss(text in texts(), which in 0..3usize) {
        let settings = [SPLIT, TREEBANK_2, UNICODE][which];
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        for TextSentence { tokens, layout } in sentences(&text, settings) {
            prop_assert!(!tokens.is_empty());
            prop_assert_eq!(tokens.len(), layout.spans.len());
            let whole = layout.spans[0].start as usize..layout.spans[tokens.len() - 1].end as usize;
            prop_assert_eq!(&layout.text, &characters[whole].iter().collect::<String>());
            let surfaces: Vec<&str> = layout.surfaces().collect();
            for ((token, span), surface) in tokens.iter().zip(&layout.spans).zip(surfaces) {
                let (start, end) = (span.start as usize, span.end as usize);
                prop_assert!(at <= start && start < end, "{at} {start} {end}");
                let between = &characters[at..start];
                prop_assert!(between.iter().all(|c| c.is_whitespace()), "{between:?}");
                prop_assert_eq!(surface, characters[start..end].iter().collect::<String>());
                prop_assert!(!surface.contains(char::is_whitespace) && !token.word.is_empty());
                at = end;
            }
        }
        prop_assert!(characters[at..].iter().all(|c| c.is_whitespace()), "{:?}", &characters[at..]);
    }
}
