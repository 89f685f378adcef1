/**
 * Tokens of the server. Graph workers do not import this module: projects may share its copy of nanoid, which workers
 * load without its pool of random bytes.
 */
export { nanoid as newToken } from 'nanoid';
