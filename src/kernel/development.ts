/** Marks the environment of a server that `dev` started. */
import { PRODUCT } from './product.ts';

const VARIABLE = `${PRODUCT.toUpperCase()}_DEV`;

export const markDevelopment = (env: NodeJS.ProcessEnv): void => void (env[VARIABLE] = '1');
export const isDevelopment = (env: NodeJS.ProcessEnv): boolean => env[VARIABLE] === '1';
