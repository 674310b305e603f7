// Serves the engine of the npm package oxigraph over standard input and output;
// ../wire.go has the requests and replies.
import { createInterface } from "node:readline";
import { openSync, readSync, closeSync } from "node:fs";
import oxigraph from "oxigraph";

let store = new oxigraph.Store();

// A file is handed over in pieces that end with a line, for a string in
// JavaScript cannot be as long as a file.
function loadFile(name) {
  const file = openSync(name);
  const buffer = Buffer.alloc(16 << 20);
  let rest = Buffer.alloc(0);
  for (;;) {
    const n = readSync(file, buffer, 0, buffer.length, null);
    const bytes = Buffer.concat([rest, buffer.subarray(0, n)]);
    const end = n === 0 ? bytes.length : bytes.lastIndexOf(10) + 1;
    if (end > 0) {
      store.load(bytes.subarray(0, end), { format: "nq", no_transaction: true, lenient: true });
    }
    if (n === 0) break;
    rest = Buffer.from(bytes.subarray(end));
  }
  closeSync(file);
}

function answer(q) {
  const begin = process.hrtime.bigint();
  const done = (result) => ({ result, nanos: Number(process.hrtime.bigint() - begin) });
  switch (q.op) {
    case "load":
      store = new oxigraph.Store();
      if (q.file) loadFile(q.file);
      else store.load(q.text ?? "", { format: "nq" });
      return done();
    case "query": {
      const options = { use_default_graph_as_union: Boolean(q.union) };
      const r = store.query(q.text, options);
      const reply = done();
      if (!q.quiet) {
        const graph = Array.isArray(r) && (r.length === 0 ? /^[^{]*\b(construct|describe)\b/i.test(q.text) : r[0].termType === "Quad");
        reply.result = store.query(q.text, { ...options, results_format: graph ? "nt" : "json" });
      }
      return reply;
    }
    case "update":
      store.update(q.text);
      return done();
    case "dump":
      return done(store.dump({ format: "nq" }));
  }
  throw new Error(`no such request: ${q.op}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = answer(JSON.parse(line));
  } catch (e) {
    reply = { error: String(e.message ?? e) || "refused", nanos: 0 };
  }
  reply.rss = process.resourceUsage().maxRSS * 1024;
  process.stdout.write(JSON.stringify(reply) + "\n");
}
