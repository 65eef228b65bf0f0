// Launches a kernel from its shipped files, KERNEL.json and KERNEL.wgsl, as docs/manifest.md says and knowing nothing
// else: the same code in a page and in Node.
import { evaluate, isMet } from './formulas.mjs';

const KINDS = { read: 'read-only-storage', read_write: 'storage', uniform: 'uniform' };

export class Launcher {
  // `load(file)` gives the text of a shipped file.
  constructor(device, load) {
    this.device = device;
    this.load = load;
    this.manifests = new Map();
    this.modules = new Map();
    this.pipelines = new Map();
  }

  async manifest(file) {
    if (!this.manifests.has(file)) {
      const manifest = JSON.parse(await this.load(file));
      if (manifest.format !== 1) throw new Error(`${file} has the format ${manifest.format}`);
      this.manifests.set(file, manifest);
    }
    return this.manifests.get(file);
  }

  // `inputs`: Uint8Arrays by name; `shapes`: the shape of each of them; `given`: sizes that no input has; `scalars`
  // by name. Gives the Uint8Arrays of the tensors that the kernel writes.
  async launch(file, inputs, shapes, given, scalars) {
    const manifest = await this.manifest(file);
    const values = sizesOf(manifest, shapes, given);
    const all = scalarsOf(manifest, scalars, values);
    check(manifest, shapes, values, all);
    const variant = manifest.variants.find((one) => one.guards.every((guard) => evaluate(guard, values)));
    this.checkDevice(variant);
    const buffers = this.buffers(manifest, variant, inputs, values, all);
    const wgsl = await this.load(folderOf(file) + variant.file);
    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const dispatch of variant.dispatches) {
      const groups = fold(evaluate(dispatch.workgroups, values), BigInt(dispatch.fold_beyond));
      if (groups.includes(0)) continue;
      const { pipeline, layout } = await this.pipeline(wgsl, dispatch);
      const entries = dispatch.bindings.map(({ binding }) => ({ binding, resource: { buffer: buffers.get(binding) } }));
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.device.createBindGroup({ layout, entries }));
      pass.dispatchWorkgroups(...groups);
    }
    pass.end();
    this.device.queue.submit([encoder.finish()]);
    const results = {};
    for (const parameter of manifest.parameters) {
      if (parameter.kind !== 'tensor' || parameter.access === 'in') continue;
      const bound = variant.bindings.find((one) => one.holds === 'tensor' && one.name === parameter.name);
      const bytes = Number(evaluate(parameter.bytes, values));
      // A tensor without a binding stays as it is.
      const left = inputs[parameter.name] ?? new Uint8Array(bytes);
      results[parameter.name] = bound ? await this.read(buffers.get(bound.binding), bytes) : left;
    }
    for (const buffer of buffers.values()) buffer.destroy();
    return results;
  }

  checkDevice(variant) {
    for (const [name, value] of Object.entries(variant.limits)) {
      if (value > this.device.limits[name]) throw new Error(`${name}: ${value} is more than ${this.device.limits[name]}`);
    }
    for (const feature of variant.features) {
      if (!this.device.features.has(feature)) throw new Error(`the device lacks the feature ${feature}`);
    }
  }

  buffers(manifest, variant, inputs, values, scalars) {
    const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = GPUBufferUsage;
    const padded = (bytes) => Math.max(16, Math.ceil(bytes / manifest.padding) * manifest.padding);
    const buffers = new Map();
    for (const { binding, holds: content, name, bytes } of variant.bindings) {
      const size = padded(Number(evaluate(bytes, values)));
      const usage = content === 'uniforms' ? UNIFORM : STORAGE;
      const buffer = this.device.createBuffer({ size, usage: usage | COPY_SRC | COPY_DST });
      if (content === 'uniforms') this.device.queue.writeBuffer(buffer, 0, uniformsOf(variant, values, scalars));
      if (content === 'tensor' && inputs[name]?.length) {
        const whole = new Uint8Array(Math.ceil(inputs[name].length / 4) * 4);
        whole.set(inputs[name]);
        this.device.queue.writeBuffer(buffer, 0, whole);
      }
      buffers.set(binding, buffer);
    }
    return buffers;
  }

  async pipeline(wgsl, dispatch) {
    const key = JSON.stringify([dispatch.entry, dispatch.bindings]);
    if (!this.modules.has(wgsl)) this.modules.set(wgsl, await moduleOf(this.device, wgsl));
    if (!this.pipelines.has(wgsl)) this.pipelines.set(wgsl, new Map());
    const known = this.pipelines.get(wgsl);
    if (!known.has(key)) {
      const layout = this.device.createBindGroupLayout({
        entries: dispatch.bindings.map(({ binding, kind }) => ({
          binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: KINDS[kind] },
        })),
      });
      const pipeline = await this.device.createComputePipelineAsync({
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module: this.modules.get(wgsl), entryPoint: dispatch.entry },
      });
      known.set(key, { pipeline, layout });
    }
    return known.get(key);
  }

  async read(buffer, bytes) {
    if (!bytes) return new Uint8Array(0);
    const size = Math.ceil(bytes / 4) * 4;
    const staging = this.device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, size);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const result = new Uint8Array(staging.getMappedRange().slice(0, bytes));
    staging.destroy();
    return result;
  }
}

export async function moduleOf(device, code) {
  const module = device.createShaderModule({ code });
  const errors = (await module.getCompilationInfo()).messages.filter((message) => message.type === 'error');
  if (errors.length) {
    throw new Error(errors.map((found) => `wgsl:${found.lineNum}:${found.linePos}: ${found.message}`).join('\n'));
  }
  return module;
}

const folderOf = (file) => file.slice(0, file.lastIndexOf('/') + 1);

// A dim is the size where an input's dims name it alone, or is given.
function sizesOf(manifest, shapes, given) {
  const values = {};
  for (const name of manifest.given_dims) {
    if (!Object.hasOwn(given, name)) throw new Error(`the size ${name} is not given`);
    values[name] = BigInt(given[name]);
  }
  for (const { name, dims } of manifest.parameters) {
    if (!dims || !shapes[name]) continue;
    dims.forEach((dim, axis) => {
      if (!manifest.dims.includes(dim)) return;
      const size = BigInt(shapes[name][axis]);
      if (Object.hasOwn(values, dim) && values[dim] !== size) throw new Error(`${name}: ${dim} is ${values[dim]} and ${size}`);
      values[dim] = size;
    });
  }
  return values;
}

function check(manifest, shapes, values, scalars) {
  for (const { name, dims } of manifest.parameters) {
    if (!dims || !shapes[name]) continue;
    const expected = dims.map((dim) => Number(evaluate(dim, values)));
    if (String(expected) !== String(shapes[name])) throw new Error(`${name} is [${shapes[name]}] and not [${expected}]`);
  }
  const known = Object.entries({ ...values, ...scalars });
  const numbers = Object.fromEntries(known.map(([name, value]) => [name, number(value)]));
  for (const { formula, message } of manifest.requirements) {
    if (formula !== null && !isMet(formula, numbers)) throw new Error(message);
  }
}

// Scalar parameters with their defaults; those of i32 join the values that formulas may name.
function scalarsOf(manifest, scalars, values) {
  const all = {};
  for (const parameter of manifest.parameters) {
    if (parameter.kind !== 'scalar') continue;
    const { name, dtype } = parameter;
    const value = Object.hasOwn(scalars, name) ? scalars[name] : parameter.default;
    if (value === null || value === undefined) throw new Error(`${name} has no value`);
    all[name] = value;
    if (dtype === 'i32') values[name] = BigInt(value);
  }
  return all;
}

const SPECIAL = { inf: Infinity, '-inf': -Infinity, nan: NaN };
const number = (value) => (typeof value === 'boolean' ? value : SPECIAL[value] ?? Number(value));

function uniformsOf(variant, values, scalars) {
  const data = new DataView(new ArrayBuffer(variant.uniforms.bytes));
  for (const { offset, type, formula, scalar } of variant.uniforms.fields) {
    const value = formula === undefined ? scalars[scalar] : evaluate(formula, values);
    if (type === 'f32') data.setFloat32(offset, number(value), true);
    else if (type === 'bool') data.setUint32(offset, Number(Boolean(value)), true);
    else data.setUint32(offset, Number(BigInt.asUintN(32, BigInt(value))), true);
  }
  return data.buffer;
}

function fold(workgroups, most) {
  if (workgroups <= 0n) return [0, 0, 0];
  if (workgroups <= most) return [Number(workgroups), 1, 1];
  const ceildiv = (a, b) => (a + b - 1n) / b;
  const rows = ceildiv(workgroups, most);
  return [Number(ceildiv(workgroups, rows)), Number(rows), 1];
}
