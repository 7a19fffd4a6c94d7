//! The server, for clients of CoreNLP's.

use std::io::Write;

use serde_json::Value;

use crate::http::{Running, post};

#[test]
fn corenlp_gets_sentences_with_tokens_trees_and_heads() {
    let server = Running::start(&["--model", "de=english-small"]);
    let text = "We sing. Don't 😀 they (ever) sleep?";
    let query = "/?properties=%7B%27annotators%27%3A+%27tokenize%2Cssplit%2Cpos%2Clemma%2Cparse%27%2C+%27outputFormat%27%3A+%27json%27%7D";
    let reply = server.ask(&post(query, "", text));
    assert_eq!(reply.headers["content-type"], "application/json");
    let reply = reply.json();
    let sentences = reply["sentences"].as_array().unwrap();
    assert_eq!(
        sentences[0]["parse"],
        "(ROOT\n  (S\n    (NP (PRP We))\n    (VP (VBP sing))\n    (. .)))"
    );
    assert_eq!(
        sentences[0]["basicDependencies"].to_string(),
        "[{\"dep\":\"ROOT\",\"governor\":0,\"governorGloss\":\"ROOT\",\"dependent\":2,\"dependentGloss\":\"sing\"},\
         {\"dep\":\"dep\",\"governor\":2,\"governorGloss\":\"sing\",\"dependent\":1,\"dependentGloss\":\"We\"},\
         {\"dep\":\"dep\",\"governor\":2,\"governorGloss\":\"sing\",\"dependent\":3,\"dependentGloss\":\".\"}]"
    );
    assert_eq!(
        sentences[0]["tokens"][1].to_string(),
        "{\"index\":2,\"word\":\"sing\",\"originalText\":\"sing\",\"lemma\":\"sing\",\"characterOffsetBegin\":3,\
         \"characterOffsetEnd\":7,\"codepointOffsetBegin\":3,\"codepointOffsetEnd\":7,\"pos\":\"VBP\",\"before\":\" \",\
         \"after\":\"\"}"
    );
    let tokens: Vec<&Value> =
        sentences.iter().flat_map(|sentence| sentence["tokens"].as_array().unwrap()).collect();
    let bracket = tokens.iter().find(|token| token["originalText"] == "(").unwrap();
    assert_eq!((&bracket["word"], &bracket["characterOffsetBegin"]), (&"-LRB-".into(), &23.into()));
    assert_eq!(bracket["codepointOffsetBegin"], 22);
    // Only what is asked for; bare parameters; a form.
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let reply =
        server.ask(&post("/?annotators=tokenize,ssplit&ssplit.eolonly=true", form, "a+b%0Ac%20d"));
    let reply = reply.json();
    assert_eq!(reply["sentences"].as_array().unwrap().len(), 2);
    let keys: Vec<&String> = reply["sentences"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["index", "tokens"]);
    assert!(reply["sentences"][0]["tokens"][0].get("pos").is_none());
    assert_eq!(server.ask(&post("/", "", " \n ")).body, "{\"sentences\":[]}\n");
    let long = server.ask(&post("/", "", &text.repeat(300))).json();
    let indices = long["sentences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sentence| sentence["index"].as_u64().unwrap());
    assert!(indices.eq(0..long["sentences"].as_array().unwrap().len() as u64));
    let ner = server.ask(&post("/?annotators=tokenize,pos,ner", "", "We sing."));
    assert_eq!((ner.status, &*ner.headers["x-not-computed"]), (200, "ner"));
    assert_eq!(server.ask(&post("/?pipelineLanguage=german", "", "a")).status, 200);
    for (query, body, problem) in [
        ("outputFormat=xml", "a", "the output format xml is not written here"),
        ("annotators=tokenize,ner", "a", "ner: not computed here"),
        ("annotators=prase", "a", "did you mean `parse`?"),
        (
            "properties=%7B%27a%27",
            "a",
            "the properties cannot be read: `:` is expected at character 5",
        ),
        ("pipelineLanguage=fr", "a", "no model is for the language fr"),
        ("model=x", "a", "no model has the name `x`"),
    ] {
        let reply = server.ask(&post(&format!("/?{query}"), "", body));
        assert!(
            [400, 404].contains(&reply.status) && reply.body.contains(problem),
            "{query}: {reply:?}"
        );
        assert_eq!(reply.body.lines().count(), 1);
    }
    let mut connection = server.connect();
    connection.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n");
    connection.stream.write_all(b"a\xffb").unwrap();
    let reply = connection.head().unwrap().whole(&mut connection);
    assert!(reply.body.contains("not UTF-8 at byte 2"), "{reply:?}");
}

#[test]
fn tregex_gets_matches_as_clients_of_corenlp_read_them() {
    let server = Running::start(&[]);
    // NP < PRP=x
    let text = "We sing. \u{1f600} We saw him.";
    let reply = server.ask(&post("/tregex?pattern=NP+%3C+PRP%3Dx&filter=False", "", text)).json();
    let sentences = reply["sentences"].as_array().unwrap();
    assert_eq!(
        sentences[0].to_string(),
        "{\"0\":{\"sentIndex\":0,\"characterOffsetBegin\":0,\"codepointOffsetBegin\":0,\"characterOffsetEnd\":2,\
         \"codepointOffsetEnd\":2,\"match\":\"(NP (PRP We))\\n\",\"spanString\":\"We\",\"namedNodes\":[{\"x\":\
         {\"characterOffsetBegin\":0,\"codepointOffsetBegin\":0,\"characterOffsetEnd\":2,\"codepointOffsetEnd\":2,\
         \"match\":\"(PRP We)\\n\",\"spanString\":\"We\"}}]}}"
    );
    let matches: Vec<&Value> =
        sentences.iter().flat_map(|s| s.as_object().unwrap().values()).collect();
    let last = matches.last().unwrap();
    assert_eq!(
        (&last["spanString"], &last["sentIndex"]),
        (&"him".into(), &(sentences.len() - 1).into())
    );
    assert_eq!(
        (&last["characterOffsetBegin"], &last["codepointOffsetBegin"]),
        (&19.into(), &18.into())
    );
    // Old clients put the text into the body of a GET request.
    let ask = |query: &str, body: &str| server.ask(&post(query, "", body).replace("POST", "GET"));
    let properties = "properties=%7B%27annotators%27%3A+%27tokenize%2Cssplit%2Cpos%2Cparse%27%2C+%27outputFormat%27%3A+%27json%27%7D";
    let reply = ask(&format!("/tregex?pattern=ROOT+%3C%3C+sing&{properties}"), "We sing.").json();
    assert_eq!(
        reply["sentences"][0]["0"]["match"],
        "(ROOT\n  (S\n    (NP (PRP We))\n    (VP (VBP sing))\n    (. .)))\n"
    );
    assert_eq!(
        ask("/tregex?pattern=%2F%5Esing%24%2F", "We sing.").json()["sentences"][0]["0"]["match"],
        "sing\n"
    );
    assert_eq!(ask("/tregex?pattern=XX", "We sing. We sing.").body, "{\"sentences\":[{},{}]}\n");
    assert_eq!(ask("/tregex?pattern=NP", "").body, "{\"sentences\":[]}\n");
    let long = "_".repeat(1_001);
    let too_long = "__%3Da+%3A+__%3Db+%3A+__%3Dc+%3A+__%3Dd+%3A+__%3De+%3A+(DT+%3E+%3Da+!%3E+__)";
    for (query, problem) in [
        ("pattern=NP+%3C+DT+VP", "pattern:1:9: "),
        ("", "a pattern is missing"),
        ("pattern=%20", "a pattern is missing"),
        (&format!("pattern={long}"), "more than 1000 bytes"),
        (&format!("pattern={too_long}"), "steps in one tree"),
        ("pattern=NP&outputFormat=xml", "the output format xml"),
        ("pattern=NP&inputFormat=serialized", "the input format serialized"),
        ("pattern=NP&pipelineLanguage=fr", "no model is for the language fr"),
    ] {
        let text =
            "The old dog that lives in the house barks at the cat that saw him near the river.";
        let reply = ask(&format!("/tregex?{query}"), text);
        assert_eq!((reply.status, reply.body.lines().count()), (400, 1), "{query}: {reply:?}");
        assert!(reply.body.contains(problem), "{query}: {reply:?}");
    }
}

#[test]
fn a_text_whose_words_the_model_has_not_learned_is_refused() {
    let server = Running::start(&[]);
    let reply = server.ask(&post("/?annotators=tokenize,parse", "", "犬が走る。"));
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("has not learned where words end"), "{reply:?}");
    let given = server.ask(&post(
        "/?annotators=tokenize,parse&tokenize.whitespace=true",
        "",
        "犬 が 走る 。",
    ));
    assert_eq!(given.status, 200, "{given:?}");
    let reply = server.ask(&post("/parse", "", "犬が走る。"));
    assert!(
        reply.body.contains("\"error\":") && reply.body.contains("has not learned"),
        "{reply:?}"
    );
}
