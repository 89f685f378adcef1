/** fast-check with the seed of `SEED` (`random.ts`). */
import fc from 'fast-check';
import { seedFromEnv } from './random.ts';

fc.configureGlobal({ seed: seedFromEnv() });

export default fc;
