import { TIME_SCALE } from '../../scripts/time-scale.ts';

const SCALE = Number(process.env[TIME_SCALE] ?? 1);

/** A time limit that holds on a usual machine, lengthened for this one and its load when the process began. */
export const scaled = (ms: number): number => Math.round(ms * SCALE);
