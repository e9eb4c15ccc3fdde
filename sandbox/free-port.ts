import { createServer } from 'node:net';

// Systems assign ports from 32768 up: to each connection that any program opens, and to a server that asks for any
// port. None of them takes a port from this range between its choice here and the caller's use, nor while the program
// that listens on it restarts.
const FIRST = 20_000;
const LAST = 29_999;
const TRIES = 100;

/**
 * Returns a port of the loopback interface that is free at this moment and that the system assigns to no other program.
 * It is random, so that two callers at the same time get different ones.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${FIRST} to ${LAST} is free`);
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
