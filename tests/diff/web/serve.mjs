// The line between tests/diff/web.py and a server in Node. Each request on stdin is a line of JSON whose `payload` counts
// the bytes that follow it. Each answer, on the descriptor that is the last argument, is the same. Standard output is not
// used, because Dawn prints warnings there.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const here = path.dirname(fileURLToPath(import.meta.url));

// A package of .drivers/node, or of the folder TILEC_NODE.
export function load(name) {
  const packages = process.env.TILEC_NODE ?? path.resolve(here, '../../../.drivers/node');
  return import(pathToFileURL(createRequire(path.join(packages, 'package.json')).resolve(name)).href);
}

function send({ bytes, ...words }) {
  const whole = [Buffer.from(JSON.stringify({ ...words, payload: bytes?.length ?? 0 }) + '\n')];
  if (bytes) whole.push(bytes);
  let rest = Buffer.concat(whole);
  while (rest.length) rest = rest.subarray(fs.writeSync(Number(process.argv.at(-1)), rest));
}

// Answers every request by `answer(request, payload)` until the input ends.
export async function serve(answer) {
  let pending = Buffer.alloc(0);
  let request = null;
  for await (const chunk of process.stdin) {
    pending = pending.length ? Buffer.concat([pending, chunk]) : chunk;
    for (;;) {
      if (!request) {
        const end = pending.indexOf(10);
        if (end < 0) break;
        request = JSON.parse(pending.subarray(0, end).toString('utf8'));
        pending = pending.subarray(end + 1);
      }
      if (pending.length < request.payload) break;
      const payload = pending.subarray(0, request.payload);
      pending = pending.subarray(request.payload);
      send(await answer(request, payload));
      request = null;
    }
  }
}
