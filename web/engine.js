// The library in WebAssembly. Requests and answers are those of the server: docs/serve.md.

export class Engine {
  constructor(exports) {
    this.exports = exports;
    this.encoder = new TextEncoder();
    this.decoder = new TextDecoder();
  }

  // From a compiled module, which needs nothing of its surroundings.
  static async of(module) {
    const instance = await WebAssembly.instantiate(module, {});
    return new Engine(instance.exports);
  }

  // The bytes in the buffer.
  said(length) {
    const at = this.exports.srparse_room(0);
    return this.decoder.decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }

  // Writes into the buffer.
  put(...parts) {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    let at = this.exports.srparse_room(length);
    for (const part of parts) {
      new Uint8Array(this.exports.memory.buffer).set(part, at);
      at += part.length;
    }
  }

  check(length) {
    if (length) throw new Error(this.said(length));
  }

  // Loads a model file under a name.
  load(name, bytes) {
    const written = this.encoder.encode(name);
    this.put(written, bytes);
    this.check(this.exports.srparse_load(written.length));
  }

  // Begins a request; `path` is `parse` or `find`. It ends the one before.
  begin(path, request) {
    this.put(this.encoder.encode(JSON.stringify(request)));
    this.check(this.exports[`srparse_${path}`]());
  }

  // The next lines of the answer, as text; empty at its end.
  next() {
    return this.said(this.exports.srparse_next());
  }
}
