import * as assert from 'uvu/assert';
import { lineOf, maskSource, readImports } from '../../../scripts/source.ts';
import { suite } from '../../support/suite.ts';

const test = suite('scripts/source');

const specifiers = (text: string): string[] => readImports(text).map(({ specifier }) => specifier);

test('given every form of import, when the source is read, then each specifier is found once and in order', () => {
  const text = `
    import 'a';
    import b from "b";
    import { c1,
      type c2 as c3 } from 'c';
    import type { D } from 'd';
    import * as e from 'e'; export * from 'f';
    export { g } from 'g';
    export type { H } from 'h';
    const i = await import('i');
    const j = await import(/* why */ \`j\`);
    type K = import('k').K;
    const l = require('l');
    import m from'm';import n from'n'`;
  assert.equal(specifiers(text).join(''), 'abcdefghijklmn');
});

test('imports in comments, strings, templates and patterns do not count', () => {
  const text = `
    // import 'a';
    /* import b from 'b';
       export * from 'c' */
    const d = "import 'd'", e = 'x \\' from "e"', f = \`import 'f' \${'from'} from 'g'\`;
    const h = /import 'h'/.test("import('i')") || [/[/'"]from 'j'/];
    const k = { from: 'k', import: 'l' }; Buffer.from('m'); $import('n'); x.import('o'); x.from \`p\`;`;
  assert.equal(specifiers(text), []);
});

test('given code after literals that are hard to tell apart, when the source is read, then it is seen', () => {
  for (const tricky of [
    `const a = b / c; import 'x'; const d = e / f;`,
    `const a = (b + c) / 2 // '\n import 'x'; `,
    `const a = /'/; import 'x';`,
    `const a = [/[/']/, /\\//g]; import 'x';`,
    `return /"/\n; import 'x';`,
    'const a = `${b ? `}${"`"}` : {}} "`; import "x"',
    'const a = `\\`${1}\\${`; import "x"',
    `const a = '\\\\'; import 'x';`,
    `const a = "it's"; import 'x'; // it's`,
    `const url = 'http://a'; import 'x';`,
    `const glob = 'src/**'; import 'x'; /* */`,
  ])
    assert.equal(specifiers(tricky), ['x'], tricky);
});

test('given code inside a placeholder of a template, when the source is masked, then the code stays', () => {
  assert.is(maskSource('`a ${Date.now() + `b ${{ c }}`} d`'), '`  ${Date.now() + `  ${{ c }}`}  `');
});

test('given any source, even one that ends too early, when it is masked, then length and lines are kept', () => {
  const text = "a 'b'\n/* c\n d */ `e\n${f}`\n// 'g\n\"h\\\n\" `i ${ 'j";
  for (let end = 0; end <= text.length; end++) {
    const masked = maskSource(text.slice(0, end));
    assert.is(masked.length, end);
    assert.is(lineOf(masked, end), lineOf(text, end));
  }
});

test.run();
