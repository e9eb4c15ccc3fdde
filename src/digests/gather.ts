import type { Change } from '../changes/change.ts';
import { rowsNeeded } from '../cost-reports/measure.ts';
import { costScope } from '../cost-reports/scope.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { addDays, type Day, dayOf } from '../costs/calendar/day.ts';
import type { CostsRead } from '../costs/ledger/costs-read.ts';
import { type DayState, dayStates } from '../costs/ledger/ledger.ts';
import type { Service } from '../directory/directory.ts';
import type { Db } from '../storage/engine/database.ts';
import { listChanges } from '../storage/tables/changes/change-lists.ts';
import { type CostSnapshot, costSnapshots } from '../storage/tables/costs.ts';
import type { DigestFacts, RanChange, WatchedCosts } from './facts.ts';
import { type LastPosted, postedOf } from './last-posted.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

/** Read once for all digests of a moment. */
export interface Gathered {
  readonly today: Day;
  readonly read: CostsRead;
  /** Of the whole organisation. */
  readonly states: readonly DayState[];
  readonly said: readonly CostSnapshot[];
  readonly changes: readonly Change[];
  readonly services: readonly Service[];
}

const SAID_DAYS = 21;
const CHANGES_MAX = 200;

export async function gather(
  db: Db,
  parts: {
    readonly costs: (span: Span) => Promise<CostsRead>;
    readonly services: readonly Service[];
    readonly now: Date;
  },
): Promise<Gathered> {
  const today = dayOf(parts.now);
  const span = rowsNeeded(today);
  const [read, said, changes] = await Promise.all([
    parts.costs(span),
    costSnapshots(db, addDays(today, -SAID_DAYS)),
    listChanges(db, { states: ['succeeded'], limit: CHANGES_MAX }),
  ]);
  const states = dayStates(read.rows, span);
  return { today, read, states, said, changes, services: parts.services };
}

interface About {
  readonly covers: Span;
  readonly next: Date | null;
  /** What the one before said. */
  readonly said: LastPosted | null;
  readonly watched: WatchedCosts;
}

/** What one digest is made of. */
export function factsOf(
  { options }: Pick<DigestSubscription, 'options'>,
  { covers, next, said, watched }: About,
  gathered: Gathered,
): DigestFacts {
  const { read, today, services, changes } = gathered;
  const { selector, label } = costScope(options.on, services, read.rows);
  const own = changes.filter(({ plan: { target } }) => isIn(target.id, selector.services));
  return {
    read,
    today,
    covers,
    selector,
    scope: label,
    options,
    posted: postedOf(said, selector),
    changes: own.flatMap(ranChange),
    watched,
    next,
  };
}

function isIn(id: string, services: readonly string[] | undefined): boolean {
  return services === undefined || services.includes(id);
}

function ranChange({ id, command, plan, outcome: ending }: Change): readonly RanChange[] {
  if (ending?.how !== 'succeeded') return [];
  const [noun = '', verb = ''] = command.split(' ');
  if (noun === 'alert') return [];
  const what = noun === 'service' ? '' : `${noun} for `;
  const deed = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${what}${plan.target.name}`;
  return [{ day: dayOf(ending.at), text: `${deed} (${id})` }];
}

/** The last day that was final, as far as was known at that instant. */
export function finalAt({ said }: Gathered, at: Date): Day | null {
  const final = said.filter((one) => one.final && one.fetchedAt <= at).map(({ day }) => day);
  return final.toSorted().at(-1) ?? null;
}
