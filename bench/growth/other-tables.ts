import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { SERVICES, scheduleRows } from './year.ts';

const MONTHS = 27;

/** Fills the tables next to the changes: queues, permits, caches, schedules, 800 days of costs. */
export function otherTables(end: Date): readonly string[] {
  const now = `timestamp '${end.toISOString().slice(0, -1)}'`;
  const text = (time: string) => `to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const before = (each: string) => text(`${now} - s.n * interval '${each}'`);
  return [
    `insert into send_permit (change_id, n, owner, at, outcome)
      select id, 1, 'replica-1', coalesce(ended_at, created_at),
        case state when 'executing' then null else state end
      from change where state in ('succeeded', 'failed', 'unknown', 'executing')`,
    `insert into target_lock select distinct on (target_key) target_key, id, created_at
      from change where state in ('executing', 'unknown')`,
    `insert into follow_up (change_id, shown)
      select id, '{"state":"settled","seen":null,"gap":null,"why":null,"candidates":[],"revision":1}'
      from change where state in ('succeeded', 'unknown')`,
    `insert into inbox (dedup_key, kind, at, not_before, attempts, handled_at)
      select 'click-' || s.n, 'click', ${before('40 seconds')}, ${before('40 seconds')}, 1,
        ${before('40 seconds')} from generate_series(1, 15000) as s(n)`,
    `insert into outbox (change_id, kind, not_before, attempts, done_at)
      select 'gone-' || s.n, 'card', ${before('15 seconds')}, 1, ${before('15 seconds')}
      from generate_series(1, 40000) as s(n)`,
    `insert into outbox (change_id, kind, not_before, attempts)
      select id, 'remind:waiting:' || d, '9999', 0 from change, unnest(array[1, 2]) as d
      where state = 'pending'`,
    `insert into tally select 'U0CROWD' || lpad((s.n % 10000)::text, 4, '0'), 'command',
      ${text(`${now} - (s.n / 10000) * interval '1 day'`)}, 3 from generate_series(0, 69999) as s(n)`,
    `insert into digest select 'C0DIGEST' || c, to_char(${now} - s.n * interval '1 day',
      'YYYY-MM-DD'), 'posted', 'replica-1', ${before('1 day')}, '1.2'
      from generate_series(1, 365) as s(n), generate_series(1, 10) as c`,
    `insert into cost_snapshot select to_char(${now} - s.n * interval '1 day', 'YYYY-MM-DD')
        || '/${ORGANIZATION.id}', ${text(`${now} - s.n * interval '1 day' + h * interval '7 hours'`)},
      (9000000000 + h * 1000000)::text, case when h = 40 then 1 else 0 end
      from generate_series(15, 800) as s(n), generate_series(1, 40) as h`,
    ...scheduleStatements(end),
    ...costMonths(end),
  ];
}

function scheduleStatements(end: Date): readonly string[] {
  const next = new Date(end.getTime() + 6 * 3_600_000).toISOString();
  const rows = scheduleRows(end).map(({ id, service, at, until, ended }) => {
    const [last, due] = ended ? [`'${ended.toISOString()}'`, 'null'] : ['null', `'${next}'`];
    const times = `${due}, '${until.toISOString()}', '${at.toISOString()}', ${last}`;
    return `('${id}', '${SERVICES[service]?.id}', ${times})`;
  });
  return [
    `insert into service_schedule (id, service, next_at, until_at, created_at, ended_at)
      values ${rows.join(', ')}`,
    `insert into schedule_run select plan::json->'timing'->>'schedule', created_at,
        case command when 'service stop' then 'stop' else 'start' end, id, null, created_at
      from change where plan like '%"schedule":"%'`,
  ];
}

/** Final months with one row per service and day; the simulator has the last three. */
function costMonths(end: Date): readonly string[] {
  return Array.from({ length: MONTHS - 3 }, (_, index) => {
    const first = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 3 - index, 1));
    const month = first.toISOString().slice(0, 7);
    const days = new Date(
      Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0),
    ).getUTCDate();
    const rows = Array.from({ length: days }, (_, day) =>
      SERVICES.map(({ id, name }, at) => costRow({ id, name, at }, month, day + 1)),
    ).flat();
    const report = JSON.stringify({ rows, problems: [], isKeyedByKind: true });
    return `insert into cost_month values
      ('${month}/${ORGANIZATION.id}', '${end.toISOString()}', 1, '${report}')`;
  });
}

interface CostedService {
  readonly id: string;
  readonly name: string;
  readonly at: number;
}

function costRow({ id, name, at }: CostedService, month: string, day: number) {
  const compute = 12_000_000 + ((at * 31 + day * 17) % 97) * 40_000;
  return {
    ...{ day: `${month}-${String(day).padStart(2, '0')}`, kind: 'service', locked: true },
    ...{ entityId: id, entityName: name, serviceId: id, warehouseId: null },
    metrics: { computeCredits: compute, dataTransferCredits: 250_000 },
    total: compute + 250_000,
  };
}
