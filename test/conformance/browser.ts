/** A browser's window with React in it: the official hooks are rendered for real and talk to a real server. */
import { JSDOM } from 'jsdom';
import type { useStream as UseStream } from '@langchain/langgraph-sdk/react';

type State = { messages: { id?: string; role?: string; content: unknown }[] };

/** What every page needs of its hook. */
interface Shown {
  readonly messages: readonly {
    readonly id?: string | undefined;
    readonly content: unknown;
    /** Of messages whose content comes in blocks. */
    readonly text?: string;
  }[];
}

interface Page<Handle> {
  /** The hook's current value. */
  readonly stream: Handle;
  /** The texts that the page shows, one per message. */
  texts(): string[];
  /** What the page showed last at every render so far. */
  readonly lastTexts: readonly string[];
  /** Resolves when the page, rendered anew, fits. */
  until(fits: (page: Page<Handle>) => boolean): Promise<void>;
  leave(): void;
}

export interface Browser<Handle = ReturnType<typeof UseStream<State>>> {
  readonly window: JSDOM['window'];
  open(options: object): Page<Handle>;
  close(): void;
}

const GLOBALS = ['window', 'document', 'navigator'] as const;

/** Of the client that speaks the runs' own streams. */
export async function openBrowser(): Promise<Browser> {
  return openBrowserWith(async () => {
    const { useStream } = await import('@langchain/langgraph-sdk/react');
    return (options) => useStream(options as Parameters<typeof UseStream>[0]) as never;
  });
}

/** React looks for its window when it is loaded, so one browser serves a whole test file, and hooks come after it. */
export async function openBrowserWith<Handle extends Shown>(
  loadHook: () => Promise<(options: object) => Handle>,
): Promise<Browser<Handle>> {
  const { window } = new JSDOM('<!doctype html><body></body>', { url: 'http://localhost/' });
  for (const [name, value] of Object.entries({
    window,
    document: window.document,
    navigator: window.navigator,
  }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const { createElement, useEffect } = await import('react');
  const { createRoot } = await import('react-dom/client');
  const useHook = await loadHook();

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
        const current = useHook(options);
        stream = current;
        useEffect(() => {
          lastTexts.push(page.texts().at(-1) ?? '');
          for (const listener of [...listeners]) listener();
        });
        return createElement(
          'ul',
          null,
          current.messages.map(({ id, content, text }, index) =>
            createElement('li', { key: id ?? index }, text ?? String(content)),
          ),
        );
      };
      const page: Page<Handle> = {
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
