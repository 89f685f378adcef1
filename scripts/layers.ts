/**
 * Checks imports between the folders of `src`, and rules about who may use packages and globals. `node --import tsx
 * scripts/layers.ts` prints each breach as `file:line what` and exits 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkBudgets, countLines } from './budgets.ts';
import { lineOf, maskSource, readImports } from './source.ts';

const AGGREGATES = ['thread', 'assistant', 'delivery', 'item', 'cron'];
const DOMAIN = ['kernel', ...AGGREGATES, 'store/port'];

/** Allowed imports of each folder of `src` besides itself: folders, files, or `*` for everything. */
const ARROWS: Record<string, readonly string[]> = {
  kernel: [],
  thread: ['kernel'],
  assistant: ['kernel'],
  delivery: ['kernel'],
  item: ['kernel'],
  cron: ['kernel'],
  'store/port': ['kernel', ...AGGREGATES],
  'store/sql': DOMAIN,
  'store/sqlite': [...DOMAIN, 'store/sql'],
  'store/postgres': [...DOMAIN, 'store/sql'],
  actors: [...DOMAIN, 'protocol/subgraph-frames.ts'],
  effects: [
    ...[...DOMAIN, 'actors', 'graphs/kept-messages.ts', 'graphs/port.ts'],
    ...['graphs/run-order.ts', 'graphs/store-port.ts'],
    ...[
      'protocol/stopped-messages.ts',
      'protocol/stream-modes.ts',
      'protocol/subgraph-frames.ts',
      'graphs/state-port.ts',
      'recording/known-secrets.ts',
      'recording/masks.ts',
      'recording/order.ts',
      'recording/parts.ts',
      'recording/unpack.ts',
    ],
  ],
  recording: ['kernel'],
  graphs: [
    ...['kernel', 'recording', 'protocol/stream-modes.ts', 'protocol/subgraph-frames.ts'],
    ...['thread/events.ts', 'thread/origin.ts', 'thread/secret.ts', 'thread/usage.ts'],
    'thread/call-record.ts',
  ],
  // Fault attribution is one rule for workers and server.
  workers: ['kernel', 'graphs', 'thread/fault.ts'],
  worker: ['kernel', 'graphs', 'workers'],
  protocol: ['kernel'],
  streams: ['kernel', 'thread/events.ts', 'thread/run-end.ts', 'store/port', 'protocol'],
  auth: ['kernel'],
  config: ['kernel'],
  http: [
    ...[...DOMAIN, 'actors', 'streams', 'protocol', 'auth', 'config'],
    ...['graphs/port.ts', 'graphs/schema-port.ts', 'graphs/state-port.ts', 'observe/entry.ts', 'archive'],
    'workers/worker-report.ts',
    // Reads alone (R1).
    ...['past/calls.ts', 'past/tell/run-diff.ts', 'past/report', 'past/step-nodes.ts'],
    ...['past/travel/changes.ts', 'past/travel/version.ts'],
  ],
  ws: [...DOMAIN, 'streams', 'protocol', 'auth', 'config', 'http'],
  // R1 Reads alone.
  past: DOMAIN,
  'past/report': [...DOMAIN, 'past', 'recording'],
  // R1 Executes graphs, but with nothing that could store or send what they do.
  'past/reexecution': [...DOMAIN, 'past', 'past/report', 'recording', 'graphs', 'open-store.ts'],
  // Importing writes; the files that export use the domain alone.
  archive: [...DOMAIN, 'actors'],
  cli: [
    ...[
      'kernel',
      'config',
      'past',
      'past/report',
      'past/reexecution',
      'archive',
      'graphs',
      'http',
      'store/port',
      'load-export.ts',
      'open-store.ts',
    ],
    ...[
      'logger.ts',
      'serve.ts',
      'dev/dev.ts',
      'dev/pins.ts',
      'running-server.ts',
      'check-project.ts',
      'workers/recorded-graphs.ts',
      'workers/spawn.ts',
    ],
  ],
  // Runs in browsers.
  studio: ['studio/pages'],
  'studio/api': [],
  'studio/model': ['studio/api'],
  'studio/parts': ['studio/api', 'studio/model'],
  'studio/pages': ['studio/api', 'studio/model', 'studio/parts'],
  'main.ts': ['*'],
  observe: DOMAIN,
  'logger.ts': ['config', 'observe'],
  'load-export.ts': ['config', 'graphs'],
  'load-embeddings.ts': ['config', 'graphs', 'load-export.ts'],
  'load-project.ts': [
    ...['config', 'graphs', 'workers', 'load-export.ts', 'load-embeddings.ts'],
    ...['actors/embedder.ts', 'auth/handler.ts', 'http/custom-app.ts', 'http/server.ts'],
  ],
  'check-project.ts': ['config', 'kernel', 'workers', 'load-project.ts'],
  'serve.ts': ['*'],
  'running-server.ts': ['*'],
  dev: ['*'],
  'file-watch.ts': ['kernel'],
  'wiring.ts': ['*'],
  wiring: ['*'],
  'open-store.ts': [...DOMAIN, 'store/sql', 'store/sqlite', 'store/postgres'],
  examples: ['rewound/auth'],
  'examples/demo.ts': ['*'],
};

/** Packages that only these paths (and the examples) may import. */
const PACKAGES: Record<string, readonly string[]> = {
  'better-sqlite3': ['store/sqlite/library.ts'],
  pg: ['store/postgres/'],
  ws: ['ws/'],
  undici: ['effects/'],
  croner: ['cron/'],
  xstate: ['thread/machine.ts', 'actors/'],
  nanoid: ['kernel/'],
  crypto: ['kernel/', 'recording/'],
  timers: ['kernel/', 'recording/'],
  commander: ['cli/'],
  preact: ['studio/'],
  '@preact/signals': ['studio/'],
  '@dagrejs/dagre': ['studio/'],
  '@tanstack/virtual-core': ['studio/'],
  'sugar-high': ['studio/'],
};

/** Globals that only these paths (and the examples) may use. */
const GLOBALS: Record<string, { readonly use: RegExp; readonly in: readonly string[] }> = {
  'Date.now': { use: /\bDate\.now\b/g, in: ['kernel/', 'recording/'] },
  'new Date()': { use: /\bnew Date\b(?!\s*\(\s*[^)\s])/g, in: ['kernel/'] },
  'performance.now': { use: /\bperformance\.now\b/g, in: ['kernel/', 'recording/'] },
  'process.hrtime': { use: /\bprocess\.hrtime\b/g, in: ['kernel/', 'recording/'] },
  'Math.random': { use: /\bMath\.random\b/g, in: ['kernel/', 'recording/'] },
  'crypto.*': { use: /(?<![\w$]|(?<!globalThis)\.)crypto\.\w/g, in: ['kernel/', 'recording/'] },
  setTimeout: { use: /(?<![\w$]|(?<!globalThis)\.)setTimeout\b/g, in: ['kernel/', 'recording/'] },
  setInterval: { use: /(?<![\w$]|(?<!globalThis)\.)setInterval\b/g, in: ['kernel/', 'recording/'] },
  setImmediate: {
    use: /(?<![\w$]|(?<!globalThis)\.)setImmediate\b/g,
    in: ['kernel/', 'store/', 'recording/'],
  },
  'AbortSignal.timeout': { use: /\bAbortSignal\.timeout\b/g, in: ['kernel/', 'recording/'] },
  'process.argv': { use: /\bprocess\.argv\b/g, in: ['main.ts', 'kernel/worker.ts'] },
  'signal handlers': {
    use: /\bprocess\.(?:on|once|addListener)\(\s*['"`](?=SIG)/g,
    in: ['main.ts', 'worker/main.ts'],
  },
};

/** Adapters of the store, and the only file outside of each that may import it. */
const ADAPTERS: Record<string, string> = {
  'store/postgres/': 'open-store.ts',
  'store/sqlite/': 'open-store.ts',
};

const MAX_FILE_LINES = 300;

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly line: number;
}

/** Checks `src`, `scripts` and `test` below `root`; a breach is one line of text. */
export function checkLayers(root: string): { breaches: string[]; files: number; arrows: number } {
  const breaches: string[] = [];
  const arrows: Arrow[] = [];
  const files = ['src', 'scripts', 'test'].flatMap((folder) => listCode(root, folder));
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const code = maskSource(text);
    const report = (line: number, what: string) => void breaches.push(`${file}:${line} ${what}`);

    const lines = text.trimEnd().split('\n').length;
    if (lines > MAX_FILE_LINES) report(lines, `is longer than ${MAX_FILE_LINES} lines`);
    if (basename(file) === 'index.ts') report(1, 'is a barrel: import from the file that has what you need');

    const imports = readImports(text, code).map(({ specifier, offset }) => ({
      specifier,
      line: lineOf(text, offset),
    }));
    // `.mjs` files run uncompiled, so they cannot import TypeScript.
    const expected = file.endsWith('.mjs') ? ['.mjs', '.js'] : ['.ts', '.tsx', '.css', '.json'];
    for (const { specifier, line } of imports)
      if (/^\.\.?(\/|$)/.test(specifier) && !expected.some((ending) => specifier.endsWith(ending)))
        report(line, `imports ${specifier} without ${expected[0]}`);

    if (!file.startsWith('src/')) continue;
    const place = file.slice('src/'.length);
    const rule = ARROWS[layerOf(place)];
    if (rule === undefined) {
      report(1, `belongs to no layer: add "${layerOf(place)}" to the table in scripts/layers.ts`);
      continue;
    }
    if (!/\.tsx?$/.test(file) && layerOf(place) !== 'examples') report(1, 'is not TypeScript');
    for (const { specifier, line } of imports) {
      const to = targetOf(place, specifier);
      if (to === undefined) {
        if (!mayUse(place, PACKAGES[packageOf(specifier)])) report(line, `may not import ${specifier}`);
        continue;
      }
      arrows.push({ from: place, to, line });
      const adapter = Object.keys(ADAPTERS).find((folder) => to.startsWith(folder));
      if (adapter !== undefined && place !== ADAPTERS[adapter] && !place.startsWith(adapter))
        report(line, `may not import ${specifier}: only ${ADAPTERS[adapter]} may`);
      else if (!mayPoint(place, to, rule))
        report(line, `may not import ${specifier} (${layerOf(place)} -> ${to})`);
    }
    const globals = place.startsWith('studio/') ? [] : Object.entries(GLOBALS);
    for (const [name, { use, in: places }] of globals)
      // Signal names are string literals, so their pattern searches the source; the others search code only.
      for (const found of (name === 'signal handlers' ? text : code).matchAll(use))
        if (code[found.index] !== ' ' && !mayUse(place, places))
          report(lineOf(text, found.index), `may not use ${name}`);
  }
  breaches.push(...findCycles(arrows));
  return { breaches, files: files.length, arrows: arrows.length };
}

/** Test projects and their dependencies are exempt from all rules. */
const FOREIGN = /^test\/(?:projects\/[^/]+|\.cache)\//;

function listCode(root: string, folder: string): string[] {
  const found = readdirSync(join(root, folder), { withFileTypes: true, recursive: true });
  return found
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !file.includes('node_modules/') && !FOREIGN.test(file))
    .sort();
}

/** The innermost of the table's folders that has the file, or the file itself; else the first folder below `src`. */
function layerOf(place: string): string {
  for (let path = place; path !== '.'; path = posix.dirname(path)) if (path in ARROWS) return path;
  return place.split('/')[0]!;
}

/** Target of an import: a path below `src`, `../…` outside of it, this package's name, or undefined. */
function targetOf(place: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(dirname(place), specifier));
  return /^(rewound|#)/.test(specifier) ? specifier : undefined;
}

const packageOf = (specifier: string): string =>
  specifier.replace(/^node:/, '').match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier;

const mayUse = (place: string, places: readonly string[] | undefined): boolean =>
  places === undefined || [...places, 'examples/'].some((allowed) => place.startsWith(allowed));

function mayPoint(place: string, to: string, rule: readonly string[]): boolean {
  if (to.startsWith('../')) return to === '../package.json';
  return (
    rule.includes('*') || layerOf(to) === layerOf(place) || rule.includes(layerOf(to)) || rule.includes(to)
  );
}

/** Returns one line for each import that closes a cycle. */
function findCycles(arrows: readonly Arrow[]): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    for (const { from, to, line } of arrows) {
      if (from !== file) continue;
      const start = trail.indexOf(to);
      if (start >= 0)
        found.push(`src/${from}:${line} closes a cycle: ${[...trail.slice(start), to].join(' -> ')}`);
      else if (!done.has(to)) visit(to, [...trail, to]);
    }
    done.add(file);
  };
  for (const { from } of arrows) if (!done.has(from)) visit(from, [from]);
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.cwd();
  const { breaches, files, arrows } = checkLayers(root);
  const sources = ['src', 'scripts', 'test'].flatMap((folder) => listCode(root, folder));
  const texts = sources.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  breaches.push(...checkBudgets(texts));
  for (const breach of breaches) console.error(breach);
  if (process.argv.includes('--lines')) console.table(countLines(texts));
  if (breaches.length === 0) console.log(`${files} files, ${arrows} arrows between layers, no breach`);
  process.exitCode = breaches.length === 0 ? 0 : 1;
}
