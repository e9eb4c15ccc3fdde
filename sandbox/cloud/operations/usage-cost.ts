import type { Call } from '../../api/call.ts';
import { htmlReply, Refused, type Reply } from '../../api/reply.ts';
import { dayOf, daysBetween, daysOf } from '../days.ts';
import { badRequest, refuse, success } from '../replies.ts';
import type { CloudState } from '../state.ts';
import { type UsageRow, usageOf } from '../usage.ts';

const MAX_DAYS_APART = 30;
const METRICS = [
  ...['storage', 'backup', 'compute', 'dataTransfer', 'initialLoad', 'publicDataTransfer'],
  ...[1, 2, 3, 4].map((tier) => `interRegionTier${tier}DataTransfer`),
].map((name) => `${name}Credits`);
const NO_METRICS = Object.fromEntries(METRICS.map((name) => [name, 0]));

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

export function usageCost(cloud: CloudState, call: Call): Reply {
  const from = readDate(cloud, call, 'from_date');
  const to = readDate(cloud, call, 'to_date');
  const apart = daysBetween(from, to);
  if (apart < 0) return badRequest(cloud, 'to_date must not be before from_date');
  if (apart > MAX_DAYS_APART) {
    return badRequest(cloud, `to_date must be at most ${MAX_DAYS_APART} days after from_date`);
  }

  const days = daysOf(dayOf(from), dayOf(to));
  const rows = days.flatMap((day) => usageOf(cloud, day));
  cloud.costReads += 1;
  return success(cloud, report(cloud, rows));
}

function readDate(cloud: CloudState, { query }: Call, name: string): Date {
  const value = query.get(name);
  if (value === null) return badRequest(cloud, `${name} is required`);
  const { costDates } = cloud.behaviour;
  const isDate = costDates !== 'date-time' && DATE.test(value);
  const isInstant = costDates !== 'date' && DATE_TIME.test(value);
  const date = new Date(value);
  // JavaScript parses 31 February as a day in March.
  const isDay = !Number.isNaN(date.getTime()) && (!isDate || dayOf(date) === value);
  return (isDate || isInstant) && isDay ? date : refuseDate(cloud, name, value);
}

/** The error text of the live server contains only the value. */
function refuseDate(cloud: CloudState, name: string, value: string): never {
  const { costDateRefusal, costDateStatus: status } = cloud.behaviour;
  if (costDateRefusal === 'html') throw new Refused(htmlReply(status, 'Refused'));
  const code = status === 400 ? 'BAD_REQUEST' : 'UNPROCESSABLE_ENTITY';
  const texts = {
    value: `: ${value}`,
    'encoded value': `: ${encodeURIComponent(value)}`,
    field: `: Invalid ${name}`,
    'no reason': '',
  };
  return refuse(cloud, status, `${code}${texts[costDateRefusal]}`);
}

function report(cloud: CloudState, rows: readonly UsageRow[]) {
  const grandTotalCredits = rows.reduce((sum, { totalCredits }) => sum + totalCredits, 0);
  return { grandTotalCredits, costs: rows.map((row) => rowReply(cloud, row)) };
}

// The profile `extended` returns only the metrics of the entity's type; the contract has all ten metrics
// and no type.
function rowReply(cloud: CloudState, reported: UsageRow) {
  const row = withIds(cloud, reported);
  const organizationTier = cloud.organization.tier.toUpperCase();
  if (cloud.profile === 'extended') return { ...row, organizationTier, discount: 12 };
  const { entityType: _, ...rest } = row;
  return { ...rest, metrics: { ...NO_METRICS, ...row.metrics } };
}

function withIds({ behaviour, services }: CloudState, row: UsageRow): UsageRow {
  if (behaviour.costWarehouseIds === 'own') return row;
  const { dataWarehouseId: own, entityType, entityId } = row;
  const first = [...services.values()].find(({ warehouseId }) => warehouseId === own);
  const dataWarehouseId = first?.id ?? own;
  return {
    ...row,
    dataWarehouseId,
    entityId: entityType === 'datawarehouse' ? dataWarehouseId : entityId,
  };
}
