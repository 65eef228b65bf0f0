// WebGPU by Dawn, Chrome's implementation, in Node: no browser around it, on any Vulkan driver.
// usage: node dawn.mjs FOLDER-OF-SHIPPED-FILES ADAPTER-NAME DESCRIPTOR
import fs from 'node:fs';
import path from 'node:path';
import { answers, openDevice } from './requests.mjs';
import { load, serve } from './serve.mjs';

const [folder, name] = process.argv.slice(2);
const { create, globals } = await load('webgpu');
Object.assign(globalThis, globals);

// Kept in a global: Dawn's threads use the instance after its JavaScript object is collected.
globalThis.gpu = create(['backend=vulkan', `adapter=${name}`]);
const adapter = await gpu.requestAdapter();
await serve(answers(await openDevice(adapter), adapter, (file) => fs.readFileSync(path.join(folder, file), 'utf8')));
process.exit(0);
