/** The server of the matrix. */
import { config } from '../conformance/scene.ts';
import { PROJECT, type TestServerOptions } from '../support/with-server.ts';
import { STUDIO_KEY } from './matrix.ts';

export const styled = (exportName: string): TestServerOptions => ({
  config: config('platform.isolation.json'),
  overrides: { auth: { file: `${PROJECT}auth-styles.ts`, exportName } },
  // A webhook that fails comes again after the test.
  env: { PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '86400', PLATFORM_STUDIO_KEY: STUDIO_KEY },
  // Of handlers that throw.
  allowFaults: true,
});
