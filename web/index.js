// Constituency parsing of English in Node and in browsers.

import { Engine } from './engine.js';

const address = new URL('srparse.wasm', import.meta.url);

async function compiled() {
  if (address.protocol !== 'file:') return WebAssembly.compileStreaming(fetch(address));
  const { readFile } = await import('node:fs/promises');
  return WebAssembly.compile(await readFile(address));
}

let engine;
const ready = () => (engine ??= compiled().then(Engine.of));

async function answers(path, request) {
  const own = await ready();
  try {
    own.begin(path, request);
    const found = [];
    for (let lines = own.next(); lines; lines = own.next()) {
      for (const line of lines.trimEnd().split('\n')) found.push(JSON.parse(line));
    }
    return found;
  } catch (error) {
    // After a trap nothing can be relied on: the next request starts anew, without loaded models.
    if (error instanceof WebAssembly.RuntimeError) engine = undefined;
    throw error;
  }
}

export function parse(input, options = {}) {
  return answers('parse', typeof input === 'string' ? { text: input, ...options } : { sentences: input, ...options });
}

export function find(pattern, trees, options = {}) {
  return answers('find', { pattern, trees, ...options });
}

export async function loadModel(name, bytes) {
  (await ready()).load(name, bytes);
}
