/** Schemas of members that many replies have. */
import { z } from 'zod';

export const id = z.string().meta({ format: 'uuid' });
export const time = z.string().meta({ format: 'date-time', examples: ['2026-11-20T23:49:50.868000+00:00'] });
