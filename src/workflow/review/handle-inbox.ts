import { type About, during } from '../../observability/log.ts';
import { note, traced, type Work } from '../../observability/trace.ts';
import { markHandled, putBack, takeDue } from '../../storage/tables/queues/inbox.ts';
import type { World } from '../ports.ts';
import { showHome } from '../queries/home-queries.ts';
import { Click } from './click.ts';
import { handlePress, INCIDENT } from './incident-click.ts';
import { handleClick } from './review.ts';

const LEASE_MS = 60_000;
// Few at a time: the clicks that are just coming in commit through the same connection.
const AT_ONCE = 8;
const AGAIN_AFTER_MS = 5_000;
const GIVE_UP_AFTER = 10;

type Row = Awaited<ReturnType<typeof takeDue>>[number];

/** Handles every stored click that nobody handles: new ones, and those of a process that died. */
export async function handleInbox(world: World): Promise<number> {
  const lease = { owner: world.instance, now: world.now(), leaseMs: LEASE_MS, limit: AT_ONCE };
  const rows = await world.database.transaction((tx) => takeDue(tx, lease));
  await Promise.all(
    rows.map((row) => during(aboutOf(row), () => traced(workOf(row), () => handle(world, row)))),
  );
  return rows.length;
}

// Both as they were stored; an older version stored no request.
function aboutOf({ body: { request, change } }: Row): About {
  return {
    ...(typeof request === 'string' ? { request } : {}),
    ...(typeof change === 'string' ? { change } : {}),
  };
}

// The answer to a press belongs to the press, whoever gives it.
function workOf({ kind, body: { trace, change, verb } }: Row): Work {
  const facts = {
    ...(typeof change === 'string' ? { 'signalbox.change': change } : {}),
    ...(typeof verb === 'string' ? { 'signalbox.verb': verb } : {}),
  };
  const from = typeof trace === 'string' ? trace : null;
  return { name: `handle ${kind}`, kind: 'consumer', facts, from };
}

async function handle(world: World, row: Row): Promise<void> {
  try {
    if (row.kind === INCIDENT) return await handlePress(world, row);
    const click = Click.parse(row.body);
    const clicked = await handleClick(world, row.key, click);
    // The card tells everyone; this private line is for whoever pressed, and may get lost.
    world.messenger.answer(click.replyTo, clicked).catch((error: unknown) => {
      world.log.warn({ err: error, change: click.change }, 'a private answer was not delivered');
    });
    if (!click.replyTo.home) return;
    showHome(world, click.by).catch((error: unknown) => {
      world.log.warn({ err: error, change: click.change }, 'a home tab was not drawn anew');
    });
  } catch (error) {
    note({ 'error.type': 'failed' });
    world.log.error({ err: error, key: row.key, attempts: row.attempts }, 'a click failed');
    await again(world, row);
  }
}

async function again(world: World, row: Row): Promise<void> {
  const now = world.now();
  await world.database.transaction((tx) =>
    row.attempts >= GIVE_UP_AFTER
      ? markHandled(tx, row.key, now)
      : putBack(tx, row.key, new Date(now.getTime() + AGAIN_AFTER_MS)),
  );
}
