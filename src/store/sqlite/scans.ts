import { SCANS as SHARED } from '../sql/views/views.ts';

/** What the reader thread answers. */
export const SCANS = SHARED;
