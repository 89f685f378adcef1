#!/usr/bin/env node
/**
 * Starts the installed program, whose `dist/` lies beside this folder. The import is dynamic, because old Node versions
 * cannot parse the program before the check.
 */
import './check-node.mjs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Without permission to write there, Node compiles at each start.
module.enableCompileCache(fileURLToPath(new URL('../dist/compiled', import.meta.url)));
void import('../dist/main.js');
