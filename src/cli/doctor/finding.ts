/** What `doctor` reports. */
export interface Finding {
  readonly area: 'configuration' | 'environment' | 'graphs' | 'disk' | 'log' | 'port';
  readonly status: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** What to do; only for warnings and problems. */
  readonly remedy?: string;
}

type Judged = (area: Finding['area'], found: string, remedy: string) => Finding;

export const ok = (area: Finding['area'], found: string): Finding => ({ area, status: 'ok', found });
export const warning: Judged = (area, found, remedy) => ({ area, status: 'warning', found, remedy });
export const problem: Judged = (area, found, remedy) => ({ area, status: 'problem', found, remedy });
