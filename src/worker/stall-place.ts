/** Finds the line of graph code that blocks the main thread. Runs in another thread, and pauses the main one for a moment. */
import { Session, type Debugger } from 'node:inspector';
import { SourceMap } from 'node:module';
import { userPlaceOf, type CodePosition } from '../kernel/stack.ts';

/** Calls `onFound` once the main thread executes JavaScript; after a blocking call of Node, that is when it returns. */
export function findStall(onFound: (place: CodePosition) => void): void {
  const session = new Session();
  const scripts = new Map<string, Debugger.ScriptParsedEventDataType>();
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params));
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    session.post('Debugger.resume', () => session.disconnect());
    const frames = callFrames.map(({ location }) => frameOf(location, scripts.get(location.scriptId)));
    const place = userPlaceOf(frames.join('\n'));
    if (place !== undefined) onFound(place);
  });
  session.connectToMainThread();
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

function frameOf(
  { lineNumber, columnNumber = 0 }: Debugger.Location,
  script: Debugger.ScriptParsedEventDataType | undefined,
): string {
  const [, encoded] = /^data:application\/json;base64,(.*)$/s.exec(script?.sourceMapURL ?? '') ?? [];
  const generated = { originalLine: lineNumber, originalColumn: columnNumber };
  const map = encoded === undefined ? undefined : JSON.parse(Buffer.from(encoded, 'base64').toString());
  // An entry is empty where the map has no position.
  const found: Partial<typeof generated> = map && new SourceMap(map).findEntry(lineNumber, columnNumber);
  const { originalLine, originalColumn } = { ...generated, ...found };
  return `    at ${script?.url}:${originalLine + 1}:${originalColumn + 1}`;
}
