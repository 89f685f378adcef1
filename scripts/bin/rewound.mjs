#!/usr/bin/env node
/**
 * Starts the installed program, whose `dist/` lies beside this folder. The import is dynamic, because old Node versions
 * cannot parse the program before the check.
 */
import './check-node.mjs';

void import('../dist/main.js');
