/** Values of items, and the vectors that find them. */
import type { PayloadWrite } from '../../port/payloads.ts';
import { write as step, type Work, type WorkContext } from '../work.ts';

type Write = Extract<PayloadWrite, { kind: 'item-value' | 'item-vectors' | 'erase-item' }>;

export function* writeItem({ coder }: WorkContext, write: Write): Work<void> {
  const { itemId } = write;
  if (write.kind === 'item-value') {
    yield step(
      `INSERT INTO item_values VALUES (@itemId, @data, @crc)
       ON CONFLICT (item_id) DO UPDATE SET data = excluded.data, crc = excluded.crc`,
      { itemId, ...coder.columns(write.data) },
    );
    return;
  }
  yield step('DELETE FROM item_vectors WHERE item_id = ?', [itemId]);
  if (write.kind === 'erase-item') yield step('DELETE FROM item_values WHERE item_id = ?', [itemId]);
  else
    for (const [idx, data] of write.vectors.entries())
      yield step('INSERT INTO item_vectors VALUES (@itemId, @idx, @data, @crc)', {
        ...{ itemId, idx, ...coder.columns(data) },
      });
}
