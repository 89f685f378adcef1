/**
 * A test for each project and line: what clients see of it is what the library alone shows, and on the newest line all
 * its runs do the same again when they are executed offline.
 */
import type { suite } from '../support/suite.ts';
import { assertLikeLibrary, withProject } from './compare.ts';
import type { ProjectScenarios } from './graph-scenarios.ts';
import { assertReexecutes } from './reexecute.ts';
import { CURRENT_LINES, extentOf, NEWEST_LINE, OLDER_LINES, type Extent } from './lines.ts';

export function addScenarioTests(
  test: ReturnType<typeof suite>,
  projects: Readonly<Record<string, ProjectScenarios>>,
  extent: Extent,
): void {
  for (const [project, { scenarios, older, usualLines }] of Object.entries(projects))
    for (const line of [...CURRENT_LINES, ...(older === true ? OLDER_LINES : [])]) {
      if (extentOf(line, usualLines) !== extent) continue;
      const title = `${project} behaves as with the library alone on line ${line}`;
      test(title, () =>
        withProject(line, project, async (started) => {
          await assertLikeLibrary(line, started, scenarios);
          if (line === NEWEST_LINE) await assertReexecutes(started);
        }),
      );
    }
}
