/** A browser's window with React in it: the official hook is rendered for real and talks to a real server. */
import { JSDOM } from 'jsdom';
import type { useStream as UseStream } from '@langchain/langgraph-sdk/react';

type State = { messages: { id?: string; role?: string; content: unknown }[] };
type Handle = ReturnType<typeof UseStream<State>>;
type Options = Parameters<typeof UseStream>[0];

export interface Page {
  /** The hook's current value. */
  readonly stream: Handle;
  /** The texts that the page shows, one per message. */
  texts(): string[];
  /** What the page showed last at every render so far. */
  readonly lastTexts: readonly string[];
  /** Resolves when the page, rendered anew, fits. */
  until(fits: (page: Page) => boolean): Promise<void>;
  leave(): void;
}

export interface Browser {
  readonly window: JSDOM['window'];
  open(options: object): Page;
  close(): void;
}

const GLOBALS = ['window', 'document', 'navigator'] as const;

/** React looks for its window when it is loaded, so one browser serves a whole test file. */
export async function openBrowser(): Promise<Browser> {
  const { window } = new JSDOM('<!doctype html><body></body>', { url: 'http://localhost/' });
  for (const [name, value] of Object.entries({
    window,
    document: window.document,
    navigator: window.navigator,
  }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const { createElement, useEffect } = await import('react');
  const { createRoot } = await import('react-dom/client');
  const { useStream } = await import('@langchain/langgraph-sdk/react');

  return {
    window,
    open(options) {
      const place = window.document.createElement('div');
      window.document.body.append(place);
      const root = createRoot(place);
      const lastTexts: string[] = [];
      const listeners = new Set<() => void>();
      let stream: Handle | undefined;
      const App = () => {
        const current = useStream(options as Options) as unknown as Handle;
        stream = current;
        useEffect(() => {
          lastTexts.push(page.texts().at(-1) ?? '');
          for (const listener of [...listeners]) listener();
        });
        return createElement(
          'ul',
          null,
          current.messages.map(({ id, content }, index) =>
            createElement('li', { key: id ?? index }, String(content)),
          ),
        );
      };
      const page: Page = {
        get stream() {
          if (stream === undefined) throw new Error('Nothing is rendered yet');
          return stream;
        },
        lastTexts,
        texts: () => [...place.querySelectorAll('li')].map(({ textContent }) => textContent ?? ''),
        until: (fits) =>
          new Promise((resolve, reject) => {
            const look = (): void => {
              try {
                if (stream === undefined || !fits(page)) return;
                listeners.delete(look);
                resolve();
              } catch (error) {
                listeners.delete(look);
                reject(error as Error);
              }
            };
            listeners.add(look);
            look();
          }),
        leave() {
          root.unmount();
          place.remove();
        },
      };
      root.render(createElement(App));
      return page;
    },
    close() {
      for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name);
      window.close();
    },
  };
}
