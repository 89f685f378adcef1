import type { RunLink } from '../port.ts';
import type { JobWrite } from './sides.ts';

/** Does for a run what its worker asks for. */
export async function takeWrite({ emit, checkpoints }: RunLink, write: JobWrite): Promise<void> {
  switch (write.kind) {
    case 'frames':
      return emit(write.frames);
    case 'checkpoint':
      return checkpoints.save(write.checkpoint);
    case 'writes':
      return checkpoints.saveWrites(write.ns, write.checkpointId, write.writes);
  }
}
