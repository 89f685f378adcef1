import { createRequire } from 'node:module';
import { importUserModule } from './user-modules.ts';
const m = await importUserModule('/tmp/exp/cj/g.cjs');
const r = createRequire('/tmp/exp/cj/g.cjs');
for (const s of ['@langchain/langgraph','@langchain/core/messages']) { const p = r.resolve(s); console.log(p, r.cache[p] !== undefined, Object.keys(r.cache).length, Object.keys(r.cache).filter(k=>k.startsWith(p))); }
const lib = r.cache[r.resolve('@langchain/langgraph')]?.exports;
console.log(typeof lib?.Pregel, lib && Object.prototype.isPrototypeOf.call(lib.Pregel.prototype, m.graph));
