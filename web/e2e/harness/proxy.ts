import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on loopback that stands for the network between browser and server. */
export interface Network {
  readonly port: number;
  /** Breaks every connection and refuses new ones until mend. */
  cut(): void;
  /** Lets nothing through but keeps connections open, as a sleeping network does, until mend. */
  freeze(): void;
  /** Lets traffic pass again. */
  mend(): void;
  close(): Promise<void>;
}

/** Proxies a free loopback port to `target` on loopback; the target may be set after the start. */
export async function startNetwork(target: () => number): Promise<Network> {
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';

  const server: Server = createServer((near) => {
    if (state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target(), '127.0.0.1');
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      if (state === 'frozen') from.pause();
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (!address || typeof address !== 'object') throw new Error('no port for the proxy');

  const drop = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    cut() {
      state = 'cut';
      drop();
    },
    freeze() {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    mend() {
      state = 'open';
      for (const socket of sockets) socket.resume();
    },
    async close() {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
