// Requests of the page to the library in a worker; nothing leaves this browser.

// The bytes of the library, which `srparse.js` brings: compressed, in base64, so that a page from a file can read them.
async function library() {
  const { srparseWasm } = globalThis;
  if (!srparseWasm) throw new Error('srparse.js is missing: it belongs beside this page');
  const packed = Uint8Array.from(atob(srparseWasm), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// What `serve.js` asks for parses: `ask` sends a request and calls `each` with every line of the reply; `load` adds a
// model.
function connect() {
  const source = new Blob([document.getElementById('worker').textContent], { type: 'text/javascript' });
  const worker = new Worker(URL.createObjectURL(source));
  const asked = new Map();
  let [last, broken] = [0, null];
  const fail = (error) => {
    broken = error;
    for (const { reject } of asked.values()) reject(error);
    asked.clear();
  };
  library().then((wasm) => worker.postMessage({ wasm }, [wasm.buffer])).catch(fail);
  worker.onerror = (event) => fail(new Error(event.message));
  worker.onmessage = ({ data: { id, lines, isDone, problem } }) => {
    if (!id) return fail(new Error(problem));
    const one = asked.get(id);
    if (!one) return undefined;
    try {
      if (lines) for (const line of lines.trimEnd().split('\n')) one.each(JSON.parse(line));
    } catch (error) {
      one.reject(error);
    }
    if (isDone) one.resolve();
    if (problem) one.reject(new Error(problem));
    if (isDone || problem) asked.delete(id);
    return undefined;
  };
  const send = (message, each, signal) => new Promise((resolve, reject) => {
    if (broken) return reject(broken);
    const id = ++last;
    asked.set(id, { each, resolve, reject });
    if (signal) {
      signal.addEventListener('abort', () => {
        worker.postMessage({ cancels: id });
        asked.delete(id);
        reject(new DOMException('aborted', 'AbortError'));
      });
    }
    worker.postMessage({ id, ...message });
    return undefined;
  });
  return {
    ask: (path, body, signal, each) => send({ path, body }, each, signal),
    load: (name, bytes) => send({ name, bytes: new Uint8Array(bytes) }),
  };
}
