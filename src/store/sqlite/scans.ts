import { SCANS as SHARED } from '../sql/views/views.ts';
import { LISTED } from './payloads/checkpoint-list.ts';

/** What the reader thread answers. */
export const SCANS = [...SHARED, LISTED];
