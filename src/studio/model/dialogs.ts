/** The dialog that is open. */
import { signal } from '@preact/signals';

export type DialogName = 'help' | 'actions' | 'edit' | 'test' | 'code' | 'delete';

export const dialog = signal<DialogName | undefined>(undefined);

export const closeDialog = (): void => void (dialog.value = undefined);
