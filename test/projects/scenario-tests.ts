/** A test for each project and line: what clients see of it is what the library alone shows. */
import type { suite } from '../support/suite.ts';
import { assertLikeLibrary, withProject } from './compare.ts';
import type { ProjectScenarios } from './graph-scenarios.ts';
import { CURRENT_LINES, OLDER_LINES } from './lines.ts';

export function addScenarioTests(
  test: ReturnType<typeof suite>,
  projects: Readonly<Record<string, ProjectScenarios>>,
): void {
  for (const [project, { scenarios, lines = CURRENT_LINES, older }] of Object.entries(projects))
    for (const line of [...lines, ...(older === true ? OLDER_LINES : [])]) {
      const title = `${project} behaves as with the library alone on line ${line}`;
      test(title, () => withProject(line, project, (started) => assertLikeLibrary(line, started, scenarios)));
    }
}
