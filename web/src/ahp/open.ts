import { api, ApiError, hostAddress, type Session } from '../api.ts';
import { LiveStore } from './live-store.ts';
import type { Store } from './store.ts';

/** Opens the store of the server that the page came from, for the login that `session` is of. */
export function openStore(session: Session): Store {
  return new LiveStore(
    {
      // A browser does not show why a socket did not open. This request does, and says whether there is still a login.
      identify: async () => {
        try {
          return identity(await api.session());
        } catch (err) {
          if (err instanceof ApiError && err.status === 401) return undefined;
          throw err;
        }
      },
      open: () => new WebSocket(hostAddress()),
    },
    identity(session),
  );
}

function identity({ client_id, boot }: Session) {
  return { clientId: client_id, boot };
}
