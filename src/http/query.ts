/**
 * Parses query parameters to JSON values. Clients send strings and numbers raw and other values as JSON. A `list` is a
 * JSON array, repeated parameters or a comma-separated value. `texts` are repeated parameters, each taken unchanged.
 */
import { findJsonProblem, type Json } from '../kernel/json.ts';
import { invalid } from './replies.ts';

type Kind = 'text' | 'number' | 'boolean' | 'list' | 'texts' | 'json';

export function readQuery(url: URL, kinds: Readonly<Record<string, Kind>>): Record<string, Json> {
  const values: Record<string, Json> = {};
  for (const [field, kind] of Object.entries(kinds)) {
    const given = url.searchParams.getAll(field);
    const first = given[0];
    if (first === undefined) continue;
    if (kind === 'texts') values[field] = given;
    else values[field] = kind === 'list' ? given.flatMap((text) => listOf(text)) : scalar(field, first, kind);
  }
  return values;
}

function scalar(field: string, text: string, kind: Exclude<Kind, 'list' | 'texts'>): Json {
  switch (kind) {
    case 'text':
      return text;
    case 'number':
      if (!/^-?\d{1,15}(\.\d+)?$/.test(text)) throw invalid(`${field}: expected a number`);
      return Number(text);
    case 'boolean':
      return flagOf(field, text.toLowerCase());
    case 'json':
      return parsed(field, text);
  }
}

function flagOf(field: string, text: string): boolean {
  if (['true', '1', 'yes'].includes(text)) return true;
  if (['false', '0', 'no', ''].includes(text)) return false;
  throw invalid(`${field}: expected true or false`);
}

/** Parses JSON with the limits of request bodies. */
function parsed(field: string, text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw invalid(`${field}: expected JSON (${(error as Error).message})`);
  }
  const problem = findJsonProblem(value);
  if (problem !== undefined) throw invalid(`${field}: ${problem.problem}`);
  return value;
}

function listOf(text: string): Json[] {
  if (text.startsWith('[')) {
    try {
      const parsed = JSON.parse(text) as Json;
      if (Array.isArray(parsed)) return parsed;
    } catch {
      return [text];
    }
  }
  return text.split(',').filter((part) => part !== '');
}
