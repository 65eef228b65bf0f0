// Validates WGSL with Tint, as Chrome does, on Dawn's null backend: no GPU and no driver are needed.
// As a server (no arguments): one JSON string of WGSL a line on stdin, one JSON array of messages a line on stdout,
// after a record separator, because Dawn prints warnings there too.
// With file names: prints each message after its file, line and column; exit code 1 where there is an error.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const packages = process.env.TILEC_NODE ?? path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../.drivers/node');
const entry = createRequire(path.join(packages, 'package.json')).resolve('webgpu');
const { create, globals } = await import(pathToFileURL(entry).href);
Object.assign(globalThis, globals);

// Kept in a global: Dawn's threads use the instance after its JavaScript object is collected.
globalThis.gpu = create(['backend=null']);

// WebGPU's default limits, so that a shader that needs more is found out. An adapter opens one device only.
async function openDevice(features) {
  return (await gpu.requestAdapter()).requestDevice({ requiredFeatures: features });
}

const plain = await openDevice([]);
const extended = await openDevice(['shader-f16', 'subgroups']);

async function validate(code) {
  const device = /^\s*enable\s/m.test(code) ? extended : plain;
  const found = [];
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code });
  const info = await module.getCompilationInfo();
  const scope = await device.popErrorScope();
  for (const message of info.messages) {
    found.push(`${message.lineNum}:${message.linePos}: ${message.type}: ${message.message}`);
  }
  if (scope && !info.messages.some((message) => message.type === 'error')) found.push(`error: ${scope.message}`);
  if (scope) return found;
  // Limits, workgroup memory and the bindings' layout are looked at only when a pipeline is made.
  for (const [, name] of code.matchAll(/@compute\b[^{]*?\bfn\s+(\w+)/gs)) {
    device.pushErrorScope('validation');
    device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: name } });
    const error = await device.popErrorScope();
    if (error) found.push(`error: entry point ${name}: ${error.message.split('\n')[0]}`);
  }
  return found;
}

const files = process.argv.slice(2);
if (files.length) {
  let failed = false;
  for (const file of files) {
    for (const message of await validate(fs.readFileSync(file, 'utf8'))) {
      console.log(`${file}:${message}`);
      failed ||= message.includes('error: ');
    }
  }
  process.exit(failed ? 1 : 0);
}
for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write('\x1e' + JSON.stringify(await validate(JSON.parse(line))) + '\n');
}
process.exit(0);
