import * as assert from 'node:assert/strict';
import { VERSION } from '../../../src/kernel/product.ts';
import { runHere } from '../../support/command-line.ts';
import { suite } from '../../support/suite.ts';

const test = suite('command line');

const COMMANDS = [
  ...['init', 'dev', 'serve', 'doctor', 'openapi', 'diff', 'pin'],
  ...[
    'threads',
    'show',
    'calls',
    'rerun',
    'replay',
    'export',
    'import',
    'open',
    'backup',
    'restore',
    'verify',
    'rekey',
  ],
];

test('help names every command and exit code, and each command has examples', async () => {
  const { code, out } = await runHere(['--help']);
  assert.equal(code, 0);
  for (const command of COMMANDS) assert.match(out, new RegExp(`^  ${command} `, 'm'));
  for (const exit of ['0', '1', '2', '3', '70']) assert.match(out, new RegExp(`^  ${exit} `, 'm'));
  for (const command of COMMANDS)
    for (const args of [
      [command, '--help'],
      ['help', command],
    ]) {
      const help = await runHere(args);
      assert.equal(help.code, 0, command);
      assert.match(help.out, new RegExp(`^Exit codes: 0 .*\n\nExamples?:\n  rewound ${command}`, 'm'));
    }
});

test('--version prints the version alone', async () => {
  const { code, out, err } = await runHere(['--version']);
  assert.deepEqual([code, out, err], [0, VERSION, '']);
});

test('no command prints the help to standard error and exits 2', async () => {
  const { code, out, err } = await runHere([]);
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^Usage: rewound /);
});

test('misspelt commands and options get a suggestion and exit code 2', async () => {
  const wrong: [string[], string, string][] = [
    [['srve'], 'Did you mean serve?', 'rewound --help'],
    [['opnapi'], 'Did you mean openapi?', 'rewound --help'],
    [['serve', '--prot', '3'], 'Did you mean --port?', 'rewound serve --help'],
    [['replay', '--jsn'], 'Did you mean --json?', 'rewound replay --help'],
    [['serve', '--port'], "'-p, --port <port>' argument missing", 'rewound serve --help'],
  ];
  for (const [args, suggestion, help] of wrong) {
    const { code, out, err } = await runHere(args);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.ok(err.includes(suggestion), err);
    assert.ok(err.includes(`See "${help}"`), err);
  }
});

test.run();
