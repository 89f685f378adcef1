/**
 * What clients see of the projects is what the library alone shows, on each line, and on the newest line all their runs
 * do the same again when they are executed offline.
 */
import { join } from 'node:path';
import type { suite } from '../support/suite.ts';
import { assertLikeLibrary, withProjects } from './compare.ts';
import type { ProjectScenarios } from './graph-scenarios.ts';
import { assertReexecutes } from './reexecute.ts';
import { CURRENT_LINES, extentOf, NEWEST_LINE, OLDER_LINES, type Extent, type Line } from './lines.ts';

/** A test for each line. `repository`: name of the folder that holds the projects. */
export function addScenarioTests(
  test: ReturnType<typeof suite>,
  projects: Readonly<Record<string, ProjectScenarios>>,
  repository: string,
  extent: Extent,
): void {
  for (const line of [...CURRENT_LINES, ...OLDER_LINES]) {
    const due = Object.entries(projects).filter(
      ([, { older, usualLines }]) =>
        (older === true || !isOlder(line)) && extentOf(line, usualLines) === extent,
    );
    if (due.length === 0) continue;
    const names = due.map(([name]) => name);
    const scenarios = due.flatMap(([name, { scenarios: own }]) =>
      own.map(({ graph, source, steps }) => ({
        graph: `${name}-${graph}`,
        source: join(name, source),
        steps,
      })),
    );
    test(`${names.length} projects behave as with the library alone on line ${line}`, () =>
      withProjects(line, repository, names, async (started) => {
        await assertLikeLibrary(line, started, scenarios);
        if (line === NEWEST_LINE) await assertReexecutes(started, names);
      }));
  }
}

const isOlder = (line: Line): boolean => (OLDER_LINES as readonly Line[]).includes(line);
