import { InvalidRequest } from '../../base/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../base/time.ts';
import type { UserId } from '../../domain/change.ts';
import type { FreezeEnd, FreezeService, FreezeUntil } from '../../domain/freezes.ts';
import { startTimeOf } from '../../domain/timing.ts';
import { effectiveFreezes } from '../../log/old/active-freezes.ts';
import { recordFreeze, recordFreezeLift } from '../../log/old/freeze-events.ts';
import { hasFreeze, insertFreeze, liftFreeze } from '../../log/old/freezes.ts';
import { deliverUnfreezeOffers } from '../../storage/old/outbox.ts';
import { currentPolicy, standingFreeze } from './current-policy.ts';
import type { DecisionContext } from './ports.ts';

export type FreezeContext = Pick<
  DecisionContext,
  'database' | 'auditKey' | 'policy' | 'people' | 'now'
>;

const PASSED = { field: 'until', problem: 'has passed' };
const LIFTED = { field: 'the freeze', problem: 'has ended or was lifted' };

const LONGEST_MS = 90 * DAY_MS;

/** Stores freezes that users make in Slack. Callers have authorized the change before. */
export function createFreezeService(context: FreezeContext): FreezeService {
  const { database, auditKey, now } = context;
  return {
    all: async () => {
      const { freezes } = await currentPolicy(database.db, context);
      return freezes.filter(({ until }) => now() < until);
    },
    madeInSlack: async () =>
      (await effectiveFreezes(database.db, auditKey, now())).map(standingFreeze),
    endOf: (until, by) => endOf(context, until, by),
    make: async ({ id, by, reason }, { scope, until }) => {
      const from = now();
      if (until <= from) throw new InvalidRequest('freeze', [PASSED]);
      const freeze = { id, scope: { ...scope }, reason: reason ?? '', createdBy: by, from, until };
      await database.transaction(async (tx) => {
        if (await insertFreeze(tx, freeze)) await recordFreeze(tx, auditKey, freeze, from);
      });
    },
    wasMade: (id) => hasFreeze(database.db, id),
    lift: async ({ by }, id) => {
      const lifted = await database.transaction(async (tx) => {
        const active = await effectiveFreezes(tx, auditKey, now());
        if (!active.some((freeze) => freeze.id === id)) return false;
        await deliverUnfreezeOffers(tx, now());
        await recordFreezeLift(tx, auditKey, { id, by, at: now() });
        await liftFreeze(tx, { id, by, at: now() });
        return true;
      });
      if (!lifted) throw new InvalidRequest('freeze', [LIFTED]);
    },
  };
}

async function endOf(
  { people, now }: FreezeContext,
  until: FreezeUntil,
  by: UserId,
): Promise<FreezeEnd> {
  if ('at' in until) return { ok: true, at: until.at };
  const timing = 'inMs' in until ? { at: null, ...until } : { at: until, inMs: null };
  const needsZone = timing.at !== null && timing.at.offset === null;
  const zone = needsZone ? await people.zoneOf(by) : null;
  const clock = { zone, now: now(), latestMs: LONGEST_MS };
  const end = startTimeOf({ ...timing, forMs: null }, clock);
  if (!end.ok) {
    return {
      ok: false,
      problems: end.problems.map(({ problem }) => ({ field: 'until', problem })),
    };
  }
  // Rounded up to a minute, the precision in which it is shown and entered.
  const at = end.at ?? now();
  return { ok: true, at: new Date(Math.ceil(at.getTime() / MINUTE_MS) * MINUTE_MS) };
}
