/** A value that a part of the page reads by itself. */
import { useEffect, useState } from 'preact/hooks';
import { sentenceOf } from '../api/http.ts';
import { poll } from '../model/poll.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
}

/** Reads again when `key` changes; keeps the last value until then. An undefined key reads nothing. */
export function useLoaded<T>(key: string | undefined, read: () => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { readonly key?: string | undefined }>({
    value: undefined,
    problem: undefined,
  });
  useEffect(() => {
    if (key === undefined) return;
    let isCurrent = true;
    read().then(
      (value) => void (isCurrent && setLoaded({ key, value, problem: undefined })),
      (error: unknown) =>
        void (isCurrent && setLoaded({ key, value: undefined, problem: sentenceOf(error) })),
    );
    return () => void (isCurrent = false);
  }, [key]);
  return loaded.key === key ? loaded : { value: undefined, problem: undefined };
}

export interface Fresh<T> extends Loaded<T> {
  reload(): Promise<void>;
}

/** Reads again and again while the page can be seen; keeps the last value when that fails. */
export function useFresh<T>(read: () => Promise<T>): Fresh<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, problem: undefined });
  const reload = (): Promise<void> =>
    read().then(
      (value) => setLoaded({ value, problem: undefined }),
      (error: unknown) => setLoaded(({ value }) => ({ value, problem: sentenceOf(error) })),
    );
  useEffect(() => poll(reload), []);
  return { ...loaded, reload };
}
