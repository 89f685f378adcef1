/**
 * Chromium for tests, from an npm package that carries it with its libraries and a font. A process starts it once, for
 * the file that asks first. Pages reach the server under test alone.
 */
import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import type { suite } from './suite.ts';

const isCarried = process.platform === 'linux' && process.arch === 'x64';
/** For the option `lacking` of tests. */
export const lackingBrowser = isCarried
  ? undefined
  : `the package with Chromium is for linux-x64, this is ${process.platform}-${process.arch}`;

const CACHE = fileURLToPath(new URL('../.cache', import.meta.url));
/** Only loopback has an address. */
const NO_NETWORK = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost';

/** The machine's fonts, if it has some, and the one of the package. */
const fontsIn = (folder: string): string =>
  `<fontconfig><dir>/usr/share/fonts</dir><dir>${folder}</dir><cachedir>${folder}-cache</cachedir></fontconfig>\n`;

/** Unpacks the package once per version and returns the folder. */
async function unpack(): Promise<string> {
  const packed = fileURLToPath(new URL('../', import.meta.resolve('@sparticuz/chromium')));
  const manifest = await readFile(join(packed, 'package.json'), 'utf8');
  const folder = join(CACHE, `chromium-${(JSON.parse(manifest) as { version: string }).version}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const program = join(unfinished, 'chromium');
  await pipeline(
    createReadStream(join(packed, 'bin/chromium.br')),
    createBrotliDecompress(),
    createWriteStream(program),
  );
  await chmod(program, 0o755);
  for (const name of ['al2023', 'fonts']) {
    const input = brotliDecompressSync(await readFile(join(packed, `bin/${name}.tar.br`)));
    execFileSync('tar', ['-x', '-C', unfinished], { input });
  }
  await writeFile(join(unfinished, 'fonts.conf'), fontsIn(join(folder, 'fonts')));
  try {
    await rename(unfinished, folder);
  } catch (error) {
    // Another process was first.
    await rm(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

export async function launch(): Promise<Browser> {
  const folder = await unpack();
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: ['--no-sandbox', '--disable-dev-shm-usage', NO_NETWORK],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  });
}

export interface PageOptions extends BrowserContextOptions {
  /** Errors that the page may report, such as those of requests that the server refuses. */
  readonly allowed?: RegExp;
}

/** `withPage(url, use)` opens an empty page with cookies and storage of its own; Chromium ends with the test file. */
export function openBrowser(test: ReturnType<typeof suite>) {
  let browser: Promise<Browser> | undefined;
  test.after(async () => (await browser)?.close());
  return async function withPage<T>(
    url: string,
    use: (page: Page) => Promise<T>,
    { allowed, ...options }: PageOptions = {},
  ): Promise<T> {
    const context = await (await (browser ??= launch())).newContext({ baseURL: url, ...options });
    const { origin } = new URL(url);
    const problems: string[] = [];
    context.on('weberror', (error) => problems.push(error.error().stack ?? error.error().message));
    context.on('console', (line) => void (line.type() === 'error' && problems.push(line.text())));
    context.on('request', (request) => {
      const asked = new URL(request.url());
      if (asked.protocol.startsWith('http') && asked.origin !== origin)
        problems.push(`request off the origin: ${request.url()}`);
    });
    try {
      const result = await use(await context.newPage());
      assert.deepEqual(
        problems.filter((problem) => allowed?.test(problem) !== true),
        [],
      );
      return result;
    } catch (error) {
      if (problems.length > 0) console.error(problems.join('\n'));
      throw error;
    } finally {
      await context.close();
    }
  };
}
