// Runs WGSL on Dawn, Chrome's WebGPU, for tests/diff/dawn.py.
// usage: node dawn_serve.mjs ADAPTER-NAME DESCRIPTOR
// Each request on stdin: a line of JSON whose `payload` counts the bytes that follow it. Each answer on the
// descriptor is the same; `error` in it holds Dawn's words. Standard output is not used, because Dawn prints warnings there.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const packages = process.env.TILEC_NODE ?? path.resolve(here, '../../.drivers/node');
const entry = createRequire(path.join(packages, 'package.json')).resolve('webgpu');
const { create, globals } = await import(pathToFileURL(entry).href);
Object.assign(globalThis, globals);

// Kept in a global: Dawn's threads use the instance after its JavaScript object is collected.
globalThis.gpu = create(['backend=vulkan', `adapter=${process.argv[2]}`]);
const adapter = await gpu.requestAdapter();
const features = ['shader-f16', 'subgroups'].filter((name) => adapter?.features.has(name));
const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
const device = await adapter.requestDevice({
  requiredFeatures: features,
  requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
});

const objects = new Map();
const modules = new Map();
const KINDS = { read: 'read-only-storage', read_write: 'storage', uniform: 'uniform' };

function moduleOf(code) {
  if (!modules.has(code)) modules.set(code, device.createShaderModule({ code }));
  return modules.get(code);
}

const requests = {
  info: () => ({ features, limits: { maxBufferSize, maxStorageBufferBindingSize } }),
  create({ id, size, uniform }) {
    const { COPY_SRC, COPY_DST, UNIFORM, STORAGE } = GPUBufferUsage;
    objects.set(id, device.createBuffer({ size, usage: COPY_SRC | COPY_DST | (uniform ? UNIFORM : STORAGE) }));
  },
  destroy({ id }) {
    objects.get(id)?.destroy();
    objects.delete(id);
  },
  write({ id, offset }, payload) {
    device.queue.writeBuffer(objects.get(id), offset, payload);
  },
  async read({ id, offset, size }) {
    const staging = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(objects.get(id), offset, staging, 0, size);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const bytes = Buffer.from(staging.getMappedRange().slice(0));
    staging.destroy();
    return { bytes };
  },
  copy({ source, target, size }) {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(objects.get(source), 0, objects.get(target), 0, size);
    device.queue.submit([encoder.finish()]);
  },
  async pipeline({ id, wgsl, entry, bindings }) {
    const module = moduleOf(wgsl);
    const errors = (await module.getCompilationInfo()).messages.filter((message) => message.type === 'error');
    if (errors.length) {
      return { error: errors.map((found) => `wgsl:${found.lineNum}:${found.linePos}: ${found.message}`).join('\n') };
    }
    const group = device.createBindGroupLayout({
      entries: present(bindings.map((kind, binding) => kind && {
        binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: KINDS[kind] },
      })),
    });
    const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
    const pipeline = device.createComputePipeline({ layout, compute: { module, entryPoint: entry } });
    objects.set(id, { pipeline, group });
  },
  run({ launches, cleared }) {
    const encoder = device.createCommandEncoder();
    for (const id of cleared) encoder.clearBuffer(objects.get(id));
    const pass = encoder.beginComputePass();
    for (const { pipeline, buffers, groups } of launches) {
      const entries = present(buffers.map((id, binding) => id && { binding, resource: { buffer: objects.get(id) } }));
      pass.setPipeline(objects.get(pipeline).pipeline);
      pass.setBindGroup(0, device.createBindGroup({ layout: objects.get(pipeline).group, entries }));
      pass.dispatchWorkgroups(...groups);
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
  },
};

// A dispatch leaves out the bindings that only others of its module have.
function present(entries) {
  return entries.filter((entry) => entry !== null);
}

function answer({ bytes, ...words }) {
  const whole = [Buffer.from(JSON.stringify({ ...words, payload: bytes?.length ?? 0 }) + '\n')];
  if (bytes) whole.push(bytes);
  let rest = Buffer.concat(whole);
  while (rest.length) rest = rest.subarray(fs.writeSync(Number(process.argv[3]), rest));
}

async function perform(request, payload) {
  device.pushErrorScope('out-of-memory');
  device.pushErrorScope('validation');
  let result;
  try {
    result = (await requests[request.do](request, payload)) ?? {};
  } catch (error) {
    result = { error: String(error.message ?? error) };
  }
  for (const scope of [await device.popErrorScope(), await device.popErrorScope()]) {
    if (scope && !result.error) result = { error: scope.message };
  }
  return result;
}

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
    answer(await perform(request, payload));
    request = null;
  }
}
process.exit(0);
