/** Files that `init` adds to a project: runs of the past as checks of every push, and in an editor's debugger. */
import { PRODUCT } from '../../kernel/product.ts';
import { toJson, type Template } from './templates.ts';

const WORKFLOW = `# Executes exported threads again, offline, on every push: ${PRODUCT} export --thread ID -o tests/NAME.${PRODUCT}
name: runs of the past
on: [push, pull_request]

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      - run: npx ${PRODUCT} rerun --check tests/*.${PRODUCT} --reporter github
`;

const LAUNCH = toJson({
  version: '0.2.0',
  configurations: [
    {
      ...{ name: 'Run of the past', type: 'node', request: 'launch' },
      program: `\${workspaceFolder}/node_modules/${PRODUCT}/scripts/start.mjs`,
      args: ['rerun', '${input:run}', '--break', '--inspect'],
      ...{ cwd: '${workspaceFolder}', console: 'integratedTerminal' },
      skipFiles: ['<node_internals>/**'],
    },
  ],
  inputs: [
    {
      ...{ id: 'run', type: 'promptString' },
      description: `The run: ${PRODUCT} threads and ${PRODUCT} show list them. It stops in the node that failed, else in the first.`,
    },
  ],
});

const NONE = { dependencies: {}, devDependencies: {}, graph: '', message: '', headers: [] };

/** Each is a file of its own, whatever the folder has besides. */
export const ADDITIONS: Readonly<Record<string, Template & { readonly next: string }>> = {
  github: {
    ...NONE,
    summary: 'a GitHub workflow that executes exported threads again',
    files: { [`.github/workflows/${PRODUCT}.yml`]: WORKFLOW },
    next: `${PRODUCT} export --thread ID -o tests/NAME.${PRODUCT}, and commit both`,
  },
  vscode: {
    ...NONE,
    summary: 'F5 of VS Code executes a run of the past, stopped before its node',
    files: { '.vscode/launch.json': LAUNCH },
    next: `open the folder in VS Code, press F5 and name a run of "${PRODUCT} threads --status error --json"`,
  },
};
