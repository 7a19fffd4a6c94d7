// Requests of the page of `srparse serve`, to the server that it is from.

// What `serve.js` asks for parses: `ask` sends a request and calls `each` with every line of the reply.
function connect() {
  const $ = (id) => document.getElementById(id);
  async function ask(path, body, signal, each) {
    const headers = { 'Content-Type': 'application/json' };
    if ($('token').value) headers.Authorization = `Bearer ${$('token').value}`;
    const reply = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
    if (reply.status === 401) {
      $('with-token').hidden = false;
      $('token').focus();
    }
    if (!reply.ok) throw new Error((await reply.json()).error);
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      const lines = (rest + (value || '')).split('\n');
      rest = lines.pop();
      for (const line of lines) await each(JSON.parse(line));
      if (done) return;
    }
  }
  return { ask };
}
