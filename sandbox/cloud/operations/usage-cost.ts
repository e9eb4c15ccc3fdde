import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { dayOf, daysBetween, daysOf } from '../days.ts';
import { badRequest, cloudRefusal, success } from '../replies.ts';
import type { CloudState } from '../state.ts';
import { type UsageRow, usageOf } from '../usage.ts';

const MAX_DAYS_APART = 30;
const METRICS = [
  ...['storage', 'backup', 'compute', 'dataTransfer', 'initialLoad', 'publicDataTransfer'],
  ...[1, 2, 3, 4].map((tier) => `interRegionTier${tier}DataTransfer`),
].map((name) => `${name}Credits`);

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

export function usageCost(cloud: CloudState, call: Call): Reply {
  const { costAccess } = cloud.behaviour;
  if (costAccess === 403) return cloudRefusal(cloud, 403, 'FORBIDDEN: Usage cost is not enabled');
  if (costAccess === 404) return cloudRefusal(cloud, 404, 'NOT_FOUND');
  const from = readDate(cloud, call, 'from_date');
  if ('problem' in from) return badRequest(cloud, from.problem);
  const to = readDate(cloud, call, 'to_date');
  if ('problem' in to) return badRequest(cloud, to.problem);
  const apart = daysBetween(from.date, to.date);
  if (apart < 0) return badRequest(cloud, 'to_date must not be before from_date');
  if (apart > MAX_DAYS_APART) {
    return badRequest(cloud, `to_date must be at most ${MAX_DAYS_APART} days after from_date`);
  }

  const rows = daysOf(dayOf(from.date), dayOf(to.date)).flatMap((day) => usageOf(cloud, day));
  cloud.costReads += 1;
  return success(cloud, report(cloud, rows));
}

function readDate(cloud: CloudState, { query }: Call, name: string) {
  const value = query.get(name);
  if (value === null) return { problem: `${name} is required` };
  const { costDates } = cloud.behaviour;
  const isDate = costDates !== 'date-time' && DATE.test(value);
  const isInstant = costDates !== 'date' && DATE_TIME.test(value);
  const date = new Date(value);
  // The error text of the live server contains only the value.
  if (!(isDate || isInstant) || Number.isNaN(date.getTime())) return { problem: value };
  // JavaScript parses 31 February as a day in March.
  if (isDate && dayOf(date) !== value) return { problem: value };
  return { date };
}

function report(cloud: CloudState, rows: readonly UsageRow[]) {
  const shape = cloud.behaviour.costShape;
  const shownRows = shape === 'list' ? rows : shape === 'object' ? rows.slice(0, 1) : [];
  const listed = shownRows.map((row) => rowReply(cloud, row));
  const grandTotalCredits = shownRows.reduce((sum, { totalCredits }) => sum + totalCredits, 0);
  if (shape === 'null') return { grandTotalCredits, costs: null };
  return { grandTotalCredits, costs: shape === 'object' ? (listed[0] ?? {}) : listed };
}

// The profile `full` returns only the metrics of the entity's type; the contract has all ten metrics
// and no type.
function rowReply({ profile }: CloudState, row: UsageRow) {
  if (profile === 'full') return row;
  const { entityType: _, ...rest } = row;
  return {
    ...rest,
    metrics: { ...Object.fromEntries(METRICS.map((name) => [name, 0])), ...row.metrics },
  };
}
