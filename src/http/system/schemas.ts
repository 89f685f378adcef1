import { z } from 'zod';
import { oneOf, optional } from '../fields.ts';

export const okQuery = z.object({ check_db: z.boolean().optional() });

export const metricsQuery = z.object({ format: optional(oneOf(['prometheus', 'json'])) });
