import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Measures } from '../base/log.ts';
import { during, newRequest } from '../base/log.ts';

type Process = App['processEvent'];

/** Logs every line about one payload with the same request id. */
export function withRequestId(process: Process, log: Logger): Process {
  return (event) =>
    during({ request: newRequest() }, () => {
      log.debug({ kind: kindOf(event.body) }, 'payload received');
      return process(event);
    });
}

/** Measures how long Slack waits for the acknowledgement of a payload. */
export function measuringAck(process: Process, { acknowledged }: Measures): Process {
  return (event) => {
    const began = performance.now();
    const kind = kindOf(event.body);
    const ack: typeof event.ack = async (response) => {
      await event.ack(response);
      acknowledged(kind, performance.now() - began);
    };
    return process({ ...event, ack });
  };
}

// A closed list, because values from a payload must not become metric labels.
const KINDS = ['event_callback', 'block_actions', 'block_suggestion', 'view_submission'];

function kindOf(body: Readonly<Record<string, unknown>>): string {
  if (typeof body.command === 'string') return 'command';
  return KINDS.find((kind) => kind === body.type) ?? 'other';
}

/** Tracks the running listeners, because Bolt does not wait for them when it stops. */
export function trackWork() {
  const running = new Set<Promise<void>>();
  return {
    during: async (next: () => Promise<void>) => {
      const work = next();
      running.add(work);
      await work.finally(() => running.delete(work));
    },
    idle: async () => {
      await Promise.allSettled(running);
    },
  };
}
