import dns from 'node:dns';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The name of the servers in a network of a test. */
const NAME = 'localhost';
/** Where the name leads: the servers themselves listen on 127.0.0.1. */
const GATEWAY = '127.0.0.2';
const SIGN_IN = '<!doctype html><title>Sign in</title><form>Accept the terms of use</form>';

type Found = (error: Error | null, address?: string | dns.LookupAddress[], family?: 4) => void;

/**
 * A network between a bot and its servers. Their name resolves to a gateway on loopback, until the resolver does not
 * answer any more, or the gateway shows the sign-in page of a captive portal instead of passing anything on.
 */
export function startNetwork() {
  let state: 'passes' | 'no names' | 'portal' = 'passes';
  const sockets = new Set<Socket>();
  const { lookup } = dns;
  const resolve = (host: string, options: dns.LookupAllOptions, done: Found) => {
    if (host !== NAME) return lookup(host, options, done);
    if (state === 'no names') {
      const facts = { code: 'EAI_AGAIN', syscall: 'getaddrinfo', hostname: NAME };
      return done(Object.assign(new Error(`getaddrinfo EAI_AGAIN ${NAME}`), facts));
    }
    if (options.all) return done(null, [{ address: GATEWAY, family: 4 }]);
    return done(null, GATEWAY, 4);
  };
  const use = (next: object) => {
    Object.assign(dns, { lookup: next });
    syncBuiltinESMExports();
  };
  use(resolve);
  onTestFinished(() => use(lookup));

  const portal = createHttpServer((_request, reply) => {
    reply.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end(SIGN_IN);
  });

  /** Lets the name lead to the server of this address, and returns the address with the name. */
  async function open(url: string): Promise<string> {
    const named = new URL(url);
    named.hostname = NAME;
    const port = Number(named.port);
    const gateway = createServer((near) => {
      near.on('error', () => near.destroy());
      sockets.add(near);
      near.on('close', () => sockets.delete(near));
      if (state === 'portal') return void portal.emit('connection', near);
      const far = connect(port, '127.0.0.1');
      far.on('error', () => near.destroy());
      near.on('close', () => far.destroy());
      near.pipe(far).pipe(near);
    }).listen(port, GATEWAY);
    await once(gateway, 'listening');
    onTestFinished(() => void gateway.close());
    return named.href;
  }

  /** Open connections end, as they do when the network changes. */
  const change = (next: typeof state) => {
    state = next;
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: NAME,
    open,
    loseNames: () => change('no names'),
    signIn: () => change('portal'),
    pass: () => change('passes'),
  };
}

export type Network = ReturnType<typeof startNetwork>;
