// Answers SQL about one trace with Perfetto's trace processor, the WebAssembly build, in plain Node (18 or later).
//
//     node perfetto_engine.mjs ENGINE_FOLDER TRACE < {"name": "SQL", ...} > {"name": [{column: value, ...}, ...], ...}
//
// ENGINE_FOLDER holds trace_processor.wasm, engine_bundle.node.js (the glue that a browser runs in a worker) and engine.mjs (the client
// of it). The glue expects a worker's globals and wants to download its WebAssembly; both are given to it here. Exit status 1: the trace
// was refused or a query failed, and stderr says why.
import {readFileSync, writeSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {runInThisContext} from 'node:vm';

const kChunk = 16 << 20;
const kStartLimitMs = 60_000;

const [folder, trace] = process.argv.slice(2);
if (!folder || !trace) {
  console.error('usage: node perfetto_engine.mjs ENGINE_FOLDER TRACE < queries.json');
  process.exit(2);
}

// stdout carries the answer alone. What the engine always says is of no use to anyone.
const kChatter = /^\s*$|QueryResult field|unsupported syscall|Loading trace/;
const say = console.error;
console.log = console.info = console.warn = console.error = (...words) => kChatter.test(String(words[0])) || say(...words);

function patched(source, edits) {
  for (const [before, after] of edits) {
    const parts = source.split(before);
    if (parts.length !== 2) throw new Error(`the glue has changed, "${before}" occurs ${parts.length - 1} times in it`);
    source = parts.join(after);
  }
  return source;
}

// Starts the WebAssembly module and returns the port that speaks to it, once it can listen.
async function startProcessor() {
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope ??= class {};
  globalThis.location ??= {href: pathToFileURL(join(resolve(folder), 'worker.js')).href};
  globalThis.interop = {wasm: readFileSync(join(folder, 'trace_processor.wasm'))};
  const glue = patched(readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8'), [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.interop.wasm,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();', 'const wasmBridge = globalThis.interop.bridge = new wasm_bridge_1.WasmBridge();'],
  ]);
  runInThisContext(glue, {filename: 'engine_bundle.node.js'});
  const {bridge} = globalThis.interop;
  for (const start = Date.now(); bridge.reqBufferAddr === 0;) {
    if (Date.now() - start > kStartLimitMs) throw new Error('the WebAssembly module does not start');
    await new Promise((wake) => setTimeout(wake, 10));
  }
  const {port1, port2} = new MessageChannel();
  bridge.initialize(port1);
  return port2;
}

async function connect(port) {
  const {EngineBase} = await import(pathToFileURL(join(resolve(folder), 'engine.mjs')).href);
  class Engine extends EngineBase {
    mode = 'WASM';
    id = 'interop';
    constructor() {
      super();
      port.onmessage = ({data}) => this.onRpcResponseBytes(data);
    }
    rpcSendRequestBytes(bytes) {
      port.postMessage(bytes);
    }
  }
  return new Engine();
}

function plain(value) {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

async function ask(engine, sql) {
  const answer = await engine.query(sql);
  const columns = answer.columns();
  const rows = [];
  for (const row = answer.iter({}); row.valid(); row.next()) rows.push(Object.fromEntries(columns.map((c) => [c, plain(row.get(c))])));
  return rows;
}

function writeAll(text) {
  for (let bytes = Buffer.from(text); bytes.length > 0;) bytes = bytes.subarray(writeSync(1, bytes));
}

try {
  const queries = JSON.parse(readFileSync(0, 'utf8'));
  const engine = await connect(await startProcessor());
  const bytes = new Uint8Array(readFileSync(trace));
  for (let at = 0; at < bytes.length; at += kChunk) await engine.parse(bytes.subarray(at, at + kChunk));
  await engine.notifyEof();
  const answers = {};
  for (const [name, sql] of Object.entries(queries)) answers[name] = await ask(engine, sql);
  writeAll(JSON.stringify(answers));
  process.exit(0);
} catch (error) {
  console.error(error?.message ?? error);
  process.exit(1);
}
