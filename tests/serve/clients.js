// The npm package `corenlp` against the server at the address given.

import assert from 'node:assert/strict';
import corenlp from 'corenlp';

const { ConnectorServer, Pipeline, Properties, default: CoreNLP } = corenlp;
const connector = new ConnectorServer({ dsn: process.argv[2] });
const properties = new Properties({ annotators: 'tokenize,ssplit,pos,lemma,parse,depparse' });
const pipeline = new Pipeline(properties, 'English', connector);
const sentence = new CoreNLP.simple.Sentence('We saw (only) the old dog.');
await pipeline.annotate(sentence);
assert.deepEqual(sentence.words(), ['We', 'saw', '-LRB-', 'only', '-RRB-', 'the', 'old', 'dog', '.']);
assert.equal(sentence.posTags()[1], 'VBD');
assert.match(sentence.parse(), /^\(ROOT\n {2}\(S\n {4}\(NP \(PRP We\)\)/);
assert.equal(sentence.governors().length, 9);
const document = new CoreNLP.simple.Document('Dogs bark. We sing.');
await pipeline.annotate(document);
assert.equal(document.sentences().length, 2);
