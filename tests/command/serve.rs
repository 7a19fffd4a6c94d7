//! The server, over plain connections: what it answers, what it refuses, and how it ends.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::Duration;

use crate::command::{interruptible, srparse, text};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use serde_json::Value;

use crate::http::{Connection, Running, get, post};

const TEXT: &str =
    "Dogs bark. Don't they (ever) sleep? 😀 The \"old\" cat,\nwhich slept\nhere, didn't.\n\nYes\n";

const JSON: &str = "Content-Type: application/json\r\n";
const LINES: &str = "Content-Type: application/x-ndjson\r\n";

/// What `srparse parse` writes for an input.
fn parsed(arguments: &[&str], input: &str) -> String {
    let options = ["parse", "--quiet", "--skip-bad", "--model", "english-fast", "--output", "json"];
    let mut parse = srparse(&options);
    let done = parse.args(arguments).write_stdin(input).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// A text of many sentences, whose reply does not fit into the buffers of a connection.
fn long_text() -> String {
    "The old dog that lives in the house barks at the cat. ".repeat(20_000)
}

#[test]
fn the_reply_is_what_parse_writes() {
    let server = Running::start(&[]);
    let long = TEXT.repeat(100);
    for text in [TEXT, &long, "", "\n\n", "x"] {
        assert_eq!(server.parse(text).body, parsed(&["--input", "text"], text));
        let lines = server.ask(&post("/parse?lines", "", text)).body;
        assert_eq!(lines, parsed(&["--input", "lines"], text));
    }
    let objects = "{\"id\":7,\"tokens\":[\"Dogs\",[\"bark\",\"VBP\"]]}\n\n{\"text\":\"We (we) sing.\"}\n{\"x\":[]}\nnonsense\n{\"tokens\":[\"\"]}\n";
    for (query, options) in [
        ("", &["--input", "json"][..]),
        ("?nbest=3", &["--input", "json", "--nbest", "3"]),
        ("?span_scores", &["--input", "json", "--span-scores"]),
        ("?unescape=true&retag=1", &["--input", "json", "--unescape", "--retag"]),
        ("?trace=2", &["--input", "json", "--trace=2"]),
    ] {
        let reply = server.ask(&post(&format!("/parse{query}"), LINES, objects));
        let expected = parsed(options, objects).replace("<stdin>", "<text>");
        assert_eq!(reply.body, expected, "{query}");
    }
    assert_eq!(server.parse(TEXT).headers["content-type"], "application/x-ndjson");
}

#[test]
fn json_bodies_have_a_text_tokens_or_sentences() {
    let server = Running::start(&["--model", "small=english-small"]);
    let ask = |body: &str| server.ask(&post("/parse", JSON, body));
    assert_eq!(
        ask("{\"text\":\"Dogs bark. We sing.\"}").body,
        server.parse("Dogs bark. We sing.").body
    );
    let tokens =
        parsed(&["--input", "json"], "{\"tokens\":[\"Dogs\",[\"bark\",\"VBP\"]],\"id\":\"a\"}");
    assert_eq!(ask("{\"tokens\":[\"Dogs\",[\"bark\",\"VBP\"]],\"id\":\"a\"}").body, tokens);
    let sentences = "{\"sentences\":[\"Dogs bark.\",[\"We\",\"sing\"],{\"id\":1,\"text\":\"Yes.\"}],\"nbest\":2}";
    let lines =
        "{\"text\":\"Dogs bark.\"}\n{\"tokens\":[\"We\",\"sing\"]}\n{\"id\":1,\"text\":\"Yes.\"}\n";
    assert_eq!(ask(sentences).body, parsed(&["--input", "json", "--nbest", "2"], lines));
    let lines_apart = ask("{\"sentences\":[{\"id\":1.10,\n\"text\":\"Yes.\"}]}");
    assert!(lines_apart.body.starts_with("{\"id\":1.10,"), "{}", lines_apart.body);
    assert!(ask("{\"tokens\":[\"a\"],\"id\":1E5}").body.starts_with("{\"id\":1E5,"));
    let small = ask("{\"text\":\"Dogs bark.\",\"model\":\"small\"}").body;
    assert_ne!(small, server.parse("Dogs bark.").body);
    assert_eq!(small, server.ask(&post("/parse?model=small", "", "Dogs bark.")).body);
    for (body, status, problem) in [
        ("{", 400, "the body cannot be read"),
        ("{\"text\":\"a\",\"tokens\":[]}", 400, "one of text, tokens and sentences"),
        ("{}", 400, "one of text, tokens and sentences"),
        ("{\"sentences\":\"Dogs bark.\"}", 400, "sentences is not a list: send {"),
        ("[\"Dogs bark.\"]", 400, "expected an object"),
        ("{\"text\":\"a\",\"id\":7}", 400, "id names one sentence"),
        ("{\"txt\":\"a\"}", 400, "unknown field `txt`"),
        ("{\"text\":\"a\",\"nbest\":0}", 400, "0 is not a number from 1"),
        ("{\"text\":\"a\",\"nbest\":101}", 400, "nbest is at most 100"),
        ("{\"text\":\"a\",\"model\":\"/etc/passwd\"}", 404, "no model has the name `/etc/passwd`"),
        ("{\"text\":\"a\",\"trace\":1,\"nbest\":1}", 400, "trace shows how one tree was found"),
    ] {
        let reply = ask(body);
        assert_eq!(reply.status, status, "{body}: {reply:?}");
        let found = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(found.contains(problem), "{body}: {found}");
    }
    let object = "{\"tokens\":[\"Dogs\",[\"bark\",\"VBP\"]],\"id\":\"a\"}\n";
    for kind in ["", "Content-Type: application/x-www-form-urlencoded\r\n"] {
        assert_eq!(server.ask(&post("/parse", kind, object)).body, tokens, "{kind}");
        let two = server.ask(&post("/parse", kind, &object.repeat(2))).body;
        assert_eq!(two, tokens.repeat(2), "{kind}");
        let text = server.ask(&post("/parse", kind, "{a}: b.")).body;
        assert!(text.contains("\"text\":\"{a}: b.\""), "{text}");
    }
    let chosen = server.ask(&post("/parse", "Content-Type: text/plain\r\n", object)).body;
    assert!(!chosen.contains("\"id\":"), "{chosen}");
    let xml = server.ask(&post("/parse", "Content-Type: text/xml\r\n", "<a/>"));
    assert_eq!(xml.status, 415);
    let latin = server.ask(&post("/parse", "Content-Type: text/plain; charset=latin-1\r\n", "a"));
    assert_eq!(latin.status, 415);
    let packed = server.ask(&post("/parse", "Content-Encoding: gzip\r\n", "a"));
    assert_eq!((packed.status, packed.body.contains("bodies in gzip are not read")), (415, true));
    let start = "POST /parse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:";
    for (coding, status) in [("gzip, chunked", 415), ("Chunked", 200)] {
        let reply = server.ask(&format!("{start} {coding}\r\n\r\n1\r\na\r\n0\r\n\r\n"));
        assert_eq!(reply.status, status, "{coding}: {reply:?}");
    }
}

#[test]
fn a_sentence_that_cannot_be_read_has_its_place_in_the_request() {
    let server = Running::start(&[]);
    let problems = |body: &str| -> Vec<String> {
        let lines = body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| Some(line["error"].as_str()?.to_owned())).collect()
    };
    let said =
        problems(&server.ask(&post("/parse", JSON, "{\"sentences\":[\"We sing.\",3]}")).body);
    let expected = "sentences:2: `3` is not an object: write an object such as {";
    assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
    assert!(!said[0].contains("on one line"), "{said:?}");
    let mut connection = server.connect();
    connection.send("POST /parse HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nBad ");
    connection.stream.write_all(b"\xff\n").unwrap();
    let reply = connection.head().unwrap().whole(&mut connection);
    assert_eq!(problems(&reply.body), ["<text>:1:5: not UTF-8 text: send UTF-8"]);
}

#[test]
fn a_sentence_over_the_limit_is_not_parsed() {
    let server = Running::start(&["--max-words", "5"]);
    let reply = server.parse("We sing. The old dogs bark at us.");
    let lines: Vec<Value> =
        reply.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), lines[0]["complete"].clone()), (2, Value::Bool(true)));
    assert_eq!(lines[1]["error"], "a sentence of 7 words: the limit is 5 here");
    let named = "{\"sentences\":[{\"id\":3,\"text\":\"The old dogs bark at us.\"},{\"id\":4}]}";
    let body = server.ask(&post("/parse", JSON, named)).body;
    assert!(body.lines().zip(3..).all(|(line, id)| line.starts_with(&format!("{{\"id\":{id},"))));
    let corenlp = server.ask(&post("/", "", "The old dogs bark at us."));
    assert_eq!((corenlp.status, corenlp.body.contains("the limit is 5")), (400, true));
}

#[test]
fn find_replies_with_what_the_command_writes() {
    let server = Running::start(&[]);
    let ask = |path: &str, kind: &str, body: &str| server.ask(&post(path, kind, body));
    let text = "The old dog barks. We (we) sing.";
    let found = |arguments: &[&str], input: &str| {
        let output = [&["find", "--quiet", "--output", "json"], arguments].concat();
        let done = srparse(&output).write_stdin(input).assert().success();
        let lines = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        lines.replace("\"file\":\"<stdin>\",", "").replace("\"file\":\"-\",", "")
    };
    let query = "/find?pattern=NP%3Dn+%3C+__%3Dx";
    let pattern = "NP=n < __=x";
    let reply = ask(query, "", text);
    assert_eq!(reply.headers["content-type"], "application/x-ndjson");
    let expected = found(&[pattern, "--text", "--model", "english-fast"], text);
    assert_eq!(reply.body, expected);
    let object = serde_json::json!({ "text": text }).to_string();
    assert_eq!(ask(query, JSON, &object).body, expected);
    assert_eq!(ask(query, "", &object).body, expected);
    let once = ask(&format!("{query}&once"), "", text).body;
    assert!(once.lines().count() < expected.lines().count() && !once.is_empty());
    let trees = ["(TOP (S (NP (NN salt)) (VP (VBZ helps))))", "(NP (-LRB- -LRB-) (NN x))"];
    let body = serde_json::json!({ "trees": trees, "pattern": pattern }).to_string();
    assert_eq!(ask("/find", JSON, &body).body, found(&[pattern], &trees.join("\n")));
    let body = serde_json::json!({ "trees": ["(NP (NN salt)", "(NP (NN x))"], "pattern": "NN" });
    let lines = ask("/find", JSON, &body.to_string()).body;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["tree"], &lines[1]["tree"]), (&1.into(), &2.into()));
    assert!(lines[0]["error"].as_str().unwrap().contains("<text>:1:"), "{lines:?}");
    assert_eq!((&lines[1]["node"], &lines[1]["label"]), (&1.into(), &"NN".into()));
    for (path, body, problem) in [
        ("/find?pattern=NP+%3C", "{\"text\":\"a\"}", "pattern:1:5: "),
        ("/find", "{\"text\":\"a\"}", "a pattern is missing"),
        ("/find?pattern=NP", "{\"text\":\"a\",\"trees\":[]}", "one of text and trees"),
        ("/find?pattern=NP", "{}", "one of text and trees"),
        ("/find?pattern=NP", "{\"txt\":\"a\"}", "unknown field `txt`"),
        ("/find?pattern=NP&trees=x", "{}", "belongs in the body"),
    ] {
        let reply = ask(path, JSON, body);
        assert!(reply.status == 400 && reply.body.contains(problem), "{path} {body}: {reply:?}");
    }
    assert_eq!(ask("/find?pattern=NP", "Content-Type: text/xml\r\n", "<a/>").status, 415);
}

#[test]
fn every_path_has_its_methods() {
    let server = Running::start(&[]);
    let mut connection = server.connect();
    for (path, body) in [("/ping", "pong\n"), ("/live", "live\n"), ("/ready", "ready\n")] {
        assert_eq!(connection.ask(&get(path, "")).body, body);
    }
    let models = connection.ask(&get("/models", "")).json();
    assert_eq!(models["models"][0]["name"], "english-fast");
    assert_eq!(models["models"][0]["default"], true);
    let api = connection.ask(&get("/openapi.json", "")).json();
    assert_eq!(api["info"]["version"], env!("CARGO_PKG_VERSION"));
    for (path, status) in [("/parse", "403"), ("/find", "403"), ("/find", "413"), ("/find", "415")]
    {
        assert!(api["paths"][path]["post"]["responses"][status].is_object(), "{path}: {status}");
    }
    for path in api["paths"].as_object().unwrap().keys() {
        assert_ne!(connection.ask(&get(path, "")).status, 404, "{path}");
    }
    assert_eq!(connection.ask(&get("/nowhere", "")).status, 404);
    let refused = connection.ask(&get("/parse", ""));
    assert_eq!((refused.status, &*refused.headers["allow"]), (405, "POST"));
    let semgrex = connection.ask(&post("/semgrex?pattern=x", "", "Dogs bark."));
    assert_eq!((semgrex.status, semgrex.body.lines().count()), (501, 1));
    assert_eq!(connection.ask(&post("/parse", "", "Dogs bark. We sing.")).status, 200);
    let metrics = connection.ask(&get("/metrics", "")).body;
    for line in [
        "srparse_sentences_total 2\n",
        "srparse_words_total 6\n",
        "srparse_replies_total{path=\"/parse\",status=\"200\"} 1\n",
        "srparse_replies_total{path=\"other\",status=\"404\"} 1\n",
        "srparse_parse_seconds_count 1\n",
        "srparse_requests_in_work 0\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
}

#[test]
fn without_the_token_only_the_page_and_signs_of_life_are_answered() {
    for server in [Running::start(&["--token", "s3cret"])] {
        assert_eq!(server.ask(&get("/ready", "")).status, 200);
        for headers in [
            "",
            "Authorization: Bearer s3creT\r\n",
            "Authorization: Bearer\r\n",
            "Authorization: Basic eDp5\r\n",
        ] {
            for request in
                [post("/parse", headers, "a"), post("/", headers, "a"), get("/models", headers)]
            {
                let reply = server.ask(&request);
                assert_eq!((reply.status, &*reply.headers["www-authenticate"]), (401, "Bearer"));
            }
        }
        // `x:s3cret`
        for header in ["Authorization: bearer s3cret\r\n", "Authorization: Basic eDpzM2NyZXQ=\r\n"]
        {
            assert_eq!(server.ask(&post("/parse", header, "a")).status, 200);
        }
    }
    srparse(&["serve", "--token", "a b"]).assert().code(2);
}

#[test]
fn pages_of_other_origins_are_refused_unless_allowed() {
    let origin = "Origin: https://a.example\r\n";
    let server = Running::start(&[]);
    assert_eq!(server.ask(&post("/parse", origin, "a")).status, 403);
    assert_eq!(server.ask(&post("/parse", "Origin: null\r\n", "a")).status, 403);
    // A name of this machine, and another one that was made to lead to it.
    for (host, status) in
        [("localhost:9000", 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("x", 403)]
    {
        let request = "POST /parse HTTP/1.1\r\nConnection: close\r\nContent-Length: 1\r\n";
        let reply = server.ask(&format!("{request}Host: {host}\r\nOrigin: http://{host}\r\n\r\na"));
        assert_eq!(reply.status, status, "{host}");
    }
    let server = Running::start(&["--allow-origin", "https://a.example"]);
    let reply = server.ask(&post("/parse", origin, "a"));
    assert_eq!(
        (reply.status, &*reply.headers["access-control-allow-origin"]),
        (200, "https://a.example")
    );
    let before = server.ask(&format!("OPTIONS /parse HTTP/1.1\r\nHost: x\r\n{origin}\r\n"));
    assert_eq!(
        (before.status, before.headers.contains_key("access-control-allow-headers")),
        (204, true)
    );
    let other = server.ask(&post("/parse", "Origin: https://b.example\r\n", "a"));
    assert_eq!((other.status, other.headers.get("access-control-allow-origin")), (403, None));
}

#[test]
fn bodies_over_the_limit_are_refused_and_forgotten() {
    let server = Running::start(&["--max-body", "1K"]);
    let mut connection = server.connect();
    let reply =
        connection.ask("POST /parse HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\nabc");
    assert_eq!(reply.status, 413);
    let reply = server.ask(&post("/", "", &"a ".repeat(5_000)));
    assert!(reply.status == 413 && reply.body.contains("more than 1024 bytes"), "{reply:?}");
    let mut connection = server.connect();
    connection.send("POST /parse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..100 {
        connection.send(&format!("400\r\n{}\r\n", "a".repeat(1024)));
    }
    let reply = connection.ask("0\r\n\r\n");
    assert_eq!(reply.status, 413);
    assert_eq!(server.parse("Dogs bark.").status, 200);
    srparse(&["serve", "--max-body", "1T"]).assert().code(2);
}

#[test]
fn clients_that_close_their_side_get_the_reply() {
    let server = Running::start(&[]);
    let mut connection = server.connect();
    connection.send(&post("/parse", "", TEXT));
    connection.stream.shutdown(Shutdown::Write).unwrap();
    let reply = connection.head().unwrap().whole(&mut connection);
    assert_eq!(reply.body, parsed(&["--input", "text"], TEXT));
}

#[test]
fn slow_clients_are_cut_off() {
    let server = Running::start(&["--timeout", "2", "--max-queue", "1"]);
    let mut idle = server.connect();
    let mut no_head = server.connect();
    no_head.send("POST /parse HTTP/1.1\r\nHos");
    let mut no_body = server.connect();
    no_body.send("POST /parse HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    let reply = no_body.head().unwrap().whole(&mut no_body);
    assert!(reply.status == 408 && reply.body.contains("within 2 s"), "{reply:?}");
    assert!(idle.is_closed());
    let head = no_head.head();
    assert!(head.is_none_or(|reply| reply.status == 408));
    // One that does not read keeps its place in the queue for a while only.
    let mut deaf = server.connect();
    deaf.send(&post("/parse", "", &long_text()));
    assert_eq!(deaf.head().unwrap().status, 200);
    while server.parse("Dogs bark.").status == 503 {
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_full_queue_says_when_to_try_again() {
    let server = Running::start(&["--max-queue", "1"]);
    let mut first = server.connect();
    first.send(&post("/parse", "", &long_text()));
    assert_eq!(first.head().unwrap().status, 200);
    for path in ["/parse", "/"] {
        let reply = server.ask(&post(path, "", "Dogs bark."));
        assert_eq!((reply.status, &*reply.headers["retry-after"]), (503, "1"));
    }
    // Who goes away makes room.
    drop(first);
    while server.parse("Dogs bark.").status == 503 {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn connections_over_the_limit_are_refused() {
    let server = Running::start(&["--max-connections", "3"]);
    let mut open: Vec<Connection> = (0..3).map(|_| server.connect()).collect();
    for connection in &mut open {
        assert_eq!(connection.ask(&get("/ping", "")).status, 200);
    }
    for _ in 0..300 {
        let mut more = server.connect();
        // The refusal comes without a question, and is lost if one is sent.
        let reply = more.head().unwrap().whole(&mut more);
        assert_eq!((reply.status, &*reply.headers["retry-after"]), (503, "1"));
        assert!(more.is_closed());
    }
    assert_eq!(open[1].ask(&post("/parse", "", "Dogs bark.")).status, 200);
    drop(open);
    let is_served = |mut connection: Connection| {
        connection.send(&get("/ping", ""));
        connection.head().is_some_and(|reply| reply.status == 200)
    };
    while !is_served(server.connect()) {}
}

#[test]
fn many_connections_at_once_are_all_answered() {
    let server = Running::start(&["--max-connections", "1000", "--max-queue", "1000"]);
    let mut open: Vec<Connection> = (0..200).map(|_| server.connect()).collect();
    for connection in &mut open {
        connection.send(&post("/parse", "", "Dogs bark."));
    }
    let expected = parsed(&["--input", "text"], "Dogs bark.");
    for mut connection in open {
        let reply = connection.head().unwrap().whole(&mut connection);
        assert_eq!((reply.status, reply.body), (200, expected.clone()));
    }
}

#[test]
fn any_bytes_are_answered_or_refused() {
    let server = Running::start(&["--timeout", "5"]);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for round in 0..300 {
        let mut bytes = vec![0; random.random_range(0..400)];
        random.fill_bytes(&mut bytes);
        let mut connection = server.connect();
        let start = [
            &b""[..],
            b"POST /parse HTTP/1.1\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n",
            b"POST /?properties=%7B HTTP/1.1\r\n\r\n",
            b"POST /parse HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ];
        let _ = connection.stream.write_all(start[round % start.len()]);
        let _ = connection.stream.write_all(&bytes);
    }
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(200_000));
    let mut connection = server.connect();
    connection.send(&long);
    assert!(connection.head().is_none_or(|reply| reply.status >= 400));
    assert_eq!(server.parse("Dogs bark.").status, 200);
    server.signal();
    let (status, log) = server.ended();
    assert!(status == Some(0) && !log.contains("panicked"), "{log}");
}

#[test]
fn a_signal_ends_the_server_when_what_it_accepted_is_answered() {
    let server = Running::start(&[]);
    let mut idle = server.connect();
    assert_eq!(idle.ask(&get("/ping", "")).status, 200);
    let text = long_text();
    let mut busy = server.connect();
    busy.send(&post("/parse", "", &text));
    let head = busy.head().unwrap();
    server.signal();
    assert!(idle.is_closed());
    while TcpStream::connect(&server.address).is_ok() {}
    assert_eq!(head.whole(&mut busy).body.lines().count(), 20_000);
    assert!(busy.is_closed());
    let (status, log) = server.ended();
    assert_eq!(status, Some(0), "{log}");
    assert!(log.contains("\"POST /parse\" 200 "), "{log}");
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let server = Running::start(&[]);
    let mut busy = server.connect();
    busy.send(&post("/parse", "", &long_text()));
    assert_eq!(busy.head().unwrap().status, 200);
    server.signal();
    while TcpStream::connect(&server.address).is_ok() {}
    server.signal();
    assert_eq!(server.ended().0, Some(130));
}

#[test]
fn what_cannot_be_served_is_said() {
    let server = Running::start(&[]);
    for (arguments, problem) in [
        (&["--listen", &*server.address][..], "listen: "),
        (
            &["--allow-origin", "foo"],
            "write a scheme and a host without a path, such as https://example.org, or *",
        ),
        (
            &["--listen", "nonsense"],
            "listen: nonsense: invalid socket address: give an address and a port",
        ),
        (&["--model", "no.srm"], "no.srm"),
        (
            &["--model", "a=english-fast", "--model", "a=english-small"],
            "`a` is the name of two models",
        ),
        (&["--model", "=english-fast"], "the name of a model"),
    ] {
        let done = srparse(&[&["serve"], arguments].concat()).assert().code(2);
        let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(said.contains(problem), "{arguments:?}: {said}");
    }
    let mut command = srparse(&["serve", "--listen", "127.0.0.1:0", "--model", "english-fast"]);
    command.env("SRPARSE_TOKEN", OsStr::from_bytes(b"\xffsecret"));
    let done = command.timeout(Duration::from_secs(60)).assert().code(2);
    let problem = text(&done.get_output().stderr);
    assert!(problem.contains("a token is of one or more ASCII characters"), "{problem}");
    let mut open = interruptible()
        .args(["serve", "--listen", "0.0.0.0:0", "--model", "english-fast"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(open.stderr.take().unwrap()).lines().take(2).map(Result::unwrap);
    let said = lines.collect::<Vec<_>>();
    open.kill().unwrap();
    open.wait().unwrap();
    assert!(said[1].starts_with("warning: other machines can connect"), "{said:?}");
}
