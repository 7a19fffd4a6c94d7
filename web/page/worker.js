// A worker with the library: takes one request after the other, and answers line by line.

let [module, engine, isBusy] = [null, null, false];
const waiting = [];
// Models of the user, for a new start after a trap.
const models = new Map();

async function start() {
  engine = await Engine.of(module);
  for (const [name, bytes] of models) engine.load(name, bytes);
}

// Lets messages in, such as the end of a request.
const channel = new MessageChannel();
const pause = () => new Promise((done) => {
  channel.port1.onmessage = done;
  channel.port2.postMessage(null);
});

async function answer({ id, path, body, name, bytes, isOver }) {
  if (name) {
    engine.load(name, bytes);
    models.set(name, bytes);
    return;
  }
  engine.begin(path, body);
  let since = performance.now();
  for (let lines = engine.next(); lines && !isOver(); lines = engine.next()) {
    postMessage({ id, lines });
    if (performance.now() - since > 20) {
      await pause();
      since = performance.now();
    }
  }
}

async function work() {
  if (isBusy || !module) return;
  isBusy = true;
  while (waiting.length) {
    const asked = waiting[0];
    asked.isOver = () => waiting[0] !== asked;
    try {
      if (!engine) await start();
      await answer(asked);
      postMessage({ id: asked.id, isDone: true });
    } catch (error) {
      const isTrap = error instanceof WebAssembly.RuntimeError;
      if (isTrap) engine = null;
      postMessage({ id: asked.id, problem: isTrap ? 'the parser ran out of memory or has a defect: try a shorter text' : error.message });
    }
    if (waiting[0] === asked) waiting.shift();
  }
  isBusy = false;
}

self.onmessage = async ({ data }) => {
  if (data.wasm) {
    try {
      module = await WebAssembly.compile(data.wasm);
    } catch (error) {
      postMessage({ problem: `this browser cannot run the parser: ${error.message}` });
    }
  } else if (data.cancels) {
    const at = waiting.findIndex(({ id }) => id === data.cancels);
    if (at >= 0) waiting.splice(at, 1);
    return;
  } else {
    waiting.push(data);
  }
  work();
};
