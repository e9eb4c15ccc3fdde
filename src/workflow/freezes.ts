import { MINUTE_MS } from '../base/time.ts';
import type { ChangeId, UserId } from '../domain/change.ts';
import { type FreezeService, type FreezeUntil, LONGEST_FREEZE_MS } from '../domain/freezes.ts';
import { evolveFreeze, type LoggedFreeze } from '../domain/log-events.ts';
import { NO_TIMING, startTimeOf } from '../domain/timing.ts';
import { append, inForce } from '../log/index.ts';
import { addJobs, transaction } from '../storage/index.ts';
import type { DecisionContext } from './context.ts';
import type { JobResult } from './jobs.ts';
import { redrawOpen } from './moves.ts';
import { clockOf } from './request.ts';
import { hurryJobs } from './store.ts';
import { standingFreeze } from './target.ts';

/** Lists the freezes of the configuration file and of Slack. `own.ts` makes and lifts them. */
export function createFreezeService(context: DecisionContext): FreezeService {
  const { events, now, policy } = context;
  const madeInSlack = async () =>
    [...(await inForce(events, 'freeze', now())).values()]
      .map(standingFreeze)
      .toSorted((a, b) => a.freeze.until.getTime() - b.freeze.until.getTime());
  return {
    all: async () => {
      const made = (await madeInSlack()).map(({ freeze }) => freeze);
      return [...policy.freezes, ...made].filter(({ until }) => now() < until);
    },
    madeInSlack,
    endOf: (until, by) => endOf(context, until, by),
  };
}

async function endOf(
  context: DecisionContext,
  until: FreezeUntil,
  by: UserId,
): ReturnType<FreezeService['endOf']> {
  if ('at' in until) return { ok: true, at: until.at };
  const timing = { ...NO_TIMING, ...('inMs' in until ? until : { at: until }) };
  const clock = await clockOf(context, by, timing);
  const end = startTimeOf(timing, { ...clock, latestMs: LONGEST_FREEZE_MS });
  if (!end.ok) {
    const problems = end.problems.map(({ problem }) => ({ field: 'until', problem }));
    return { ok: false, problems };
  }
  // Rounded up to a minute, the precision in which it is shown and entered.
  const at = end.at ?? clock.now;
  return { ok: true, at: new Date(Math.ceil(at.getTime() / MINUTE_MS) * MINUTE_MS) };
}

/** The job of a freeze that ends or was lifted: the reverts that it blocked are offered. */
export async function endFreeze(context: DecisionContext, id: ChangeId): Promise<JobResult> {
  const { events, store, messenger, now, wake } = context;
  const stream = `freeze/${id}` as const;
  const { result } = await append<Date | LoggedFreeze | null>(events, async (locked) => {
    const { state } = await locked.load(stream, evolveFreeze);
    if (!state || state.isLifted) return { events: [], result: state };
    if (state.until.getTime() > locked.at) return { events: [], result: state.until };
    // Nothing of it is open any more, so that no decision reads it again.
    const event = { type: 'lifted', change: null, by: 'signalbox' } as const;
    return { events: [{ stream, event }], result: state };
  });
  if (result instanceof Date) return result;
  if (result?.lost?.card) await messenger.drawLost(result.change, result.lost.card, null);
  // Each offer waits for the other freezes of its target.
  await transaction(store, async (tx) => {
    await hurryJobs(tx, 'unfreeze-offer', now());
    await addJobs(tx, { kind: 'card', key: id, dueAt: now().getTime() });
  });
  wake();
  await redrawOpen(context);
  return 'done';
}
