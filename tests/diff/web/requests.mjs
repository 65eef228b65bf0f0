// What tests/diff/web.py asks of a WebGPU device, in a page and in Node alike: buffers, pipelines and dispatches one by
// one, and whole launches of shipped files.
import { evaluate, isMet } from './formulas.mjs';
import { Launcher, moduleOf } from './launch.mjs';

const KINDS = { read: 'read-only-storage', read_write: 'storage', uniform: 'uniform' };

// The adapter's largest buffers and otherwise WebGPU's default limits, as tilec's runtime opens devices.
export async function openDevice(adapter) {
  const features = ['shader-f16', 'subgroups'].filter((name) => adapter.features.has(name));
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  return adapter.requestDevice({
    requiredFeatures: features,
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
}

// A dispatch leaves out the bindings that only others of its module have.
const present = (entries) => entries.filter((entry) => entry !== null);

// A function of a request and its payload, a Uint8Array. Gives the answer's words, with `bytes` where there are any;
// `error` holds WebGPU's words. `load` gives the text of a shipped file.
export function answers(device, adapter, load) {
  const objects = new Map();
  const modules = new Map();
  const launcher = new Launcher(device, load);
  let lost = null;
  device.lost.then((info) => { lost = `the device was lost: ${info.message}`; });

  const requests = {
    info() {
      const { vendor, architecture, description } = adapter.info;
      const { maxBufferSize, maxStorageBufferBindingSize } = device.limits;
      return {
        features: [...device.features], limits: { maxBufferSize, maxStorageBufferBindingSize },
        adapter: [vendor, architecture, description].join(' '), agent: globalThis.navigator?.userAgent ?? '',
      };
    },
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
      const bytes = new Uint8Array(staging.getMappedRange().slice(0));
      staging.destroy();
      return { bytes };
    },
    copy({ source, target, size }) {
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(objects.get(source), 0, objects.get(target), 0, size);
      device.queue.submit([encoder.finish()]);
    },
    async pipeline({ id, wgsl, entry, bindings }) {
      if (!modules.has(wgsl)) modules.set(wgsl, await moduleOf(device, wgsl));
      const group = device.createBindGroupLayout({
        entries: present(bindings.map((kind, binding) => kind && {
          binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: KINDS[kind] },
        })),
      });
      const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
      const compute = { module: modules.get(wgsl), entryPoint: entry };
      objects.set(id, { pipeline: device.createComputePipeline({ layout, compute }), group });
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
    // Formulas of integers, as texts, and conditions of a launch.
    evaluate({ formulas, conditions, values }) {
      const whole = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, BigInt(value)]));
      return {
        integers: formulas.map((text) => String(evaluate(text, whole))),
        met: conditions.map((text) => isMet(text, values)),
      };
    },
    // `inputs`: name, shape and bytes of each tensor, in the order in which the payload holds them.
    async launch({ file, inputs, given, scalars }, payload) {
      const tensors = {};
      const shapes = {};
      let at = 0;
      for (const { name, shape, bytes } of inputs) {
        tensors[name] = payload.subarray(at, at + bytes);
        shapes[name] = shape;
        at += bytes;
      }
      const results = await launcher.launch(file, tensors, shapes, given, scalars);
      const parts = Object.values(results);
      const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let end = 0;
      for (const part of parts) {
        whole.set(part, end);
        end += part.length;
      }
      return { outputs: Object.entries(results).map(([name, part]) => ({ name, bytes: part.length })), bytes: whole };
    },
  };

  return async (request, payload) => {
    if (lost) return { error: lost };
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
  };
}
