// WebGPU in a page of Chromium, which this process opens and serves: the page fetches the code here beside it and the
// shipped files from http://localhost, as any page would.
// usage: node page.mjs FOLDER-OF-SHIPPED-FILES PATH-OF-CHROMIUM DESCRIPTOR
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { here, load, serve } from './serve.mjs';

const [folder, executablePath] = process.argv.slice(2);
const FLAGS = [
  '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-quic', '--no-first-run',
];
const TYPES = { '.mjs': 'text/javascript', '.json': 'application/json', '.wgsl': 'text/plain; charset=utf-8' };
const PAGE = `<!doctype html>
<title>kernels</title>
<script type="module">
  import { answers, openDevice } from '/code/requests.mjs';
  async function text(file) {
    const found = await fetch('/shipped/' + file);
    if (!found.ok) throw new Error(file + ': ' + found.status);
    return found.text();
  }
  const adapter = await navigator.gpu.requestAdapter();
  const answer = answers(await openDevice(adapter), adapter, text);
  window.perform = async (request) => {
    const payload = request.payload ? new Uint8Array(await (await fetch('/payload')).arrayBuffer()) : new Uint8Array(0);
    const { bytes, ...words } = await answer(request, payload);
    if (bytes) await fetch('/bytes', { method: 'POST', body: bytes });
    return words;
  };
</script>
`;

let payload = null;
let received = null;

const server = http.createServer(async (request, response) => {
  const [, kind, ...rest] = decodeURIComponent(request.url).split('/');
  const give = (body, type) => response.writeHead(200, { 'content-type': type }).end(body);
  if (kind === '') return give(PAGE, 'text/html');
  if (kind === 'payload') return give(payload, 'application/octet-stream');
  if (kind === 'bytes') {
    const parts = [];
    for await (const part of request) parts.push(part);
    received = Buffer.concat(parts);
    return give('', 'text/plain');
  }
  const file = rest.includes('..') ? '' : path.join({ code: here, shipped: folder }[kind] ?? '', ...rest);
  if (!(kind in { code: 0, shipped: 0 }) || !fs.existsSync(file)) return response.writeHead(404).end();
  return give(fs.readFileSync(file), TYPES[path.extname(file)] ?? 'application/octet-stream');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const { chromium } = (await load('playwright-core')).default;
const browser = await chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: FLAGS });
const page = await browser.newPage();
page.setDefaultTimeout(30_000);
const told = [];
page.on('console', (message) => told.push(message.text()));
page.on('pageerror', (error) => told.push(String(error)));
page.on('crash', () => told.push('the page crashed'));
await page.goto(`http://localhost:${server.address().port}/`);

// A page that hangs would hang the tests: no kernel of theirs takes so long.
const MOST_SECONDS = 300;

function limited(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${MOST_SECONDS} s`)), 1000 * MOST_SECONDS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function answer(request, bytes) {
  payload = bytes;
  received = null;
  try {
    const words = await limited(page.evaluate((one) => window.perform(one), request));
    return received ? { ...words, bytes: received } : words;
  } catch (error) {
    return { error: [String(error.message ?? error), ...told].join('\n') };
  }
}

try {
  await page.waitForFunction(() => window.perform);
  await serve(answer);
} catch (error) {
  await serve(async () => ({ error: ['Chromium runs no WebGPU', String(error.message ?? error), ...told].join('\n') }));
}
await browser.close();
process.exit(0);
