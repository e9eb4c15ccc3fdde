import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import type { SignedCommand } from './commands.ts';

const CONNECTIONS = 100;
const GIVE_UP_AFTER_MS = 10_000;

/** One command and its acknowledgement, in milliseconds from the moment that it was due. */
export interface Exchange {
  /** The HTTP status, or the code of the error that came instead. */
  readonly outcome: string;
  readonly ms: number;
  /** How much of that passed before the generator came to sending it. */
  readonly lateMs: number;
}

export interface Pace {
  readonly rate: number;
  readonly seconds: number;
}

export interface Load {
  /**
   * Open loop: every command has its moment, whether or not those before it were answered, and its
   * time counts from then. A stall is so seen by all who would have met it.
   */
  readonly offer: (pace: Pace) => Promise<readonly Exchange[]>;
  /** Closed loop: as many as that are always under way. Returns what was answered with a 200. */
  readonly saturate: (inFlight: number, seconds: number) => Promise<Saturated>;
  readonly close: () => Promise<void>;
}

export interface Saturated {
  readonly acknowledged: number;
  readonly sent: number;
  readonly seconds: number;
}

export function openLoad(origin: string, commands: readonly SignedCommand[]): Load {
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    headersTimeout: GIVE_UP_AFTER_MS,
    bodyTimeout: GIVE_UP_AFTER_MS,
  });
  let sent = 0;
  const send = async (dueAt: number): Promise<Exchange> => {
    const command = commands[sent % commands.length];
    sent += 1;
    const sentAt = performance.now();
    const outcome = command ? await post(pool, command) : 'no command';
    return { outcome, ms: performance.now() - dueAt, lateMs: sentAt - dueAt };
  };
  return {
    offer: (pace) => offer(send, pace),
    saturate: (inFlight, seconds) => saturate(send, inFlight, seconds),
    close: () => pool.close(),
  };
}

type Send = (dueAt: number) => Promise<Exchange>;

async function offer(send: Send, { rate, seconds }: Pace): Promise<readonly Exchange[]> {
  const total = rate * seconds;
  const gapMs = 1_000 / rate;
  const began = performance.now();
  const exchanges: Promise<Exchange>[] = [];
  const dueAt = () => began + exchanges.length * gapMs;
  while (exchanges.length < total) {
    while (exchanges.length < total && dueAt() <= performance.now()) exchanges.push(send(dueAt()));
    await wait(Math.max(0, dueAt() - performance.now()));
  }
  return Promise.all(exchanges);
}

async function saturate(send: Send, inFlight: number, seconds: number): Promise<Saturated> {
  const began = performance.now();
  const until = began + seconds * 1_000;
  let sent = 0;
  let acknowledged = 0;
  const person = async () => {
    while (performance.now() < until) {
      const { outcome } = await send(performance.now());
      sent += 1;
      if (outcome === '200') acknowledged += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, person));
  return { acknowledged, sent, seconds: (performance.now() - began) / 1_000 };
}

async function post(pool: Pool, { headers, body }: SignedCommand): Promise<string> {
  try {
    const answer = await pool.request({ path: '/slack/events', method: 'POST', headers, body });
    await answer.body.dump();
    return String(answer.statusCode);
  } catch (error) {
    // A command that nobody answered is a result of the measurement, not an end of it.
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
