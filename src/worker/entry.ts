/** The entry script of a graph worker: what V8 compiles of its modules and of the graphs' libraries is kept for later workers. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { builtFolder, isBuilt } from '../kernel/own-modules.ts';

if (isBuilt) enableCompileCache(fileURLToPath(builtFolder('compiled')));
await import('./main.ts');
