import type { Logger } from 'pino';
import type { AcceptedChangeFilter } from '../../cost-reports/why/cost-why.ts';
import type { AcceptedChange } from '../../cost-reports/why/why-answer.ts';
import { changeTitle } from '../../domain/answer.ts';
import type { Change } from '../../domain/change.ts';
import { valueText } from '../../domain/targets.ts';
import type { Database } from '../../storage/engine/database.ts';
import { listChanges } from '../../storage/tables/changes/change-lists.ts';

const MOST = 200;
const DAY_MS = 86_400_000;
const ROWS_SHOWN = 3;

/** The changes that were accepted for these services on these UTC days, the first one first. */
export async function listCostChanges(
  { database, log }: { readonly database: Database; readonly log: Logger },
  { services, span }: AcceptedChangeFilter,
): Promise<readonly AcceptedChange[]> {
  if (services.length === 0) return [];
  const endedSince = new Date(`${span.first}T00:00:00Z`);
  const end = Date.parse(`${span.last}T00:00:00Z`) + DAY_MS;
  // The id of a created service is not known to its change.
  const targets = services.flatMap(({ id, name }) => [
    `service:${id}`,
    `new service:${name.toLowerCase()}`,
  ]);
  const found = await listChanges(
    database.db,
    { states: ['succeeded'], endedSince, targets, limit: MOST },
    (change, err) => log.warn({ change, err }, 'an unreadable change is not shown with costs'),
  );
  return found
    .flatMap(costChange)
    .filter(({ at }) => at.getTime() < end)
    .toReversed();
}

function costChange(change: Change): readonly AcceptedChange[] {
  const { id, requester: by, outcome, plan } = change;
  if (!outcome) return [];
  // Changes with a cost effect have no private values.
  const rows = plan.cost ? plan.rows.slice(0, ROWS_SHOWN).map(rowText) : [];
  return [{ id, by, at: outcome.at, text: [changeTitle(change), ...rows].join(' · ') }];
}

function rowText({ label, before, after }: Change['plan']['rows'][number]): string {
  const was = before === null ? '' : `${valueText(before)} → `;
  return `${label} ${was}${valueText(after)}`;
}
