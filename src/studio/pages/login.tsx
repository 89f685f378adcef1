/** Asks for what identifies the caller: the studio's key, an API key, or the header that the project's handler reads. */
import { useState } from 'preact/hooks';
import { identify } from '../api/http.ts';

type Kind = 'bearer' | 'studio' | 'key' | 'header';

export function Login() {
  const [kind, setKind] = useState<Kind>('bearer');
  const [name, setName] = useState('x-user');
  const [secret, setSecret] = useState('');
  const send = (event: Event): void => {
    event.preventDefault();
    identify(headersOf(kind, secret.trim(), name.trim()));
    setSecret('');
  };
  return (
    <div class="login">
      <form onSubmit={send}>
        <h1>Sign in</h1>
        <p class="quiet">
          This server asks who you are. The page has no rights of its own: it sees what you may see.
        </p>
        <label class="field">
          <span>Kind</span>
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
            <option value="bearer">Bearer token (authorization)</option>
            <option value="key">API key (x-api-key)</option>
            <option value="studio">Studio key (PLATFORM_STUDIO_KEY)</option>
            <option value="header">Another header</option>
          </select>
        </label>
        {kind === 'header' && (
          <label class="field">
            <span>Header</span>
            <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        <label class="field">
          <span>Value</span>
          <input
            type="password"
            autoComplete="off"
            value={secret}
            onInput={(event) => setSecret(event.currentTarget.value)}
          />
        </label>
        <div class="buttons">
          <button type="submit" class="main" disabled={secret.trim() === ''}>
            Sign in
          </button>
        </div>
        <p class="quiet">It is kept in this tab alone, until the tab is closed.</p>
      </form>
    </div>
  );
}

function headersOf(kind: Kind, secret: string, name: string): Readonly<Record<string, string>> {
  switch (kind) {
    case 'bearer':
      return { authorization: secret.includes(' ') ? secret : `Bearer ${secret}` };
    case 'key':
      return { 'x-api-key': secret };
    case 'studio':
      return { 'x-auth-scheme': 'langsmith', 'x-api-key': secret };
    case 'header':
      return { [name]: secret };
  }
}
