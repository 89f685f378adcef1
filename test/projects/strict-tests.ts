/** Strict answers to graphs of every library line: those before 1.7 know nothing of them. */
import assert from 'node:assert/strict';
import { Client } from '@langchain/langgraph-sdk';
import type { suite } from '../support/suite.ts';
import { withProject } from './compare.ts';
import type { Line } from './lines.ts';

/** Line 0.3 calls the id otherwise, and 0.2 gives none. */
const idOf = ({ id, interrupt_id: former }: any): string | undefined => id ?? former;
const STRANGE = '0'.repeat(32);

/** A test for each line. */
export function addStrictTests(test: ReturnType<typeof suite>, lines: readonly Line[]): void {
  for (const line of lines)
    test(`strict answers are refused, and the questions stay, on line ${line}`, () =>
      withProject(line, 'many-interrupts', async ({ server }) => {
        // given
        const { threads, runs } = new Client({ apiUrl: server().url, apiKey: null });
        const { thread_id: id } = await threads.create();
        await runs.wait(id, 'survey', { input: { summary: 'none' } });
        const { updated_at: _, ...before } = await threads.get(id);
        const ids = Object.values(before.interrupts)
          .flat()
          .flatMap((each) => idOf(each) ?? [])
          .sort();
        assert.equal(ids.length, line === '0.2' ? 0 : 3);
        const answer = async (resume: unknown): Promise<any> =>
          runs.wait(id, 'survey', { command: { resume }, strictResume: true, raiseError: false });
        // when
        for (const [resume, reason] of [
          [{}, 'empty_map'],
          [{ [STRANGE]: 'x' }, 'not_pending'],
          ['x', 'ambiguous'],
        ] as const) {
          const { __error__: error } = await answer(resume);
          // then
          assert.deepEqual([error.error, error.reason], ['UnknownInterruptError', reason]);
          assert.deepEqual(error.pending_ids, ids);
          const { updated_at: __, ...after } = await threads.get(id);
          assert.deepEqual(after, before);
        }
        if (ids.length === 0) return;
        const given = await answer(Object.fromEntries(ids.map((each) => [each, 'Rome'])));
        assert.equal('__error__' in given, false, JSON.stringify(given));
      }));
}
