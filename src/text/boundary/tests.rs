use crate::text::tests::{SPLIT, UNICODE, check};

#[test]
fn sentences_end_at_final_marks_and_not_at_abbreviations() {
    check(
        SPLIT,
        &[
            ("Dr. Reed met J. R. Smith. He ran.", &["Dr. Reed met J. R. Smith .", "He ran ."]),
            (
                "No. 5 says no. Take vitamin C. The end.",
                &["No. 5 says no .", "Take vitamin C .", "The end ."],
            ),
            (
                "As in Fig. 3 (Reed et al. 1999). So.",
                &["As in Fig. 3 -LRB- Reed et al. 1999 -RRB- .", "So ."],
            ),
            (
                "From the U.S. The rest is in the U.S. Army.",
                &["From the U.S.", "The rest is in the U.S. Army ."],
            ),
            (
                "\"Go!\" he said. (She did.) [4] \"Why?\" Nobody",
                &["\" Go ! \" he said .", "-LRB- She did . -RRB- [ 4 ]", "\" Why ? \"", "Nobody"],
            ),
            (
                "1. First. 2. Second, approx. two tsp. of it.",
                &["1. First .", "2. Second , approx. two tsp. of it ."],
            ),
            ("Wait... what? Wait... What?", &["Wait ... what ?", "Wait ...", "What ?"]),
            ("Approx. 5 came. Max. speed", &["Approx. 5 came .", "Max. speed"]),
            (
                "I saw Max. He ran. Go! \u{1f600} So?",
                &["I saw Max .", "He ran .", "Go ! \u{1f600}", "So ?"],
            ),
            ("Go on.\n\u{1f600} So we did", &["Go on .", "\u{1f600} So we did"]),
        ],
    );
}

#[test]
fn words_that_are_abbreviations_too_may_end_a_sentence() {
    check(
        SPLIT,
        &[
            (
                "The dog chased the cat. Hello world!",
                &["The dog chased the cat .", "Hello world !"],
            ),
            (
                "He ate a fig. She ate two figs. No.",
                &["He ate a fig .", "She ate two figs .", "No ."],
            ),
            (
                "Call Ed. He sat. They sat in the sun. Go in.",
                &["Call Ed.", "He sat .", "They sat in the sun .", "Go in ."],
            ),
            (
                "See fig. 3a, fig. S1, fig. B (ed. 2, cat. no. 12, vol. 3). Open vol. three.",
                &[
                    "See fig. 3a , fig. S1 , fig. B -LRB- ed. 2 , cat. no. 12 , vol. 3 -RRB- .",
                    "Open vol. three .",
                ],
            ),
            ("In Fig. 3 and Figs. A-C. So.", &["In Fig. 3 and Figs. A - C .", "So ."]),
            ("Take a b. C is next.", &["Take a b .", "C is next ."]),
            ("Closed on Sat. and Sun. at noon.", &["Closed on Sat. and Sun. at noon ."]),
        ],
    );
}

#[test]
fn sentences_of_chats_end_where_lower_case_follows() {
    check(
        SPLIT,
        &[
            (
                "i saw it yesterday. then it left! why? no",
                &["i saw it yesterday .", "then it left !", "why ?", "no"],
            ),
            (
                "\"Why?\" she asked. It is 5 ft. tall.",
                &["\" Why ? \" she asked .", "It is 5 ft. tall ."],
            ),
            (
                "So long . . . and thanks. :-) Bye =)",
                &["So long . . . and thanks . :--RRB-", "Bye =-RRB-"],
            ),
        ],
    );
    check(UNICODE, &[("Das gilt evtl. morgen.", &["Das gilt evtl . morgen ."])]);
}

#[test]
fn short_words_end_sentences_of_chats_too_unless_they_may_be_abbreviations() {
    check(
        SPLIT,
        &[
            (
                "i like it. you too. ok. see you. i will call him. bye",
                &["i like it .", "you too .", "ok .", "see you .", "i will call him .", "bye"],
            ),
            ("i can't. he won\u{2019}t. bye", &["i ca n't .", "he wo n\u{2019}t .", "bye"]),
            (
                "see no. one vs. two, pp. six, fig. two, cf. it, et al. and ed. she, etc. and so on",
                &[
                    "see no. one vs. two , pp. six , fig. two , cf. it , et al. and ed. she , etc. and so on",
                ],
            ),
            ("\"It was on.\" he said", &["\" It was on . \" he said"]),
        ],
    );
}

#[test]
fn the_period_of_a_unit_between_two_numbers_ends_no_sentence() {
    check(
        SPLIT,
        &[
            ("The pole is 6 ft. 2 in. long.", &["The pole is 6 ft. 2 in. long ."]),
            (
                "The pole is 6 ft. 2 in. 2 of us hold it.",
                &["The pole is 6 ft. 2 in .", "2 of us hold it ."],
            ),
            (
                "It is 6ft. (2 m) or 1/2 lb. Two fit.",
                &["It is 6ft. -LRB- 2 m -RRB- or 1/2 lb .", "Two fit ."],
            ),
            ("He came in. 2 of us left.", &["He came in .", "2 of us left ."]),
            ("It is 6 ft. It fits.", &["It is 6 ft .", "It fits ."]),
        ],
    );
}

#[test]
fn reporting_clauses_belong_to_the_question_before_them() {
    check(
        SPLIT,
        &[
            (
                "\"Why?\" I asked. \"Go!\" Dr. Ann Reed said. \"So?\" Ann left.",
                &[
                    "\" Why ? \" I asked .",
                    "\" Go ! \" Dr. Ann Reed said .",
                    "\" So ? \"",
                    "Ann left .",
                ],
            ),
            (
                "\u{201c}Why?\u{201d} Ann\nasked. (Why?) Ann asked.",
                &["\u{201c} Why ? \u{201d} Ann asked .", "-LRB- Why ? -RRB-", "Ann asked ."],
            ),
            ("\"Why?\" Ann", &["\" Why ? \"", "Ann"]),
            ("?\" Ann said.", &["? \" Ann said ."]),
            ("? Ann asked.", &["?", "Ann asked ."]),
            (
                "\"Are you (really) sure?\" Ann asked.",
                &["\" Are you -LRB- really -RRB- sure ? \" Ann asked ."],
            ),
            ("The sign said \"Why?\" Ann asked.", &["The sign said \" Why ? \"", "Ann asked ."]),
            ("\"Yes?\" Nobody answered.", &["\" Yes ? \"", "Nobody answered ."]),
        ],
    );
    check(
        UNICODE,
        &[(
            "\u{2014}\u{bf}Qu\u{e9}? \u{2014}dijo Ana. \u{2014}\u{a1}Ven! \u{2014}Voy. \u{ab}\u{bf}Qu\u{e9}?\u{bb} \u{2014}dijo.",
            &[
                "\u{2014} \u{bf} Qu\u{e9} ? \u{2014} dijo Ana .",
                "\u{2014} \u{a1} Ven !",
                "\u{2014} Voy .",
                "\u{ab} \u{bf} Qu\u{e9} ? \u{bb} \u{2014} dijo .",
            ],
        )],
    );
}

#[test]
fn a_sentence_ends_without_white_space_before_a_common_first_word() {
    check(
        SPLIT,
        &[
            (
                "Ann left.Then it rained.I stayed.",
                &["Ann left .", "Then it rained .", "I stayed ."],
            ),
            (
                "See file.txt or list.First or foo.He() now",
                &["See file.txt or list.First or foo.He -LRB- -RRB- now"],
            ),
        ],
    );
}

#[test]
fn legal_abbreviations_end_no_sentence() {
    check(
        SPLIT,
        &[
            (
                "See Jones v. The Queen, Fr. Brown and 42 F. Supp. 2d 100 (9th Cir. 1997), para. 3 and cl. 7.",
                &[
                    "See Jones v. The Queen , Fr. Brown and 42 F. Supp. 2d 100 -LRB- 9th Cir. 1997 -RRB- , para. 3 and cl. 7 .",
                ],
            ),
            (
                "On Mar. 5 Det. Insp. Lee left Apt. 5 at 9 a.m. Then Orr slept.",
                &["On Mar. 5 Det. Insp. Lee left Apt. 5 at 9 a.m.", "Then Orr slept ."],
            ),
        ],
    );
}
