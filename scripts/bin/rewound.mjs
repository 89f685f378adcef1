#!/usr/bin/env node
/**
 * Starts the installed program: in the package `dist/` lies beside this folder. The dynamic import comes after the check
 * because old versions of Node cannot parse the program.
 */
import './check-node.mjs';

import('../dist/main.js');
